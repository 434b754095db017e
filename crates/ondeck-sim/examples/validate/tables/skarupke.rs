//! Skarupke's longest waits, longest idle times, and lengths of runs.

use crate::case::{Bench, Case, Cpus, Table};
use crate::copied::{Origin, Published};
use crate::published::rows;
use crate::shapes::counter::Timed;
use crate::subject::Shape;
use ondeck_sim::machine::Policy;

const SOURCE: &str = "Malte Skarupke, \"Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is\" (2020)";

pub(super) fn runs() -> Table {
    Table {
        name: "skarupke",
        source: SOURCE,
        unit: Some("ms"),
        note: "Nothing fitted. The mean length of a run. Left out: the schedulers MuQSS and BMQ.",
        cases: cases("run", Shape::Length, "avg_duration_ms"),
        others: Vec::new(),
    }
}

pub(super) fn longest() -> Table {
    Table {
        name: "skarupke-longest",
        source: SOURCE,
        unit: Some("ms"),
        note: "Nothing fitted. The longest time of 100 or 1,000 runs and, simulated, of one. Left out: the schedulers MuQSS \
               and BMQ.",
        cases: cases("longest", Shape::Longest, "top1_ms"),
        others: Vec::new(),
    }
}

fn cases(what: &str, shape: fn(Timed) -> Shape, column: &str) -> Vec<Case> {
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
            series: format!("{scheduler}, {metric}: {what}"),
            lock,
            published: Published {
                // The table has one machine: its other scheduler stands for a second one.
                origin: Origin { name: scheduler, cpus: 16 },
                workload: metric.into(),
                ours: if lock == "std_mutex" { "glibc_normal" } else { lock },
                threads: 16,
                value: row.number(column),
            },
            bench: Bench { machine: "ryzen-7-1700", cpus: Cpus::All, policy },
            shape: shape(timed),
            fitted: false,
            repeats: "",
        })
    });
    cases.collect()
}
