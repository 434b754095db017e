//! The costs of the machine's primitive operations, and of each workload with a lock that does
//! nothing.

use maud::{Markup, html};
use ondeck_lab::results::{Baseline, Cost, Report};
use ondeck_text::numbers::page::{NONE, count, number, time};

use super::tables;
use crate::data;

/// The section of the machine's operations.
pub fn section(report: &Report) -> Markup {
    let groups = data::grouped(&report.costs, |cost| cost.group.clone());
    let refused: Vec<&Cost> = report.costs.iter().filter(|cost| cost.refused.is_some()).collect();
    let head = [("operation", false), ("median", true), ("quartiles", true), ("rounds", true)];
    let rows = html! {
        @for (group, costs) in groups {
            tbody {
                tr { th.group scope="rowgroup" colspan="4" { (group) } }
                @for cost in costs {
                    tr { th scope="row" { (cost.operation) } (cells(cost)) }
                }
            }
        }
    };
    html! {
        p.lead {
            "What a lock is made of: atomic operations, fences, pauses, system calls, and the time "
            "that a woken thread needs. The cost of a lock is a sum of these."
        }
        (tables::plain("Costs of primitive operations (ns)", "", &head, &rows))
        @if !refused.is_empty() {
            p.note { "Refused by this machine:" }
            ul.note {
                @for cost in refused {
                    li { (cost.operation) ": " (cost.refused.as_deref().unwrap_or_default()) }
                }
            }
        }
    }
}

fn cells(cost: &Cost) -> Markup {
    html! {
        @if cost.refused.is_some() {
            td.number { "refused" } td.number { (NONE) } td.number { (NONE) }
        } @else {
            td.number { (number(cost.median)) }
            td.number { (number(cost.p25)) "–" (number(cost.p75)) }
            td.number { (count(cost.n as u64)) }
        }
    }
}

/// The section of the harness's own costs.
pub fn harness(report: &Report) -> Markup {
    let (measured, missing): (Vec<&Baseline>, Vec<&Baseline>) =
        report.baselines.iter().partition(|one| one.missing.is_none());
    let reasons = data::grouped(missing, |one| (one.workload.clone(), one.missing.clone()));
    html! {
        p.lead {
            "What the harness itself costs is in every number of a workload, whatever the lock: its loop, its \
             work, its reading of the clock. It is measured around a lock that does nothing, mostly on one \
             thread, because several would spoil the data that no lock guards."
        }
        @if !measured.is_empty() { (empty_lock(&measured)) }
        @if !reasons.is_empty() {
            p.note { "Not measured with such a lock:" }
            ul.note {
                @for ((workload, reason), _) in reasons {
                    li { (data::title(&workload)) ": " (reason.unwrap_or_default()) }
                }
            }
        }
    }
}

fn empty_lock(measured: &[&Baseline]) -> Markup {
    let head = [
        ("workload", false),
        ("situation", false),
        ("threads", true),
        ("an operation", true),
        ("quartiles, ns", true),
    ];
    let rows = html! {
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
    };
    tables::plain("CPU time of one operation with a lock that does nothing", "", &head, &rows)
}
