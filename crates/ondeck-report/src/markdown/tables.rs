//! The tables: for each situation what its workload is judged by, and the rest folded up.

use std::fmt::Write as _;

use ondeck_lab::results::{Metric, Report, Series};

use crate::data;
use crate::numbers::page as number;

use super::escape::{code_in_table, html, prose};
use super::fit::{Piece, Rank};

/// More thread counts than this are thinned: their ends, and some between.
const COLUMNS: usize = 9;

/// A table, and its other metrics, of every situation.
pub fn workloads(report: &Report) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for workload in data::workloads(report) {
        let series = data::of_workload(report, workload);
        let groups = data::grouped(series, |series| series.params.clone());
        for (index, (params, group)) in groups.iter().enumerate() {
            let Some(main) = group.iter().find_map(|series| data::main_metric(series)) else {
                continue;
            };
            let words = data::params_in_words(params);
            let place = if words.is_empty() { String::new() } else { format!(", {words}") };
            let heading = match index {
                0 => format!("\n### {}\n", prose(&data::title(workload))),
                _ => String::new(),
            };
            let text = format!("{heading}\n{}", of_metric(group, main, &words));
            let name = format!("the table of {workload}{place}");
            pieces.push(Piece::new(Rank::Table, name, text));
            pieces.extend(details(group, main, &format!("{workload}{place}")));
        }
    }
    pieces
}

/// All other metrics of a situation, at its greatest number of threads.
fn details(group: &[&Series], main: &Metric, place: &str) -> Option<Piece> {
    let mut metrics: Vec<&Metric> = Vec::new();
    for metric in group.iter().flat_map(|series| &series.metrics) {
        if metric.name != main.name && !metrics.iter().any(|known| known.name == metric.name) {
            metrics.push(metric);
        }
    }
    if metrics.is_empty() {
        return None;
    }
    let most = group.iter().map(|series| series.threads).max().unwrap_or(0);
    let series: Vec<&Series> =
        group.iter().copied().filter(|series| series.threads == most).collect();
    let shown: Vec<data::Shown> = metrics.iter().map(|metric| shown(&series, metric)).collect();
    let mut head = vec!["lock".to_owned()];
    head.extend(metrics.iter().zip(&shown).map(|(metric, shown)| {
        prose(&format!("{}, {}", data::metric_title(&metric.name), shown.unit))
    }));
    let rows: Vec<Vec<String>> = data::locks(&series)
        .into_iter()
        .filter_map(|lock| data::find(&series, lock, most))
        .map(|series| {
            let mut row = vec![name(&series.lock, series.partial)];
            row.extend(metrics.iter().zip(&shown).map(|(metric, shown)| {
                let found = series.metric(&metric.name);
                found.map_or_else(|| number::NONE.to_owned(), |found| shown.text(found.median))
            }));
            row
        })
        .collect();
    let s = if most == 1 { "" } else { "s" };
    let summary = format!("{place}: other metrics at {most} thread{s}");
    Some(Piece::new(Rank::Detail, summary.clone(), folded(&summary, &table(&head, &rows))))
}

/// One metric: locks down, best first, threads across.
fn of_metric(group: &[&Series], metric: &Metric, words: &str) -> String {
    let shown = shown(group, metric);
    let counts = thinned(&data::thread_counts(group));
    let mut locks = data::locks(group);
    if let Some(most) = counts.last() {
        data::sort_locks(&mut locks, metric.better, |lock| {
            Some(data::find(group, lock, *most)?.metric(&metric.name)?.median)
        });
    }
    let mut head = vec!["lock".to_owned()];
    head.extend(counts.iter().map(|count| match count {
        1 => "1 thread".to_owned(),
        count => format!("{count} threads"),
    }));
    let rows: Vec<Vec<String>> = locks
        .iter()
        .map(|lock| {
            let partial = group.iter().any(|series| series.lock == *lock && series.partial);
            let mut row = vec![name(lock, partial)];
            row.extend(counts.iter().map(|count| {
                let found = data::find(group, lock, *count).and_then(|s| s.metric(&metric.name));
                found.map_or_else(|| number::NONE.to_owned(), |found| cell(found, &shown))
            }));
            row
        })
        .collect();
    let mut caption = format!(
        "{}, {}; {}",
        data::metric_title(&metric.name),
        shown.unit,
        data::direction(metric.better)
    );
    if !words.is_empty() {
        // Writing into a String cannot fail.
        let _ = write!(caption, "; {words}");
    }
    format!("{}\n\n{}", prose(&caption), table(&head, &rows))
}

/// The costs of the machine's operations.
pub fn costs(report: &Report) -> Option<Piece> {
    if report.costs.is_empty() {
        return None;
    }
    let head = ["operation", "median", "quartiles"].map(str::to_owned);
    let rows: Vec<Vec<String>> = report
        .costs
        .iter()
        .map(|cost| match &cost.refused {
            Some(reason) => vec![prose(&cost.operation), "refused".to_owned(), prose(reason)],
            None => vec![
                prose(&cost.operation),
                number::time(cost.median),
                format!("{} to {}", number::time(cost.p25), number::time(cost.p75)),
            ],
        })
        .collect();
    let summary = "what the machine's operations cost";
    Some(Piece::new(Rank::Detail, summary, folded(summary, &table(&head, &rows))))
}

fn shown(series: &[&Series], metric: &Metric) -> data::Shown {
    let all = series.iter().filter_map(|series| series.metric(&metric.name));
    data::Shown::new(&metric.unit, all.map(|metric| metric.median))
}

/// The median, and the quartiles where there are rounds enough to have some.
fn cell(metric: &Metric, shown: &data::Shown) -> String {
    let median = shown.text(metric.median);
    if metric.n < 2 {
        return median;
    }
    format!("{median} <sub>{}–{}</sub>", shown.text(metric.p25), shown.text(metric.p75))
}

fn name(lock: &str, partial: bool) -> String {
    // As in the tables of the terminal.
    format!("{}{}", code_in_table(lock), if partial { "\\*" } else { "" })
}

fn folded(summary: &str, text: &str) -> String {
    let summary = html(summary);
    format!("\n<details><summary>{summary}</summary>\n\n{text}\n</details>\n")
}

/// The first column is a name, the others are numbers.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> =
        (0..head.len()).map(|column| if column == 0 { "---" } else { "---:" }.to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{}{rows}", line(head), line(&rule))
}

/// At most [`COLUMNS`] of the numbers: the first, the last, and some evenly between.
fn thinned(counts: &[usize]) -> Vec<usize> {
    if counts.len() <= COLUMNS {
        return counts.to_vec();
    }
    (0..COLUMNS).map(|place| counts[place * (counts.len() - 1) / (COLUMNS - 1)]).collect()
}
