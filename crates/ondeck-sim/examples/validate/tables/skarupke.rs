//! How long the runs take in which Skarupke measures the longest waits and the longest idle times.

use crate::case::{Bench, Case, Cpus, Table};
use crate::copied::{Origin, Published};
use crate::published::rows;
use crate::shapes::counter::Timed;
use crate::subject::Shape;
use ondeck_sim::machine::Policy;

pub(super) fn table() -> Table {
    let published = rows(include_str!("../../../../../docs/published/skarupke-ryzen7-1700.csv"));
    let cases = published.iter().filter_map(|row| {
        let scheduler = row.get("scheduler");
        let policy = match scheduler {
            "linux-cfs" => None,
            "linux-sched_rr" => Some(Policy::RoundRobin),
            "windows" => Some(Policy::Windows),
            _ => return None,
        };
        let lock = row.get("lock");
        let metric = row.get("metric");
        let timed = if metric == "wait" { Timed::Wait } else { Timed::Idle };
        Some(Case {
            series: format!("{scheduler}, {metric}: run"),
            lock,
            published: Published {
                // The one machine: another scheduler stands for another one.
                origin: Origin { name: scheduler, cpus: 16 },
                workload: metric.into(),
                ours: if lock == "std_mutex" { "glibc_normal" } else { lock },
                threads: 16,
                value: row.number("avg_duration_ms"),
            },
            bench: Bench { machine: "ryzen-7-1700", cpus: Cpus::All, policy },
            shape: Shape::Length(timed),
            fitted: false,
            repeats: "",
        })
    });
    Table {
        name: "skarupke",
        source: "Malte Skarupke, \"Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is\" (2020)",
        unit: "ms",
        note: "Nothing fitted. The mean length of a run. Left out: the schedulers MuQSS and BMQ.",
        cases: cases.collect(),
        others: Vec::new(),
    }
}
