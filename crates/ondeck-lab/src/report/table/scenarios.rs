//! Tables of the workloads with situations of their own: the figure by which they rank locks for
//! each number of threads, then what has to be read beside it.

use comfy_table::{Attribute, Cell};

use super::{best_of, marked, new_table, right_align, significant, thin_out, time};
use crate::results::{Metric, Series};

/// How a workload is shown.
struct Layout {
    workload: &'static str,
    /// What the figures are, for the heading.
    title: &'static str,
    /// The figure that is shown for every number of threads.
    main: &'static str,
    /// Other figures, at the most threads: the column's heading and the metric.
    beside: &'static [(&'static str, &'static str)],
}

const LAYOUTS: [Layout; 7] = [
    Layout {
        workload: "handoff",
        title: "handoff: from an unlock until the waiter has the lock",
        main: "handoff",
        beside: &[("sleeps/op", "voluntary_switches"), ("cpu/op", "cpu_per_op")],
    },
    Layout {
        workload: "capture",
        title: "capture: million pairs/s, and acquisitions in a row",
        main: "throughput",
        beside: &[
            ("row p50", "streak_p50"),
            ("p99", "streak_p99"),
            ("passed p99", "passed_over_p99"),
            ("max", "passed_over_max"),
            ("share", "share"),
        ],
    },
    Layout {
        workload: "starve",
        title: "starve: million pairs/s, worst gap of a thread",
        main: "throughput",
        beside: &[("gap", "longest"), ("share", "share"), ("cpu/op", "cpu_per_op")],
    },
    Layout {
        workload: "oversubscribed",
        title: "oversubscribed: million pairs/s by threads",
        main: "throughput",
        beside: &[
            ("share", "share"),
            ("cpu/op", "cpu_per_op"),
            ("sleeps/op", "voluntary_switches"),
            ("preempt/op", "involuntary_switches"),
        ],
    },
    Layout {
        workload: "condvar",
        title: "condvar: million wakeups/s by threads, one of them the server",
        main: "throughput",
        beside: &[
            ("server", "server_loops"),
            ("share", "share"),
            ("sleeps/op", "voluntary_switches"),
        ],
    },
    Layout {
        workload: "producer_consumer",
        title: "producer_consumer: million items/s by threads",
        main: "throughput",
        beside: &[
            ("share", "share"),
            ("cpu/op", "cpu_per_op"),
            ("sleeps/op", "voluntary_switches"),
            ("preempt/op", "involuntary_switches"),
        ],
    },
    Layout {
        workload: "chan",
        title: "chan: million operations/s by threads",
        main: "throughput",
        beside: &[("share", "share"), ("cpu/op", "cpu_per_op")],
    },
];

/// A table for each of these workloads and its parameters, with its heading.
pub(super) fn tables(series: &[Series], colour: bool) -> Vec<(String, String)> {
    let mut tables = Vec::new();
    for layout in &LAYOUTS {
        let all: Vec<&Series> =
            series.iter().filter(|one| one.workload == layout.workload).collect();
        let mut situations: Vec<String> = Vec::new();
        for one in &all {
            if !situations.contains(&one.params_word()) {
                situations.push(one.params_word());
            }
        }
        for params in situations {
            let group: Vec<&Series> =
                all.iter().copied().filter(|one| one.params_word() == params).collect();
            let heading = match in_words(group[0]) {
                words if words.is_empty() => layout.title.to_owned(),
                words => format!("{}; {words}", layout.title),
            };
            tables.push((heading, table(layout, &group, colour)));
        }
    }
    tables
}

/// The parameters, as they stand in a heading.
fn in_words(series: &Series) -> String {
    // The section comes first, as everywhere.
    let words = series.params.iter().rev().map(|(name, value)| match name.strip_suffix("_ns") {
        Some(name) => format!("{name} {value} ns"),
        None => format!("{name} {value}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn table(layout: &Layout, group: &[&Series], colour: bool) -> String {
    let mut counts: Vec<usize> = group.iter().map(|series| series.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let counts = thin_out(&counts, 5);
    let last = counts.last().copied().unwrap_or(1);
    let find = |lock: &str, threads: usize, metric: &str| {
        let series = group.iter().find(|one| one.lock == lock && one.threads == threads)?;
        series.metric(metric)
    };
    let mut locks: Vec<&str> = group.iter().map(|series| series.lock.as_str()).collect();
    locks.sort_unstable();
    locks.dedup();
    let is_time = layout.main == "handoff";
    // Best first: times ascend, rates descend.
    locks.sort_by(|one, other| {
        let key = |lock| match find(lock, last, layout.main) {
            Some(metric) if is_time => metric.median,
            Some(metric) => -metric.median,
            None => f64::MAX,
        };
        key(one).total_cmp(&key(other))
    });

    let mut header: Vec<String> = vec!["lock".to_owned()];
    header.extend(counts.iter().map(ToString::to_string));
    header.extend(layout.beside.iter().map(|(heading, _)| (*heading).to_owned()));
    let mut table = new_table(&header, colour);
    for lock in locks {
        let partial = group.iter().any(|one| one.lock == lock && one.partial);
        let mut row = vec![Cell::new(marked(lock, partial))];
        for &threads in &counts {
            let metric = find(lock, threads, layout.main);
            let cell = Cell::new(metric.map_or("-".to_owned(), shown));
            let column = group.iter().copied().filter(|one| one.threads == threads);
            let best = best_of(column, layout.main);
            row.push(match metric {
                Some(metric) if Some(metric.median) == best => cell.add_attribute(Attribute::Bold),
                _ => cell,
            });
        }
        for (_, metric) in layout.beside {
            row.push(Cell::new(find(lock, last, metric).map_or("-".to_owned(), shown)));
        }
        table.add_row(row);
    }
    right_align(&mut table, &(1..header.len()).collect::<Vec<_>>());
    table.trim_fmt()
}

fn shown(metric: &Metric) -> String {
    match (metric.unit.as_str(), metric.name.as_str()) {
        ("ops/s", _) => significant(metric.median / 1e6),
        // The worst of all rounds: a maximum is not made typical by a median.
        ("ms", _) => time(metric.max * 1e6),
        ("ns", _) => time(metric.median),
        ("ratio", _) => format!("{:.2}", metric.median),
        (_, "passed_over_max") => count(metric.max),
        ("ops", _) => count(metric.median),
        _ => significant(metric.median),
    }
}

/// A count with a unit, so that it stays short: `1.2k`.
fn count(value: f64) -> String {
    match value {
        below if below < 999.5 => format!("{value:.0}"),
        below if below < 9_950.0 => format!("{:.1}k", value / 1e3),
        below if below < 999_500.0 => format!("{:.0}k", value / 1e3),
        _ => format!("{:.1}M", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        for (value, expected) in
            [(1.0, "1"), (999.0, "999"), (1_200.0, "1.2k"), (45_678.0, "46k"), (2.3e6, "2.3M")]
        {
            assert_eq!(count(value), expected);
        }
    }

    #[test]
    fn every_scenario_has_a_layout() {
        let own_tables = ["uncontended", "throughput", "wait", "idle"];
        for workload in crate::workload::WORKLOADS {
            let laid_out = LAYOUTS.iter().any(|layout| layout.workload == workload.name);
            assert!(laid_out != own_tables.contains(&workload.name), "{}", workload.name);
        }
    }
}
