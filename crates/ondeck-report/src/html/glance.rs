//! The findings in one line each: the same verdicts that the terminal prints.

use maud::{Markup, html};
use ondeck_lab::results::Report;

use crate::data::capitalized;
use crate::verdict;

/// One line for each situation of the known workloads.
pub fn lines(report: &Report) -> Markup {
    let verdicts = verdict::verdicts(&report.series);
    html! {
        @if !verdicts.is_empty() {
            dl.glance {
                @for verdict in &verdicts {
                    div { dt { (capitalized(&verdict.situation)) } dd { (verdict.judgement) } }
                }
            }
        }
    }
}
