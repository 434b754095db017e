//! The HTML report: one file that needs no network.
//!
//! Figures and tables need no JavaScript. Where scripts run, `page.js` adds sorting, choosing
//! locks, values under the pointer, saving figures, and a switch of the theme.
//!
//! Each figure is drawn twice, for a wide and for a narrow page, because shrinking a picture also
//! shrinks its text; a style sheet shows the one that fits. `theme` names the colours, so that one
//! drawing serves the light and the dark theme.

mod axis;
mod bars;
mod canvas;
mod costs;
mod distribution;
mod facts;
mod figure;
mod legend;
mod line;
mod lines;
mod overview;
mod page;
mod palette;
mod reach;
pub mod replay;
mod rows;
mod tables;
mod tools;
mod workload;

use ondeck_lab::results::Report;

/// Renders the report as one self-contained HTML document.
pub fn render(report: &Report) -> String {
    page::document(report).into_string()
}
