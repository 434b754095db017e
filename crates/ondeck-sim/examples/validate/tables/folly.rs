//! folly's SmallLocksBenchmark: `contended` and `contended_simple`.

use crate::case::{Bench, Case, Table};
use crate::copied::{Origin, Published};
use crate::published::rows;
use crate::shapes::steps::Steps;
use crate::subject::Shape;

/// Operations of each thread.
pub const OPERATIONS: u64 = 300;

/// Steps inside in `contended`.
pub const INSIDE: f64 = 100.0;
/// Steps outside.
pub const OUTSIDE: f64 = 1_000.0;

pub(super) fn table() -> Table {
    let published = rows(include_str!("../../../../../docs/published/folly-small-locks.csv"));
    let of_use = published.iter().filter(|row| row.get("metric") == "time_per_op_and_thread");
    let machine = "xeon-e5-2680v4x2";
    let bench = Bench::of(machine);
    let costs = bench.costs();
    // The source's threads share their cores.
    let speed = costs.classes[0].smt_speed;
    let cases = of_use.clone().filter_map(|row| {
        let (kind, lock) = (row.get("bench"), row.get("lock"));
        let ours = ours(lock)?;
        let threads_param = row.number("threads_param") as u32;
        let simple = kind == "contended_simple";
        let alone: Vec<f64> = of_use
            .clone()
            .filter(|one| one.get("threads_param") == "1" && one.get("bench") == kind)
            .filter(|one| self::ours(one.get("lock")).is_some())
            .map(|one| one.number("value"))
            .collect();
        let alone = crate::stats::median(alone)?;
        let step = (alone - own(&costs)) / (OUTSIDE + if simple { 0.0 } else { INSIDE }) * speed;
        let steps = Steps {
            threads_param: threads_param as usize,
            operations: OPERATIONS,
            section: if simple { 0.0 } else { INSIDE * step },
            outside: OUTSIDE * step,
            simple,
        };
        Some(Case {
            series: format!("E5-2680 v4 x 2, {kind}"),
            lock,
            published: Published {
                // The table has one machine: its other benchmark stands for a second one.
                origin: Origin { name: kind, cpus: 56 },
                workload: String::new(),
                ours,
                threads: threads_param,
                value: row.number("value"),
            },
            bench,
            shape: Shape::Steps(steps),
            fitted: threads_param == 1,
            repeats: "",
        })
    });
    Table {
        name: "folly",
        source: "Aaryaman Sagar and others, folly/synchronization/test/SmallLocksBenchmark.cpp (2019)",
        unit: Some("ns"),
        note: "Fitted: the length of a step, to the median of the rows with one thread a lock. Left out: what is no \
               lock, and locks that the zoo does not have.",
        cases: cases.collect(),
        others: Vec::new(),
    }
}

/// The time of lock, unlock and counter alone.
fn own(costs: &ondeck_sim::engine::Costs) -> f64 {
    let class = &costs.classes[0];
    (2 * class.rmw + 2 * class.hit) as f64 / 1_000.0
}

/// The lock of the zoo that stands for a lock of the source.
pub fn ours(lock: &str) -> Option<&'static str> {
    Some(match lock {
        "std_mutex" => "glibc_normal",
        "folly_microspin" => "folly_microspin",
        "folly_picospin" => "folly_picospin",
        "folly_microlock" => "folly_microlock",
        "folly_distributedmutex" => "folly_distributed",
        _ => return None,
    })
}
