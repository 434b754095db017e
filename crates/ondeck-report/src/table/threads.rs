//! Tables with locks down and numbers of threads across.

use std::collections::BTreeMap;

use comfy_table::{Attribute, Cell};
use ondeck_lab::results::{Better, Series};
use ondeck_lab::workload::face::{Column, Threads};

use super::{marked, new_table, right_align, written};
use crate::numbers::terminal::significant;

/// One row for each lock and one column for each number of threads, with more columns for the greatest.
pub(super) fn table(series: &[&Series], layout: &Threads, colour: bool) -> String {
    let mut by_lock: BTreeMap<&str, BTreeMap<usize, &Series>> = BTreeMap::new();
    for one in series {
        by_lock.entry(&one.lock).or_default().insert(one.threads, one);
    }
    let mut counts: Vec<usize> = series.iter().map(|series| series.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    // Twelve columns of numbers would be wider than a terminal: the ends and an even choice between.
    let counts = thin_out(&counts, layout.most);
    let last = counts.last().copied().unwrap_or(1);

    let (quantity, factor) = layout.quantity;
    let main = quantity.name;
    let value = |lock: &str, threads: usize, metric: &str| {
        by_lock
            .get(lock)
            .and_then(|counts| counts.get(&threads))
            .and_then(|series| series.metric(metric))
    };
    let better = series.iter().find_map(|one| one.metric(main)).map(|metric| metric.better);
    let mut names: Vec<&str> = by_lock.keys().copied().collect();
    names.sort_by(|one, other| {
        let key = |lock| match (value(lock, last, main), better) {
            (None, _) => f64::INFINITY,
            (Some(metric), Some(Better::Higher)) => -metric.median,
            (Some(metric), _) => metric.median,
        };
        key(one).total_cmp(&key(other))
    });
    let mut header: Vec<String> = vec!["lock".to_owned()];
    header.extend(counts.iter().map(|count| (count - layout.others).to_string()));
    header.extend(layout.extras.iter().map(|Column(title, ..)| (*title).to_owned()));
    let mut table = new_table(&header, colour);
    for name in names {
        let partial =
            by_lock.get(name).is_some_and(|counts| counts.values().any(|one| one.partial));
        let mut row = vec![Cell::new(marked(name, partial))];
        for &threads in &counts {
            let best =
                best_of(series.iter().copied().filter(|series| series.threads == threads), main);
            let metric = value(name, threads, main);
            let cell = Cell::new(
                metric.map_or("-".to_owned(), |metric| significant(metric.median * factor)),
            );
            row.push(if metric.is_some_and(|metric| Some(metric.median) == best) {
                cell.add_attribute(Attribute::Bold)
            } else {
                cell
            });
        }
        row.extend(layout.extras.iter().map(|Column(_, quantity, shown)| {
            let metric = value(name, last, quantity.name);
            Cell::new(metric.map_or("-".to_owned(), |metric| written(*shown, metric.median)))
        }));
        table.add_row(row);
    }
    right_align(&mut table, &(1..header.len()).collect::<Vec<_>>());
    format!("{}\n{}: at {} {}", table.trim_fmt(), layout.note, last - layout.others, layout.role)
}

fn best_of<'a>(series: impl Iterator<Item = &'a Series>, metric: &str) -> Option<f64> {
    let metrics = series.filter_map(|series| series.metric(metric));
    metrics
        .map(|metric| (metric.better, metric.median))
        .reduce(|one, other| match one.0 {
            Better::Higher if other.1 > one.1 => other,
            Better::Lower if other.1 < one.1 => other,
            _ => one,
        })
        .map(|(_, best)| best)
}

/// At most `most` of the numbers: the first, the last, and some evenly between.
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
    fn many_thread_counts_are_thinned_to_their_ends_and_some_between() {
        assert_eq!(thin_out(&[1, 2, 3], 6), [1, 2, 3]);
        let thinned = thin_out(&[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], 6);
        assert_eq!(thinned.len(), 6);
        assert_eq!((thinned[0], thinned[5]), (1, 64));
    }
}
