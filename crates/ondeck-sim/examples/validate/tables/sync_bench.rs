//! synchronization-benchmarks: one lock, no work outside, 1 to 384 tasks.

use crate::case::{Bench, Case, Cpus, Table};
use crate::copied::{Origin, Published};
use crate::published::{Row, rows};
use crate::shapes::batch::{BATCH, Batch};
use crate::subject::Shape;

const TEXT: &str = include_str!("../../../../../docs/published/sync-bench-2026.csv");

pub(super) fn table() -> Table {
    let all = rows(TEXT);
    let of_use = |row: &&Row| {
        row.get("metric") == "p50_per_acquire" && row.get("flag") == "ok" && bench(row).is_some()
    };
    let cases = all.iter().filter(of_use).filter_map(|row| {
        let bench = bench(row)?;
        let ours = lock(row.get("lock"))?;
        // The source's waiters poll 100 times on ARM, the zoo's 1,000 times.
        if ours == "swift_pi" && row.get("machine").starts_with("aarch64") {
            return None;
        }
        let tasks = row.number("tasks") as u32;
        let update = update(&all, row.get("machine"), row.get("lock"), bench)?;
        let batch = Batch {
            tasks: tasks.into(),
            acquisitions: acquisitions(ours),
            update: update * (1.0 - OUTSIDE),
            outside: update * OUTSIDE,
            ..Batch::default()
        };
        let table = row
            .get("table")
            .replace("ContentionScaling", "scaling")
            .replace("ParkingLot", "parking_lot");
        let cpuset = if row.get("cpuset") == "all" {
            String::new()
        } else {
            format!(", {}", row.get("cpuset"))
        };
        Some(Case {
            series: format!("{}{cpuset}, {table}", row.get("machine")),
            lock: row.get("lock"),
            published: Published {
                origin: origin(row),
                workload: String::new(),
                ours,
                threads: tasks,
                value: row.number("value"),
            },
            bench,
            shape: Shape::Batch(batch),
            fitted: is_fitted(row),
            repeats: "",
        })
    });
    Table {
        name: "sync-bench",
        source: "Sarunas (Ordo One), synchronization-benchmarks, ContentionScaling and ParkingLot (2026)",
        unit: Some("ns"),
        note: "Fitted: the length of an update, to the rows with one task; the part of it outside the section, to Optimal v2 \
               with 16 tasks on the i5-12500; and what the machine files mark. Left out: rows that the table's head \
               calls suspect, among them all of the M4 Pro.",
        cases: cases.collect(),
        others: Vec::new(),
    }
}

/// The part of a task's own time for an acquisition that is between an unlock and the next lock: the loop, and the
/// calls of lock and unlock. Fitted to Optimal v2 with 16 tasks on the i5-12500.
pub const OUTSIDE: f64 = 0.3;

/// Whether the row determined lengths.
pub(super) fn is_fitted(row: &Row) -> bool {
    let of_outside = row.get("machine") == "x86 12c" && row.get("lock").starts_with("Optimal v2");
    row.get("tasks") == "1" || of_outside && row.get("tasks") == "16"
}

/// The machine of the row, with the CPUs that its program had.
pub(super) fn origin(row: &Row) -> Origin {
    Origin { name: row.get("machine"), cpus: row.number("cpus") as u32 }
}

/// Acquisitions of a batch: fewer than in the source for a lock whose waiters poll a thousand times each.
pub fn acquisitions(ours: &str) -> u64 {
    if ours == "swift_pi" { BATCH / 5 } else { BATCH }
}

/// The lock of the zoo that stands for a lock of the source.
pub fn lock(name: &str) -> Option<&'static str> {
    let (head, _) = name.split_once(" (").unwrap_or((name, ""));
    Some(match head {
        "Optimal v1" => "swift_optimal_v1",
        "Optimal v2" => "swift_optimal_v2",
        "RustMutex" | "RustStdMutex" => "rust_std",
        "NIOLock" => "glibc_normal",
        "Swift stdlib PI futex" => "swift_pi",
        "parking_lot" => "parking_lot_swift",
        _ => return None,
    })
}

/// Where a row was measured.
fn bench(row: &Row) -> Option<Bench> {
    let whole = bench_of(row.get("machine"))?;
    Some(match row.get("cpuset") {
        "all" => whole,
        "NUMA node 0" => Bench { cpus: Cpus::FirstSocket, ..whole },
        _ => Bench { cpus: Cpus::First(row.number("cpus") as usize), ..whole },
    })
}

/// The machine of that name, with the CPUs that the source counts.
pub(super) fn bench_of(machine: &str) -> Option<Bench> {
    Some(match machine {
        "x86 12c" => Bench::of("i5-12500"),
        "x86 40c" => Bench::with("xeon-gold-6148x2", Cpus::Cores),
        "x86 44c" => Bench::with("xeon-e5-2699v4x2", Cpus::Cores),
        "x86 64c" => Bench::of("epyc-9454p-64"),
        "aarch64 18c" => Bench::with("m1-ultra-wfe", Cpus::First(18)),
        _ => return None,
    })
}

/// Nanoseconds of an update without its lines: the time of one task for an acquisition, minus the lock's own.
pub(super) fn update(all: &[Row], machine: &str, lock: &str, bench: Bench) -> Option<f64> {
    let alone = |row: &&Row| {
        row.get("machine") == machine
            && row.get("metric") == "p50_per_acquire"
            && row.get("flag") == "ok"
            && row.get("cpuset") == "all"
            && row.get("tasks") == "1"
    };
    let same = |row: &&Row| self::lock(row.get("lock")) == self::lock(lock);
    let published: Vec<f64> =
        all.iter().filter(alone).filter(same).map(|row| row.number("value")).collect();
    let alone = crate::stats::median(published)?;
    let costs = bench.costs();
    // The first CPU is of the fast cores, on which a task alone runs.
    let class = &costs.classes[costs.places[0].class];
    let own = (2 * class.rmw + 3 * class.hit) as f64 / 1_000.0;
    Some((alone - own).max(1.0))
}

/// The rows, for other tables of the same source.
pub(super) fn all() -> Vec<Row> {
    rows(TEXT)
}
