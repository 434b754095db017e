//! The section of most workloads: their metrics over threads, and tables; single times where they were
//! taken.

use maud::{Markup, html};
use ondeck_lab::results::Report;

use super::theme::Palette;
use super::{latency, tables, throughput};
use crate::data;

/// The section of a workload.
pub fn section(report: &Report, palette: &Palette, workload: &str) -> Markup {
    let series = data::of_workload(report, workload);
    let groups = data::grouped(series.iter().copied(), |series| series.params.clone());
    html! {
        @if let Some(lead) = data::lead(workload) { p.lead { (lead) } }
        @for (params, group) in &groups {
            @let words = data::params_in_words(params);
            @if !words.is_empty() { h3 { (data::capitalized(&words)) } }
            (throughput::metrics(report, palette, workload, &words, group))
            @if group.iter().any(|series| series.distribution.is_some()) {
                @let place = if words.is_empty() { workload } else { &*words };
                (latency::ridges(report, palette, workload, place, group))
                (latency::times(workload, place, group))
            }
        }
        (tables::partial_note(&series))
    }
}
