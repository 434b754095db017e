//! The HTML report: one file that needs no network.
//!
//! Figures and tables are there without JavaScript. Where scripts run, `page.js` adds sorting,
//! choosing locks, values under the pointer, saving figures, and a switch of the theme.
//!
//! Each figure is drawn twice, for a wide and for a narrow page, because a picture that merely
//! shrinks takes its text along; a style sheet shows the one that fits. Colours are named in
//! `theme`, so that one drawing serves the light and the dark theme.

mod axis;
mod baselines;
mod beyond;
mod canvas;
mod distribution;
mod facts;
mod figure;
pub mod frame;
mod generic;
mod glance;
mod idles;
mod latency;
mod legend;
mod like;
mod line;
mod lines;
mod overview;
mod page;
mod prose;
mod reach;
pub mod replay;
mod rows;
mod scale;
mod tables;
mod theme;
mod throughput;
mod tools;
pub mod trace;
mod uncontended;

mod costs;

use ondeck_lab::results::Report;

/// Renders the report as one self-contained HTML document.
pub fn render(report: &Report) -> String {
    page::document(report).into_string()
}
