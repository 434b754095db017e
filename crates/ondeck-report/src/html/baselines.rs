//! What each workload costs with a lock that does nothing.

use maud::{Markup, html};
use ondeck_lab::results::{Baseline, Report};

use super::tables;
use crate::data;
use crate::numbers::page::{number, time};

/// The section.
pub fn section(report: &Report) -> Markup {
    let caption = "CPU time of one operation with a lock that does nothing";
    let (measured, missing): (Vec<&Baseline>, Vec<&Baseline>) =
        report.baselines.iter().partition(|one| one.missing.is_none());
    html! {
        p.lead {
            "What the harness itself costs is in every number of a workload, whatever the lock: its loop, its \
             work, its reading of the clock. It is measured around a lock that does nothing, mostly on one \
             thread, because several would spoil the data that no lock guards."
        }
        @if !measured.is_empty() { (table(caption, &measured)) }
        @if !missing.is_empty() {
            p.note { "Not measured with such a lock:" }
            ul.note {
                @for (workload, reason) in reasons(&missing) {
                    li { (data::title(workload)) ": " (reason) }
                }
            }
        }
    }
}

fn table(caption: &str, measured: &[&Baseline]) -> Markup {
    tables::scrolling(
        caption,
        &html! {
            table aria-label=(caption) {
                thead {
                    tr {
                        th scope="col" { "workload" }
                        th scope="col" { "situation" }
                        th.number scope="col" { "threads" }
                        th.number scope="col" { "an operation" }
                        th.number scope="col" { "quartiles, ns" }
                    }
                }
                tbody {
                    @for one in measured {
                        tr {
                            th scope="row" { (data::title(&one.workload)) }
                            td { (data::params_in_words(&one.params)) }
                            td.number { (one.threads) }
                            td.number data-sort=(one.median) { (time(one.median)) }
                            td.number { (number(one.p25)) "–" (number(one.p75)) }
                        }
                    }
                }
            }
        },
    )
}

/// Each workload once, with its reason.
fn reasons<'a>(missing: &[&'a Baseline]) -> Vec<(&'a str, &'a str)> {
    let mut reasons: Vec<(&str, &str)> = Vec::new();
    for one in missing {
        let pair = (one.workload.as_str(), one.missing.as_deref().unwrap_or_default());
        if !reasons.contains(&pair) {
            reasons.push(pair);
        }
    }
    reasons
}
