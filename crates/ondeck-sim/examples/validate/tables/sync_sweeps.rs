//! synchronization-benchmarks: further sweeps of section, work outside, and calibrated nanoseconds.

use crate::case::{Bench, Case, Table};
use crate::copied::Published;
use crate::published::{Row, rows};
use crate::shapes::batch::{Batch, Updates};
use crate::subject::Shape;

use super::sync_bench;

pub(super) fn table() -> Table {
    let base = sync_bench::all();
    let published = rows(include_str!("../../../../../docs/published/sync-bench-2026-sweeps.csv"));
    let cases =
        published.iter().filter(|row| row.get("metric") == "p50_per_acquire").filter_map(|row| {
            let bench = sync_bench::bench_of(row.get("machine"))?;
            let tasks = row.number("tasks") as u32;
            let update = sync_bench::update(&base, row.get("machine"), row.get("lock"), bench)?;
            let batch = batch(row, update, bench)?;
            // The loop and the calls take as long as in sync-bench, because the program is the same.
            let outside = batch.outside + update * sync_bench::OUTSIDE;
            let update = batch.update * (1.0 - sync_bench::OUTSIDE);
            let ours = sync_bench::lock(row.get("lock"))?;
            let acquisitions = sync_bench::acquisitions(ours);
            let workload = format!("{} {}", row.get("table"), row.get("workload"));
            // The workload of sync-bench, measured on another day.
            let is_repeat = row.get("workload") == "work=1 pause=0";
            Some(Case {
                series: format!("{}, {workload}", row.get("machine")),
                lock: row.get("lock"),
                published: Published {
                    origin: sync_bench::origin(row),
                    workload,
                    ours,
                    threads: tasks,
                    value: row.number("value"),
                },
                bench,
                shape: Shape::Batch(Batch {
                    tasks: tasks.into(),
                    acquisitions,
                    update,
                    outside,
                    ..batch
                }),
                fitted: is_repeat && sync_bench::is_fitted(row),
                repeats: if is_repeat { "sync-bench" } else { "" },
            })
        });
    Table {
        name: "sync-sweeps",
        source: "Sarunas (Ordo One), synchronization-benchmarks, HoldTime, ContentionRatio and NanosecondContention (2026)",
        unit: Some("ns"),
        note: "Nothing fitted here: updates, and the loop and the calls between them, are as long as in sync-bench. One update \
               inside and none outside are the workload of sync-bench: what is fitted to that table's row is fitted to these. \
               Left out: owners that sleep, where all locks take what the sleep takes, and background load.",
        cases: cases.collect(),
        others: Vec::new(),
    }
}

/// The batch of a row; `None` if the row is left out.
fn batch(row: &Row, update: f64, bench: Bench) -> Option<Batch> {
    let workload = row.get("workload");
    let number = |name: &str| -> Option<f64> {
        let (_, after) = workload.split_once(name)?;
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        after[..end].parse().ok()
    };
    match row.get("table") {
        "HoldTime" if workload.starts_with("bimodal") => {
            let (often, seldom) = (number("(")?, number("/")?);
            let percent = number("@")?;
            let updates = Updates::Now(often as u32, percent as u32, seldom as u32);
            Some(Batch { update, updates, ..Batch::default() })
        }
        "HoldTime" | "ContentionRatio" if workload.starts_with("work") => {
            let updates = Updates::Same(number("work=")? as u32);
            let outside = number("pause=")? * step(bench);
            Some(Batch { update, updates, outside, ..Batch::default() })
        }
        "NanosecondContention" => {
            let (section, outside) = (number("in=")?, number("out=")?);
            Some(Batch { section, outside, updates: Updates::Same(0), ..Batch::default() })
        }
        _ => None,
    }
}

/// A step outside: three dependent pairs of shift and exclusive or, in nanoseconds.
fn step(bench: Bench) -> f64 {
    const CYCLES: f64 = 6.0;
    // The files derive the frequency of all cores from this: a hit takes 4 cycles on AMD, and 5 on Intel.
    let costs = bench.costs();
    let hit = costs.classes[0].hit as f64 / 1_000.0;
    CYCLES * hit / if bench.machine.starts_with("epyc") { 4.0 } else { 5.0 }
}
