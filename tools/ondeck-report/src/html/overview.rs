//! The first parts for a reader: a comparison of the usual locks, the verdicts that the terminal
//! prints, and the whole report in one table: the ratio of each lock to the best one, by situation.

use std::collections::BTreeMap;

use maud::{Markup, html};
use ondeck_lab::results::{Better, Report, Series};
use ondeck_lab::workload::{NO_LOCK, param};
use ondeck_text::numbers::page as number;

use super::tables;
use crate::answer::{Answer, Row, written};
use crate::data::{self, capitalized};
use crate::verdict;

/// The upper end of each shade, as a ratio to the best.
const SHADES: [f64; 6] = [1.05, 1.5, 2.5, 5.0, 20.0, f64::INFINITY];

/// A situation: its heading, the compared quantity, and each lock's ratio to the best.
struct Column {
    head: String,
    metric: String,
    behind: BTreeMap<String, f64>,
}

/// The table; empty where there is nothing to compare.
pub fn table(report: &Report) -> Markup {
    let columns = columns(report);
    let mut locks: Vec<((usize, f64), &str)> =
        data::locks(&report.series.iter().collect::<Vec<_>>())
            .into_iter()
            .filter(|lock| *lock != NO_LOCK)
            .filter_map(|lock| Some((standing(&columns, lock)?, lock)))
            .collect();
    if locks.len() < 2 {
        return html! {};
    }
    locks.sort_by(|(one, _), (other, _)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let locks = locks.into_iter().map(|(_, lock)| lock);
    let (mut historical, mut chosen): (Vec<&str>, Vec<&str>) =
        locks.partition(|lock| data::is_historical(report, lock));
    if chosen.is_empty() {
        chosen = std::mem::take(&mut historical);
    }
    let caption = "Times behind the best lock of each situation";
    html! {
        p.lead {
            "How many times each lock is behind the best one, in the metric that a workload is \
             judged by (point at a heading to see it) and at the greatest number of threads; 1.0 is \
             the best. Locks that took part in more situations come first, then those with the \
             smaller geometric mean of their row."
        }
        (rows(caption, &columns, &chosen))
        @if !historical.is_empty() {
            details {
                summary { (historical.len()) " locks of papers" }
                (rows("The same for locks of papers", &columns, &historical))
            }
        }
    }
}

fn rows(caption: &str, columns: &[Column], locks: &[&str]) -> Markup {
    tables::scrolling(
        caption,
        &html! {
            table.heat aria-label=(caption) {
                thead {
                    tr {
                        th scope="col" { "lock" }
                        @for column in columns {
                            th.number scope="col" title=(column.metric) { (column.head) }
                        }
                    }
                }
                tbody {
                    @for lock in locks {
                        tr data-lock=(lock) {
                            th scope="row" { (tables::lock_name(lock, false)) }
                            @for column in columns { (cell(column.behind.get(*lock).copied())) }
                        }
                    }
                }
            }
        },
    )
}

fn cell(behind: Option<f64>) -> Markup {
    let Some(behind) = behind else { return html! { td.number { (number::NONE) } } };
    let shade = SHADES.iter().position(|end| behind <= *end).unwrap_or(SHADES.len() - 1);
    html! { td.number .(format!("shade{shade}")) { (times(behind)) } }
}

fn times(behind: f64) -> String {
    if behind < 99.95 { format!("{behind:.1}") } else { number::number(behind.round()) }
}

fn columns(report: &Report) -> Vec<Column> {
    let mut columns = Vec::new();
    for workload in data::workloads(report) {
        let series = data::of_workload(report, workload);
        for (params, group) in data::grouped(series, |series: &Series| series.params.clone()) {
            let most = group.iter().map(|series| series.threads).max().unwrap_or(0);
            let rows: Vec<&Series> = group
                .into_iter()
                .filter(|series| series.threads == most && series.lock != NO_LOCK)
                .collect();
            let mut words = vec![data::title(workload)];
            let varies =
                !params.contains_key(param::PROCESS) && !params.contains_key(param::PATTERN);
            // A program's number is not known.
            if varies && most != 0 {
                words.push(format!("{most} threads"));
            }
            let params = data::params_in_words(&params);
            // The source's own number of pairs is the usual case.
            if !params.is_empty() && !params.starts_with("pairs per thread") {
                words.push(params);
            }
            let behind = behind(&rows);
            if behind.len() > 1 {
                let metric = rows.iter().find_map(|series| data::main_metric(series));
                let metric = metric.map_or_else(String::new, |m| data::metric_title(&m.name));
                columns.push(Column { head: words.join(", "), metric, behind });
            }
        }
    }
    columns
}

/// Each lock's ratio to the best of these.
fn behind(rows: &[&Series]) -> BTreeMap<String, f64> {
    let values: Vec<(&str, f64)> = rows
        .iter()
        .filter_map(|series| {
            let metric = data::main_metric(series)?;
            let cost = match metric.better {
                Better::Higher => 1.0 / metric.median,
                Better::Lower => metric.median,
                Better::Neither => return None,
            };
            (cost.is_finite() && cost > 0.0).then_some((&*series.lock, cost))
        })
        .collect();
    let least = values.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    values
        .into_iter()
        .map(|(lock, cost)| (lock.to_owned(), cost / least))
        .filter(|(_, times)| times.is_finite())
        .collect()
}

/// The key that orders a lock's row: the number of situations that it lacks, and its geometric
/// mean. `None` where it has no value.
fn standing(columns: &[Column], lock: &str) -> Option<(usize, f64)> {
    let logs: Vec<f64> =
        columns.iter().filter_map(|column| Some(column.behind.get(lock)?.ln())).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (!logs.is_empty()).then_some((columns.len() - logs.len(), mean))
}

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
