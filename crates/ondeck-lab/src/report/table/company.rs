//! The tables of workloads that have more around the lock than threads that want it.

use super::across;
use super::contention::{metrics_table, situations};
use super::threads::Column;
use crate::numbers::terminal::{millions, milliseconds, ratio, significant, time};
use crate::results::{Report, Series};

pub(super) fn tables(report: &Report, colour: bool) -> Vec<(String, String)> {
    let of = |workload: &str| -> Vec<&Series> {
        report.series.iter().filter(|series| series.workload == workload).collect()
    };
    let mut tables = Vec::new();
    for (workload, what, columns, note) in IN_COLUMNS {
        for (situation, series) in situations(&of(workload), true) {
            let table = metrics_table(&series, columns, colour);
            tables.push((format!("{workload}: {what}\n{situation}"), format!("{table}\n{note}")));
        }
    }
    let param = |series: &Series, name: &str| series.params.get(name).cloned().unwrap_or_default();
    let arrays = of("many_locks");
    let label = |series: &Series| {
        let padded = if param(series, "padded") == "yes" { " padded" } else { "" };
        format!("{}{padded}", param(series, "locks"))
    };
    for (threads, series) in by_threads(&arrays) {
        tables.push((
            format!("many_locks: million pairs/s by locks; {threads} threads"),
            across::table(&series, ("throughput", 1e-6), label, colour),
        ));
        tables.push((
            "many_locks: KiB of locks and what they guard".to_owned(),
            across::table(&series, ("footprint", 1.0 / 1024.0), label, colour),
        ));
    }
    for (threads, series) in by_threads(&of("real")) {
        tables.push((
            format!("real: million operations/s by program; {threads} threads"),
            across::table(&series, ("throughput", 1e-6), |series| param(series, "app"), colour),
        ));
    }
    tables
}

/// Workloads with one table for each situation: name, what it shows, columns, and what they are.
const IN_COLUMNS: &[(&str, &str, &[Column], &str)] = &[
    (
        "bystander",
        "a matrix multiply beside threads at the lock",
        &[
            ("slowdown", "slowdown", ratio),
            ("runnable", "runnable", ratio),
            ("M/s", "throughput", millions),
            ("cpu/op", "cpu_per_op", time),
            ("sleeps", "voluntary_switches", significant),
            ("preempt", "involuntary_switches", significant),
            ("cpus", "running", ratio),
        ],
        "slowdown: alone / beside; runnable: threads that want a CPU; cpus: that have one",
    ),
    (
        "background",
        "low priority work beside the lock",
        &[
            ("done", "filled", ratio),
            ("M/s", "throughput", millions),
            ("kept", "kept", ratio),
            ("longest", "longest", milliseconds),
            ("without", "longest_alone", milliseconds),
            ("runnable", "runnable", ratio),
            ("cpu/op", "cpu_per_op", time),
            ("cpus", "running", ratio),
        ],
        "done: of what is done alone; kept: throughput with / without; longest wait",
    ),
    (
        "mixed_priority",
        "an owner below a hog below a waiter, on one CPU",
        &[
            ("longest", "longest", milliseconds),
            ("inverted", "inverted", ratio),
            ("bursts", "bursts", significant),
            ("rescued", "rescued", ratio),
            ("sleeps", "voluntary_switches", significant),
        ],
        "of trials: the hog ran between owner and waiter; its pieces; ended from outside",
    ),
];

/// Series with as many threads together.
fn by_threads<'a>(series: &[&'a Series]) -> Vec<(usize, Vec<&'a Series>)> {
    let mut counts: Vec<usize> = series.iter().map(|one| one.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let of = |threads: usize| series.iter().copied().filter(|one| one.threads == threads).collect();
    counts.into_iter().map(|threads| (threads, of(threads))).collect()
}
