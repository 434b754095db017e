//! Go's issue 68578: BenchmarkChanContended.

use crate::case::{Bench, Case, Table};
use crate::copied::{Origin, Published};
use crate::published::rows;
use crate::shapes::channel::Channel;
use crate::subject::Shape;

/// Turns of each thread: enough for a steady rate.
const TURNS: u64 = 40;

/// Sends and receives in the benchmark's operation.
const PAIRS: f64 = 200.0;

pub(super) fn table() -> Table {
    let published = rows(include_str!("../../../../../docs/published/go-chancontended.csv"));
    let cases = published.iter().filter(|row| row.get("machine") == "i7-13700H").map(|row| {
        let lock = row.get("lock");
        let ours = if lock == "spinbit" { "go_spinbit_first" } else { "go_three_state" };
        let alone =
            published.iter().find(|one| one.get("lock") == lock && one.get("threads") == "1");
        let alone = alone.map_or(0.0, |row| row.number("us_per_op")) * 1_000.0 / PAIRS;
        let threads = row.number("threads") as u32;
        let channel = Channel {
            threads: threads.into(),
            turns: TURNS,
            section: self::section(alone),
            outside: self::outside(alone),
        };
        Case {
            series: "i7-13700H".into(),
            lock,
            published: Published {
                origin: Origin { name: "i7-13700H", cpus: 20 },
                workload: String::new(),
                ours,
                threads,
                value: row.number("us_per_op"),
            },
            bench: Bench::of("i7-13700h"),
            shape: Shape::Channel(channel),
            fitted: threads == 1,
            repeats: "",
        }
    });
    Table {
        name: "go",
        source: "Rhys Hiltner and others, \"runtime: improve scaling of lock2\", Go issue 68578 (2024)",
        unit: Some("µs"),
        note: "Fitted: the length of a send or receive, to the rows with one thread; the machine file's times of \
               transfers, to the three-state lock. spinbit is simulated as the proposal's model has it, and was \
               measured in an earlier version. The M1's rows are left out: macOS has another lock, by semaphores.",
        cases: cases.collect(),
        others: Vec::new(),
    }
}

/// The cost of a lock and an unlock alone on the machine: two read-modify-writes and three hits.
const LOCK: f64 = 14.0;

/// Half of the rest of a pair is inside.
fn section(alone: f64) -> f64 {
    (alone - LOCK).max(0.0) / 2.0
}

fn outside(alone: f64) -> f64 {
    (alone - LOCK).max(0.0) / 2.0
}
