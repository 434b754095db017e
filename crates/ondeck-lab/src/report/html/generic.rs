//! Workloads without a section of their own: their metrics over threads, and tables.

use maud::{Markup, html};

use crate::results::Report;

use super::theme::Palette;
use super::{data, tables, throughput};

/// The section of a workload.
pub fn section(report: &Report, palette: &Palette, workload: &str) -> Markup {
    let series = data::of_workload(report, workload);
    let groups = data::grouped(series.iter().copied(), |series| series.params.clone());
    html! {
        @for (params, group) in &groups {
            @let words = data::params_in_words(params);
            @if !words.is_empty() { h3 { (throughput::capitalized(&words)) } }
            (throughput::metrics(report, palette, workload, &words, group))
        }
        (tables::partial_note(&series))
    }
}
