//! Tables with locks as rows: the kinds that workloads choose from.

use ondeck_lab::results::{Better, LockRow, Metric, Series};
use ondeck_lab::sample::{CPU_PER_OP, HANDOFF, LONGEST, PAIR, RUN};
use ondeck_lab::workload::face::{Column, Threads};
use ondeck_lab::workload::{NO_LOCK, param};
use ondeck_text::numbers::terminal::{in_one_unit, significant, time};

use super::{Cell, Grid, marked, written};
use crate::data::{self, grouped, thread_counts};

/// The width of a terminal.
const WIDTH: usize = 80;

/// Stands for a missing number.
const NONE: &str = "-";

/// A row of a table: a lock, and the series of its cells.
type Row<'a> = (String, Vec<&'a Series>);

/// A row for each lock, in the order in which they appear.
fn by_lock<'a>(series: &[&'a Series]) -> Vec<Row<'a>> {
    grouped(series.iter().copied(), |one| one.lock.clone())
}

/// A row for each series.
fn by_series<'a>(series: &[&'a Series]) -> Vec<Row<'a>> {
    series.iter().map(|&one| (one.lock.clone(), vec![one])).collect()
}

/// A table of these rows, the one with the least key on top. A lock with missing rounds is marked.
fn table<'a, C: Into<Cell>>(
    mut rows: Vec<Row<'a>>,
    header: &[&str],
    colour: bool,
    key: impl Fn(&[&'a Series]) -> f64,
    cells: impl Fn(&[&'a Series]) -> Vec<C>,
) -> Grid {
    rows.sort_by(|one, other| key(&one.1).total_cmp(&key(&other.1)));
    let mut table = Grid::new(header, colour);
    for (lock, its) in rows {
        let mut row = vec![Cell::from(marked(&lock, its.iter().any(|one| one.partial)))];
        row.extend(cells(&its).into_iter().map(Into::into));
        table.add_row(row);
    }
    table.right_align(&(1..header.len()).collect::<Vec<_>>());
    table
}

/// Less is better; missing values come last.
fn rank(metric: Option<&Metric>) -> f64 {
    match metric {
        Some(metric) if metric.better == Better::Higher => -metric.median,
        Some(metric) => metric.median,
        None => f64::INFINITY,
    }
}

/// The rank of the best of these.
fn best<'a>(all: impl Iterator<Item = Option<&'a Metric>>) -> f64 {
    all.map(rank).fold(f64::INFINITY, f64::min)
}

/// A median times a factor, in bold if it is the best of its column.
fn cell(metric: Option<&Metric>, factor: f64, best: f64) -> Cell {
    let Some(metric) = metric else { return Cell::from(NONE) };
    let cell = Cell::from(significant(metric.median * factor));
    let is_best = metric.better != Better::Neither && rank(Some(metric)).total_cmp(&best).is_eq();
    if is_best { cell.bold() } else { cell }
}

/// A percentile of the single times of a series.
fn percentile(series: Option<&Series>, percent: f64) -> String {
    let times = series.and_then(|one| one.distribution.as_ref());
    let found = times.and_then(|times| data::percentile(times, percent));
    found.map_or(NONE.to_owned(), time)
}

/// The cost of a lock that no other thread wants: a column for either kind of process.
pub(super) fn alone(series: &[&Series], locks: &[LockRow], colour: bool) -> String {
    let of = |its: &[&Series], process: &str| {
        let is_of = |one: &&&Series| one.params.get(param::PROCESS).is_some_and(|it| it == process);
        its.iter().find(is_of).and_then(|one| one.metric(PAIR.name)).cloned()
    };
    let cells = |its: &[&Series]| {
        let pair = |process: &str| match of(its, process) {
            Some(pair) => {
                [format!("{:.2}", pair.median), format!("{:.1}-{:.1}", pair.p25, pair.p75)]
            }
            None => [NONE.to_owned(), String::new()],
        };
        let facts = locks.iter().find(|row| row.name == its[0].lock);
        let size = facts.map_or(String::new(), |row| row.size_bytes.to_string());
        [&pair(param::SEVERAL_THREADS)[..], &pair(param::ONE_THREAD), &[size]].concat()
    };
    // The harness's own cost stays on top.
    let key = |its: &[&Series]| match its {
        [one, ..] if one.lock == NO_LOCK => -1.0,
        _ => of(its, param::SEVERAL_THREADS).map_or(f64::MAX, |pair| pair.median),
    };
    let mut rows = by_lock(series);
    for (lock, _) in rows.iter_mut().filter(|(lock, _)| lock == NO_LOCK) {
        "none (the harness)".clone_into(lock);
    }
    let header = ["lock", "multi", "p25-p75", "single", "p25-p75", "bytes"];
    table(rows, &header, colour, key, cells).render()
}

/// The patterns of a handoff as columns.
pub(super) fn patterns(series: &[&Series], colour: bool) -> String {
    fn of<'a>(its: &[&'a Series], pattern: &str) -> Option<&'a Series> {
        let is_of = |one: &&Series| one.params.get(param::PATTERN).is_some_and(|it| it == pattern);
        its.iter().copied().find(is_of)
    }
    fn median(its: &[&Series], pattern: &str, metric: &str) -> Option<f64> {
        Some(of(its, pattern)?.metric(metric)?.median)
    }
    let cells = |its: &[&Series]| {
        let shown = |pattern, metric| median(its, pattern, metric).map_or(NONE.to_owned(), time);
        vec![
            shown("solo", HANDOFF.name),
            shown("fast", HANDOFF.name),
            percentile(of(its, "fast"), 99.0),
            shown("slow", HANDOFF.name),
            percentile(of(its, "slow"), 99.0),
            shown("slow", CPU_PER_OP.name),
        ]
    };
    let key = |its: &[&Series]| median(its, "slow", HANDOFF.name).unwrap_or(f64::INFINITY);
    let header = ["lock", "solo", "fast", "p99", "slow", "p99", "slow cpu"];
    table(by_lock(series), &header, colour, key, cells).render()
}

/// Quantities as columns, the best of the first column on top.
pub(super) fn quantities(series: &[&Series], columns: &[Column], colour: bool) -> String {
    let mut header = vec!["lock"];
    header.extend(columns.iter().map(|Column(title, ..)| *title));
    let key = |its: &[&Series]| {
        columns.first().map_or(0.0, |Column(_, quantity, _)| rank(its[0].metric(quantity.name)))
    };
    let cell = |one: &Series, Column(_, quantity, shown): &Column| {
        one.metric(quantity.name).map_or(NONE.to_owned(), |metric| written(*shown, metric.median))
    };
    let cells = |its: &[&Series]| columns.iter().map(|column| cell(its[0], column)).collect();
    table::<String>(by_series(series), &header, colour, key, cells).render()
}

/// Runs in the form of their source: the average run and the four longest times.
pub(super) fn runs(series: &[&Series], colour: bool) -> String {
    let cells = |its: &[&Series]| {
        let one = its[0];
        let run = one.metric(RUN.name).map_or(&[][..], |run| &run.samples);
        let mean = run.iter().sum::<f64>() / run.len().max(1) as f64;
        let mut longest =
            one.metric(LONGEST.name).map_or(Vec::new(), |metric| metric.samples.clone());
        longest.sort_by(|one, other| other.total_cmp(one));
        let runs = longest.len();
        longest.truncate(4);
        let least = one.distribution.as_ref().map(|times| time(times.min_ns as f64));
        vec![
            format!("{}{}", if one.cut_runs > 0 { ">" } else { "" }, time(mean * 1e6)),
            in_one_unit(&longest),
            least.unwrap_or(NONE.to_owned()),
            percentile(Some(one), 50.0),
            percentile(Some(one), 99.0),
            percentile(Some(one), 99.9),
            runs.to_string(),
        ]
    };
    let key = |its: &[&Series]| its[0].metric(LONGEST.name).map_or(f64::MAX, |metric| metric.max);
    let header = ["lock", "run", "four longest", "least", "p50", "p99", "p99.9", "runs"];
    let mut table = table(by_series(series), &header, colour, key, cells);
    // Eight columns fit a terminal only with a single space between them.
    table.narrow();
    table.render()
}

/// Numbers of threads as columns, with additional columns for the greatest.
pub(super) fn threads(series: &[&Series], layout: &Threads, colour: bool) -> String {
    fn of<'a>(its: &[&'a Series], threads: usize, metric: &str) -> Option<&'a Metric> {
        its.iter().rev().find(|one| one.threads == threads)?.metric(metric)
    }
    // Twelve columns of numbers would be wider than a terminal: keeps the ends and an even
    // selection between them.
    let counts = thin_out(&thread_counts(series), layout.most);
    let last = counts.last().copied().unwrap_or(1);
    let (quantity, factor) = layout.quantity;
    let mut rows = by_lock(series);
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    let columns: Vec<_> = counts
        .iter()
        .map(|&threads| {
            let all = series.iter().filter(|one| one.threads == threads);
            (threads, best(all.map(|one| one.metric(quantity.name))))
        })
        .collect();
    let cells = |its: &[&Series]| -> Vec<Cell> {
        let numbers = columns
            .iter()
            .map(|(threads, best)| cell(of(its, *threads, quantity.name), factor, *best));
        let extras = layout.extras.iter().map(|Column(_, quantity, shown)| {
            let metric = of(its, last, quantity.name);
            Cell::from(metric.map_or(NONE.to_owned(), |metric| written(*shown, metric.median)))
        });
        numbers.chain(extras).collect()
    };
    let mut header: Vec<String> = vec!["lock".to_owned()];
    header.extend(counts.iter().map(|count| (count - layout.others).to_string()));
    header.extend(layout.extras.iter().map(|Column(title, ..)| (*title).to_owned()));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let key = |its: &[&Series]| rank(of(its, last, quantity.name));
    let table = table(rows, &header, colour, key, cells);
    format!("{}\n{}: at {} {}", table.render(), layout.note, last - layout.others, layout.role)
}

/// Situations as columns, by their labels in the order in which they appear: sizes of an array,
/// programs, conditions of the run. As many tables, one below the other, as the columns need.
pub(super) fn across(
    series: &[&Series],
    (metric, factor): (&str, f64),
    label: impl Fn(&Series) -> String,
    colour: bool,
) -> String {
    let labelled: Vec<(String, Vec<&Series>)> = grouped(series.iter().copied(), &label);
    let labels: Vec<String> = labelled.iter().map(|(label, _)| label.clone()).collect();
    let of = |its: &[&Series], wanted: &str| {
        its.iter().find(|one| label(one) == wanted).and_then(|one| one.metric(metric)).cloned()
    };
    let names = series.iter().map(|one| one.lock.len()).max().unwrap_or(0);
    let tables: Vec<String> = fitting(&labels, WIDTH.saturating_sub(names + 2))
        .into_iter()
        .map(|fitting| {
            let mut header = vec!["lock"];
            header.extend(fitting.iter().map(String::as_str));
            let shown = labelled.iter().filter(|(label, _)| fitting.contains(label));
            let columns: Vec<_> = shown
                .map(|(label, its)| (label, best(its.iter().map(|one| one.metric(metric)))))
                .collect();
            let cells = |its: &[&Series]| -> Vec<Cell> {
                columns
                    .iter()
                    .map(|(label, best)| cell(of(its, label).as_ref(), factor, *best))
                    .collect()
            };
            let key =
                |its: &[&Series]| labels.first().map_or(0.0, |first| rank(of(its, first).as_ref()));
            table(by_lock(series), &header, colour, key, cells).render()
        })
        .collect();
    tables.join("\n\n")
}

/// The labels in the fewest groups that fit into `width` characters each, with two between them.
fn fitting(labels: &[String], width: usize) -> Vec<&[String]> {
    /// Numbers of three digits with a point, and a space to spare.
    const NARROWEST: usize = 6;
    let mut groups = Vec::new();
    let mut first = 0;
    let mut used = 0;
    for (place, label) in labels.iter().enumerate() {
        let needed = label.chars().count().max(NARROWEST) + 2;
        if used + needed > width && place > first {
            groups.push(&labels[first..place]);
            (first, used) = (place, 0);
        }
        used += needed;
    }
    groups.push(&labels[first..]);
    groups
}

/// At most `most` of the numbers: the first, the last, and some evenly between them.
fn thin_out(numbers: &[usize], most: usize) -> Vec<usize> {
    if numbers.len() <= most {
        return numbers.to_vec();
    }
    (0..most).map(|place| numbers[place * (numbers.len() - 1) / (most - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_thinned_out_and_fit_the_terminal() {
        assert_eq!(thin_out(&[1, 2, 4, 8, 16, 32, 64], 4), [1, 4, 16, 64]);
        let labels: Vec<String> = (0..9).map(|index| format!("situation {index}")).collect();
        let groups = fitting(&labels, 40);
        assert_eq!(groups.concat(), labels);
        assert!(groups.iter().all(|group| group.len() <= 3));
    }
}
