//! What the machine's primitive operations cost.

use maud::{Markup, html};
use ondeck_lab::results::{Cost, Report};

use super::axis::Axis;
use super::figure::{Caption, Span, figure};
use super::rows::{self, Kind, Row, Value};
use super::tables;
use super::theme::Ink;
use crate::data;
use crate::numbers::page as number;

/// The section.
pub fn section(report: &Report) -> Markup {
    let groups = data::grouped(&report.costs, |cost| cost.group.to_string());
    let refused: Vec<&Cost> = report.costs.iter().filter(|cost| cost.refused.is_some()).collect();
    html! {
        p.lead {
            "What a lock is made of: atomic operations, fences, pauses, system calls, and the time "
            "that a woken thread needs. The cost of a lock is a sum of these."
        }
        (dots(report, &groups))
        (table(&groups))
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

fn dots(report: &Report, groups: &[(String, Vec<&Cost>)]) -> Markup {
    let mut rows: Vec<(Row, Option<Value>)> = Vec::new();
    for (group, costs) in groups {
        let heading = Row { name: group.clone(), kind: Kind::Heading, ink: Ink::Plain };
        let shown: Vec<&&Cost> = costs.iter().filter(|cost| has_number(cost)).collect();
        if !shown.is_empty() {
            rows.push((heading, None));
        }
        for cost in shown {
            let name = cost.operation.clone();
            let row = Row { name, kind: Kind::Other, ink: Ink::Plain };
            let value = Value { median: cost.median, quartiles: (cost.p25, cost.p75) };
            rows.push((row, Some(value)));
        }
    }
    if rows.is_empty() {
        return html! { p.empty { "Nothing could be measured." } };
    }
    let values = rows.iter().filter_map(|(_, value)| *value);
    let all = values.flat_map(|value| [value.median, value.quartiles.0, value.quartiles.1]);
    let axis = Axis::decades(all, "time for one operation, logarithmic", number::time_tick);
    let caption = Caption {
        id: "fig-costs".to_owned(),
        title: "Cost of primitive operations, ns to ms".to_owned(),
        reading: "Median of the rounds on a logarithmic axis; lower (further left) is better. The \
                  band behind a dot spans the quartiles, where it is wide enough to see."
            .to_owned(),
        note: String::new(),
    };
    figure(&caption, report.evidence, Span::Full, |width| {
        rows::dots(&rows, &axis, &number::time, width)
    })
}

fn has_number(cost: &Cost) -> bool {
    cost.refused.is_none() && cost.median.is_finite() && cost.median > 0.0
}

fn table(groups: &[(String, Vec<&Cost>)]) -> Markup {
    let caption = "Costs of primitive operations (ns)";
    tables::scrolling(
        caption,
        &html! {
            table aria-label=(caption) {
                thead {
                    tr {
                        th scope="col" { "operation" }
                        th.number scope="col" { "median" }
                        th.number scope="col" { "quartiles" }
                        th.number scope="col" { "rounds" }
                    }
                }
                @for (group, costs) in groups {
                    tbody {
                        tr { th.group scope="rowgroup" colspan="4" { (group) } }
                        @for cost in costs {
                            tr { th scope="row" { (cost.operation) } (cells(cost)) }
                        }
                    }
                }
            }
        },
    )
}

fn cells(cost: &Cost) -> Markup {
    html! {
        @if cost.refused.is_some() {
            td.number { "refused" } td.number { (number::NONE) } td.number { (number::NONE) }
        } @else {
            td.number { (number::number(cost.median)) }
            td.number { (number::number(cost.p25)) "–" (number::number(cost.p75)) }
            td.number { (number::count(cost.n as u64)) }
        }
    }
}
