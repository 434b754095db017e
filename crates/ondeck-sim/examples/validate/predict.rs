//! Predictions for machines that are in no published table here: docs/predictions/. The workloads come from the
//! tables `sync-bench` and `folly`.

use std::fmt::Write;

use super::case::Bench;
use super::shapes::On;
use super::shapes::batch::Batch;
use super::shapes::steps::Steps;
use super::stats::median;
use super::subject::{Shape, measure};
use super::tables;

/// An update on two Xeon 8488C, in nanoseconds: chosen so that one task takes 30, within the 18 to 32 of the
/// table's head.
const UPDATE: f64 = 8.5;

/// A step of folly's loop on the Xeon D-2191, in nanoseconds, with the sibling hyper-thread idle: 1.225 by the table's
/// head with both busy.
const STEP: f64 = 1.225 * 0.62;

/// The machine file of a prediction.
pub fn machine(name: &str) -> Option<&'static str> {
    Some(match name {
        "sync-bench" => "xeon-8488cx2",
        "folly" => "xeon-d-2191",
        _ => return None,
    })
}

/// Returns the prediction as comma-separated rows, each number the median of the seeds 1 to `seeds`; `None` if the name is
/// unknown.
pub fn rows(name: &str, seeds: u64) -> Option<String> {
    let costs = Bench::of(machine(name)?).costs();
    let number = |lock: &str, shape: &Shape| -> Option<f64> {
        let measure = measure(lock)?;
        let on = |seed| On { costs: &costs, cpus: None, seed };
        median((1..=seeds).map(|seed| measure(&on(seed), shape)).collect())
    };
    match name {
        "sync-bench" => sync_bench(&number),
        _ => folly(&number),
    }
}

fn sync_bench(number: &dyn Fn(&str, &Shape) -> Option<f64>) -> Option<String> {
    let mut out = "lock,of_the_zoo,tasks,ns_per_acquire\n".to_owned();
    for lock in ["Optimal v1", "NIOLock (glibc pthread mutex)", "Swift stdlib PI futex"] {
        let ours = tables::sync_bench::lock(lock)?;
        for tasks in [1, 2, 4, 8, 16, 64, 192] {
            let outside = tables::sync_bench::OUTSIDE;
            let batch = Batch {
                tasks,
                acquisitions: tables::sync_bench::acquisitions(ours),
                update: UPDATE * (1.0 - outside),
                outside: UPDATE * outside,
                ..Batch::default()
            };
            // Writing to a string cannot fail.
            _ = writeln!(out, "{lock},{ours},{tasks},{:.1}", number(ours, &Shape::Batch(batch))?);
        }
    }
    Some(out)
}

fn folly(number: &dyn Fn(&str, &Shape) -> Option<f64>) -> Option<String> {
    use tables::folly::{INSIDE, OPERATIONS, OUTSIDE, ours};
    let mut out = "bench,lock,of_the_zoo,threads_param,ns_per_op_and_thread\n".to_owned();
    let locks = [
        "std_mutex",
        "folly_microspin",
        "folly_picospin",
        "folly_microlock",
        "folly_distributedmutex",
    ];
    for (bench, simple) in [("contended", false), ("contended_simple", true)] {
        for lock in locks {
            let ours = ours(lock)?;
            for threads_param in [1, 2, 4, 8, 16, 32, 64, 128] {
                let steps = Steps {
                    threads_param,
                    operations: OPERATIONS,
                    section: if simple { 0.0 } else { INSIDE * STEP },
                    outside: OUTSIDE * STEP,
                    simple,
                };
                let number = number(ours, &Shape::Steps(steps))?;
                _ = writeln!(out, "{bench},{lock},{ours},{threads_param},{number:.0}");
            }
        }
    }
    Some(out)
}
