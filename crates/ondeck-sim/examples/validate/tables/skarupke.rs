//! Skarupke's longest waits and longest idle times.

use crate::case::{Bench, Case, Cpus, Table};
use crate::published::rows;
use crate::shapes::counter::Timed;
use crate::subject::Shape;
use ondeck_sim::machine::Policy;

/// Runs whose longest time is taken; the source makes 100 and 1,000.
const RUNS: u64 = 1;

pub(super) fn table() -> Table {
    let published = rows(include_str!("../../../../../docs/published/skarupke-ryzen7-1700.csv"));
    let mut cases = Vec::new();
    for row in &published {
        let policy = match row.get("scheduler") {
            "linux-cfs" => None,
            "linux-sched_rr" => Some(Policy::RoundRobin),
            "windows" => Some(Policy::Windows),
            _ => continue,
        };
        let lock = row.get("lock");
        let ours = if lock == "std_mutex" { "glibc_normal" } else { lock };
        let timed = if row.get("metric") == "wait" { Timed::Wait } else { Timed::Idle };
        let bench = Bench { machine: "ryzen-7-1700", cpus: Cpus::All, policy };
        let place = format!("{}, {}", row.get("scheduler"), row.get("metric"));
        let mut add = |what: &str, shape, column: &str, runs| {
            cases.push(Case {
                series: format!("{place}: {what}"),
                threads: 16,
                lock,
                ours,
                bench,
                shape,
                published: row.number(column),
                fitted: false,
                runs,
            });
        };
        add("run", Shape::Length(timed), "avg_duration_ms", 1);
        add("longest", Shape::Longest(timed), "top1_ms", RUNS);
    }
    Table {
        name: "skarupke",
        source: "Malte Skarupke, \"Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is\" (2020)",
        unit: "ms",
        note: "Nothing fitted. `run` is the mean length of a run, `longest` the longest time of 100 or 1,000 runs and, \
               simulated, of one. Left out: the schedulers MuQSS and BMQ.",
        order_only: false,
        cases,
    }
}
