//! The tables of workloads that ask what happens between threads: handoffs, capture, starvation,
//! too many threads, and threads that wait for each other.

use super::threads::{self, Column, Layout};
use super::{marked, new_table, right_align};
use crate::numbers::terminal::{
    count, millions, milliseconds, ratio, significant, thousands, time,
};
use crate::results::{Better, Report, Series};
use crate::workload::NOTIFY;

pub(super) fn tables(report: &Report, colour: bool) -> Vec<(String, String)> {
    let of = |workload: &str| -> Vec<&Series> {
        report.series.iter().filter(|series| series.workload == workload).collect()
    };
    let mut tables = Vec::new();
    let handoffs = of("handoff");
    if !handoffs.is_empty() {
        tables.push((
            "handoff: from one thread's unlock to another's acquisition".to_owned(),
            handoff_table(&handoffs, colour),
        ));
    }
    for (situation, series) in situations(&of("capture"), true) {
        tables.push((
            format!("capture: acquisitions in a row, those passing a waiter by; {situation}"),
            metrics_table(&series, CAPTURE, colour),
        ));
    }
    for (situation, series) in situations(&of("starve"), true) {
        let table = metrics_table(&series, STARVE, colour);
        let note = "longest: without the lock; starved: windows of 50 ms without it";
        tables.push((format!("starve: {situation}"), format!("{table}\n{note}")));
    }
    for (workload, what, layout) in BY_THREADS {
        for (situation, series) in situations(&of(workload), false) {
            tables.push((
                format!("{workload}: {what}{situation}"),
                threads::table(&series, layout, colour),
            ));
        }
    }
    for (workload, what, columns) in [
        ("producer_consumer", "thousand items/s, and their cost", ITEMS),
        ("recovery", "thousand items/s after all threads slept, and before", RECOVERY),
    ] {
        for (situation, series) in situations(&of(workload), true) {
            let table = metrics_table(&series, columns, colour);
            tables.push((format!("{workload}: {what}\n{situation}"), table));
        }
    }
    tables
}

const CAPTURE: &[Column] = &[
    ("M/s", "throughput", millions),
    ("mean row", "streak_mean", count),
    ("p50", "streak_p50", count),
    ("p99", "streak_p99", count),
    ("max", "streak_max", count),
    ("passed p50", "passed_p50", count),
    ("p99", "passed_p99", count),
    ("max", "passed_max", count),
];

const STARVE: &[Column] = &[
    ("longest", "longest_gap", milliseconds),
    ("starved", "starved_windows", ratio),
    ("share", "share", ratio),
    ("M/s", "throughput", millions),
    ("cpu/op", "cpu_per_op", time),
    ("cpus", "running", ratio),
];

const ITEMS: &[Column] = &[
    ("k/s", "throughput", thousands),
    ("cpu/item", "cpu_per_op", time),
    ("waits", "waits", significant),
    ("sleeps", "voluntary_switches", significant),
    ("preempt", "involuntary_switches", significant),
    ("cpus", "running", ratio),
    ("share", "share", ratio),
];

const RECOVERY: &[Column] = &[
    ("k/s", "throughput", thousands),
    ("before", "fresh", thousands),
    ("ratio", "recovered", ratio),
    ("cpu/item", "cpu_per_op", time),
    ("waits", "waits", significant),
    ("sleeps", "voluntary_switches", significant),
    ("cpus", "running", ratio),
];

/// Workloads that are shown by threads: name, what the columns are, and the layout.
const BY_THREADS: &[(&str, &str, &Layout)] = &[
    (
        "oversubscribed",
        "million pairs/s by threads",
        &Layout {
            metric: ("throughput", 1e-6),
            others: 0,
            role: "threads",
            most: 3,
            extras: &[
                ("share", "share", ratio),
                ("cpu/op", "cpu_per_op", time),
                ("sleeps", "voluntary_switches", significant),
                ("preempt", "involuntary_switches", significant),
                ("cpus", "running", ratio),
            ],
            note: "share, CPU time and context switches per pair, CPUs busy",
        },
    ),
    (
        "condvar",
        "thousand wakeups/s by workers; tst-cond18",
        &Layout {
            metric: ("throughput", 1e-3),
            others: 1,
            role: "workers",
            most: 5,
            extras: &[
                ("server", "server_loops", thousands),
                ("share", "share", ratio),
                ("cpu/op", "cpu_per_op", time),
                ("cpus", "running", ratio),
            ],
            note: "server (thousand loops/s), share, CPU time per wakeup, CPUs busy",
        },
    ),
    (
        "chan",
        "million sends and receives/s by threads",
        &Layout {
            metric: ("throughput", 1e-6),
            others: 0,
            role: "threads",
            most: 5,
            extras: &[
                ("ns/op", "op", significant),
                ("share", "share", ratio),
                ("cpu/op", "cpu_per_op", time),
                ("cpus", "running", ratio),
            ],
            note: "time, share and CPU time per operation, CPUs busy",
        },
    ),
    (
        "collision",
        "ns for lock + unlock by threads parked at another lock",
        &Layout {
            metric: ("pair", 1.0),
            others: 1,
            role: "parked",
            most: 6,
            extras: &[("cpu/op", "cpu_per_op", time), ("cpus", "running", ratio)],
            note: "CPU time per pair, CPUs that the one thread kept busy",
        },
    ),
];

/// Series of one situation together, with the words that tell it from others.
pub(super) fn situations<'a>(
    series: &[&'a Series],
    by_threads: bool,
) -> Vec<(String, Vec<&'a Series>)> {
    let mut groups: Vec<(String, Vec<&'a Series>)> = Vec::new();
    for &one in series {
        let words = situation(one, by_threads);
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, members)) => members.push(one),
            None => groups.push((words, vec![one])),
        }
    }
    groups
}

/// Behind a table's title if threads are its columns, else its title.
fn situation(series: &Series, by_threads: bool) -> String {
    let param = |name: &str| series.params.get(name);
    let mut words = Vec::new();
    if by_threads {
        words.push(format!("{} threads", series.threads));
    }
    if let Some(capacity) = param("capacity") {
        words.push(format!("capacity {capacity}"));
    }
    if NOTIFYING.contains(&&*series.workload) {
        words.push(notified(series).to_owned());
    }
    if let Some(priority) = param("priority") {
        words.push(format!("priority {priority}"));
    }
    if let (Some(section), Some(outside)) = (param("section_ns"), param("outside_ns"))
        && (section, outside) != (&"0".to_owned(), &"0".to_owned())
    {
        words.push(format!("{section} ns inside, {outside} outside"));
    }
    match (by_threads, words.is_empty()) {
        (false, false) => format!(", {}", words.join(", ")),
        _ => words.join(", "),
    }
}

/// The workloads whose threads notify others, inside the critical section or after the unlock.
const NOTIFYING: [&str; 3] = ["condvar", "producer_consumer", "recovery"];

/// When they did. Inside has no parameter.
fn notified(series: &Series) -> &'static str {
    if series.params.contains_key(NOTIFY) { "notified after the unlock" } else { "notified inside" }
}

/// One row for each lock, the best of the first column that has a better and a worse on top.
pub(super) fn metrics_table(series: &[&Series], columns: &[Column], colour: bool) -> String {
    let mut rows = series.to_vec();
    if let Some((_, metric, _)) = columns.first() {
        let key = |series: &Series| match series.metric(metric) {
            Some(metric) if metric.better == Better::Higher => -metric.median,
            Some(metric) => metric.median,
            None => f64::INFINITY,
        };
        rows.sort_by(|one, other| key(one).total_cmp(&key(other)));
    }
    let mut header = vec!["lock"];
    header.extend(columns.iter().map(|(title, ..)| *title));
    let mut table = new_table(&header, colour);
    for one in rows {
        let mut row = vec![marked(&one.lock, one.partial)];
        row.extend(columns.iter().map(|(_, metric, shown)| {
            one.metric(metric).map_or("-".to_owned(), |metric| shown(metric.median))
        }));
        table.add_row(row);
    }
    right_align(&mut table, &(1..header.len()).collect::<Vec<_>>());
    table.trim_fmt()
}

/// Handoffs of the three patterns side by side.
fn handoff_table(series: &[&Series], colour: bool) -> String {
    const PATTERNS: [&str; 3] = ["solo", "fast", "slow"];
    let of = |lock: &str, pattern: &str| {
        series.iter().copied().find(|one| {
            one.lock == lock && one.params.get("pattern").is_some_and(|word| word == pattern)
        })
    };
    let median = |lock: &str, pattern: &str| {
        of(lock, pattern).and_then(|one| one.metric("handoff")).map(|metric| metric.median)
    };
    let mut names: Vec<&str> = Vec::new();
    for one in series {
        if !names.contains(&one.lock.as_str()) {
            names.push(&one.lock);
        }
    }
    names.sort_by(|one, other| {
        let key = |lock| median(lock, "slow").unwrap_or(f64::INFINITY);
        key(one).total_cmp(&key(other))
    });
    let header = ["lock", "solo", "fast", "p99", "slow", "p99", "slow cpu"];
    let mut table = new_table(&header, colour);
    for name in names {
        let shown = |pattern: &str| median(name, pattern).map_or("-".to_owned(), time);
        let worst = |pattern: &str| {
            of(name, pattern)
                .and_then(|one| one.distribution.as_ref())
                .and_then(|times| times.percentiles.iter().find(|(p, _)| (p - 99.0).abs() < 1e-9))
                .map_or("-".to_owned(), |&(_, nanos)| time(nanos as f64))
        };
        let cpu = of(name, "slow").and_then(|one| one.metric("cpu_per_op"));
        let [solo, fast, slow] = PATTERNS.map(shown);
        let partial = series.iter().any(|one| one.lock == name && one.partial);
        table.add_row([
            marked(name, partial),
            solo,
            fast,
            worst("fast"),
            slow,
            worst("slow"),
            cpu.map_or("-".to_owned(), |cpu| time(cpu.median)),
        ]);
    }
    right_align(&mut table, &[1, 2, 3, 4, 5, 6]);
    table.trim_fmt()
}
