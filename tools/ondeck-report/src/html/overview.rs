//! The first parts for a reader: a comparison of the usual locks, and the verdicts that the
//! terminal prints.

use maud::{Markup, html};
use ondeck_lab::results::Report;

use super::tables;
use crate::answer::{Answer, Row, written};
use crate::data::capitalized;
use crate::verdict;

/// The table of the answer; empty where a report has no situation of it.
pub fn answer(report: &Report) -> Markup {
    let Some(answer) = Answer::of(report) else { return html! {} };
    let caption = format!("How many times as fast as {}", answer.reference);
    let locks = answer.locks.iter().map(|lock| (lock.as_str(), true));
    let head: Vec<_> =
        [("situations", false)].into_iter().chain(locks).chain([("leads", false)]).collect();
    let rows = html! {
        tbody {
            @for row in &answer.rows { (line(row, &answer.locks)) }
            @if let Some((threads, shares)) = &answer.share {
                tr {
                    th scope="row" title="short sections" { "share, " (threads) " threads" }
                    @for share in shares {
                        td.number { @if let Some(share) = share { (format!("{share:.2}")) } @else { "–" } }
                    }
                    td { "1 is even" }
                }
            }
        }
    };
    html! {
        section #answer {
            h2 { "Which lock is faster here" }
            (tables::plain(&caption, "", &head, &rows))
            p.note {
                "Locks with = between them are not told apart, because their quartiles overlap. The share is that of \
                 the least served thread, by that of the most served. Point at a number for its quartiles."
            }
        }
    }
}

fn line(row: &Row, locks: &[String]) -> Markup {
    html! {
        tr {
            th scope="row" title=(row.question.about) { (capitalized(row.question.name)) }
            @for (place, times) in row.times.iter().enumerate() {
                @if let Some(times) = times {
                    td.number title=(format!("{} to {}", written(times.low), written(times.high))) {
                        @if row.leaders.contains(&place) { strong { (written(times.median)) } }
                        @else { (written(times.median)) }
                    }
                } @else { td.number { "–" } }
            }
            td { (row.leaders_in_words(locks)) }
        }
    }
}

/// A line for each workload, which can be opened.
pub fn verdicts(report: &Report) -> Markup {
    let verdicts = verdict::verdicts(report);
    html! {
        @if !verdicts.is_empty() {
            details #verdicts {
                summary { "Verdicts by workload" }
                dl.glance {
                    @for verdict in &verdicts {
                        div { dt { (capitalized(&verdict.situation)) } dd { (verdict.judgement) } }
                    }
                }
            }
        }
    }
}
