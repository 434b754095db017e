//! Tables with locks down and situations across: sizes of an array, programs, conditions of the run.

use comfy_table::{Attribute, Cell};
use ondeck_lab::plan::{conditions_of, is_condition};
use ondeck_lab::results::{Better, Metric, Report, Series, Unit};

use super::{marked, new_table, right_align};
use crate::numbers::terminal::significant;
use crate::verdict;

/// As wide as a terminal.
const WIDTH: usize = 80;

/// One row for each lock and one column for each label, in the order in which they appear; the
/// best of a column is bold. As many tables, one below the other, as the columns need.
pub(super) fn table(
    series: &[&Series],
    (metric, factor): (&str, f64),
    label: impl Fn(&Series) -> String,
    colour: bool,
) -> String {
    let mut labels: Vec<String> = Vec::new();
    let mut locks: Vec<&str> = Vec::new();
    for one in series {
        let label = label(one);
        if !labels.contains(&label) {
            labels.push(label);
        }
        if !locks.contains(&&*one.lock) {
            locks.push(&one.lock);
        }
    }
    let find = |lock: &str, wanted: &str| {
        series.iter().copied().find(|one| one.lock == lock && label(one) == wanted)
    };
    let value = |lock: &str, label: &str| find(lock, label).and_then(|one| one.metric(metric));
    if let Some(first) = labels.first() {
        locks.sort_by(|one, other| {
            let key = |lock| value(lock, first).map_or(f64::INFINITY, rank);
            key(one).total_cmp(&key(other))
        });
    }
    let names = locks.iter().map(|lock| lock.len()).max().unwrap_or(0);
    let tables: Vec<_> = fitting(&labels, WIDTH.saturating_sub(names + 2))
        .into_iter()
        .map(|labels| {
            let mut header = vec!["lock"];
            header.extend(labels.iter().map(String::as_str));
            let mut table = new_table(&header, colour);
            for lock in &locks {
                let partial = series.iter().any(|one| one.lock == *lock && one.partial);
                let mut row = vec![Cell::new(marked(lock, partial))];
                row.extend(labels.iter().map(|label| {
                    let metrics = locks.iter().filter_map(|lock| value(lock, label)).map(rank);
                    let best = metrics.fold(f64::INFINITY, f64::min);
                    let metric = value(lock, label);
                    let shown =
                        metric.map_or("-".to_owned(), |metric| significant(metric.median * factor));
                    let is_best =
                        metric.is_some_and(|metric| rank(metric).total_cmp(&best).is_eq());
                    let cell = Cell::new(shown);
                    if is_best { cell.add_attribute(Attribute::Bold) } else { cell }
                }));
                table.add_row(row);
            }
            right_align(&mut table, &(1..header.len()).collect::<Vec<_>>());
            table.trim_fmt()
        })
        .collect();
    tables.join("\n\n")
}

/// The labels in as few groups as fit into `width` characters each, with two between them.
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

/// Less is better.
fn rank(metric: &Metric) -> f64 {
    if metric.better == Better::Higher { -metric.median } else { metric.median }
}

/// The words of the conditions that a series was measured under; empty if the run had only one.
pub(super) fn condition(series: &Series) -> String {
    let word = |(name, value): (&str, &str)| match name {
        // "other" says by itself that it is a policy; "one" or a number says nothing.
        "policy" => value.to_owned(),
        _ => format!("{name} {value}"),
    };
    let words: Vec<_> = conditions_of(&series.params).into_iter().map(word).collect();
    words.join(" ")
}

/// Whether the report compares conditions.
pub(super) fn compares(report: &Report) -> bool {
    report.series.iter().any(|series| !condition(series).is_empty())
}

/// What each condition changed: for every situation the quantity that its workload is judged by.
pub(super) fn conditions(report: &Report, colour: bool) -> Vec<(String, String)> {
    let mut groups: Vec<(String, Vec<&Series>)> = Vec::new();
    for one in &report.series {
        let mut situation = one.clone();
        situation.params.retain(|name, _| !is_condition(name));
        let words = verdict::situation(&situation);
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, members)) => members.push(one),
            None => groups.push((words, vec![one])),
        }
    }
    let layout = |series: &[&Series]| {
        let judged = verdict::judged_by(&series.first()?.workload)?;
        let metric = series.iter().find_map(|one| one.metric(judged))?;
        let (factor, unit) = match metric.unit.known() {
            Some(Unit::PerSecond) => (1e-6, "million/s".into()),
            Some(Unit::Ratio) => (1.0, judged.into()),
            Some(
                Unit::Nanoseconds
                | Unit::Milliseconds
                | Unit::PerOperation
                | Unit::Operations
                | Unit::Threads
                | Unit::Bytes,
            )
            | None => (1.0, metric.unit.word()),
        };
        Some((judged, factor, unit.into_owned()))
    };
    groups
        .into_iter()
        .filter_map(|(words, series)| {
            let (metric, factor, unit) = layout(&series)?;
            let heading = if unit == metric {
                format!("{words}\n{metric} by condition")
            } else {
                format!("{words}\n{metric} in {unit} by condition")
            };
            Some((heading, table(&series, (metric, factor), condition, colour)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_go_into_a_table_of_their_own() {
        let labels: Vec<String> = ["ten chars.", "ten chars.", "a", "b"].map(str::to_owned).into();
        let sizes = |width: usize| -> Vec<usize> {
            fitting(&labels, width).iter().map(|labels| labels.len()).collect()
        };
        assert_eq!(sizes(80), [4]);
        assert_eq!(sizes(32), [3, 1]);
        assert_eq!(sizes(12), [1, 1, 1, 1]);
        // What does not fit at all is shown all the same.
        assert_eq!(sizes(3), [1, 1, 1, 1]);
    }
}
