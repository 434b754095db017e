//! The laboratory's own `throughput`, measured on a virtual machine with two CPUs.

use crate::case::{Bench, Case, Table};
use crate::copied::{Origin, Published};
use crate::published::{Row, rows};
use crate::shapes::window::Window;
use crate::subject::Shape;

pub(super) fn table() -> Table {
    let measured = rows(include_str!("../../../../../docs/published/lab-amd-epyc-2.csv"));
    let other = rows(include_str!("../../../../../docs/published/lab-intel-xeon-2.csv"));
    let cases = measured.iter().filter_map(|row| {
        let ours = ours(row.get("lock"))?;
        let threads = row.number("threads") as u32;
        let (section, outside) = (row.number("section_ns"), row.number("outside_ns"));
        let window = Window {
            threads: threads as usize,
            section: section * FACTOR,
            outside: outside * FACTOR,
            beside: false,
            lines: 0,
            // Several slices of the scheduler, and enough pairs.
            length: if threads > 2 { 100_000_000.0 } else { 5_000_000.0 },
        };
        Some(Case {
            series: format!("2 CPUs, {section} ns inside, {outside} ns outside"),
            lock: row.get("lock"),
            published: published(row, MEASURED, ours),
            bench: Bench::of(MEASURED),
            shape: Shape::Window(window),
            fitted: threads == 1,
            repeats: "",
        })
    });
    Table {
        name: "lab",
        source: "docs/results/amd-epyc-2: `ondeck bench` on a virtual machine with two CPUs of an AMD EPYC",
        unit: Some("ns"),
        note: "Fitted: work, which takes 3 % longer than asked for, to the rows with one thread. The machine's \
               file was written by `ondeck costs`.",
        cases: cases.collect(),
        others: other
            .iter()
            .filter_map(|row| Some(published(row, "intel-xeon-2", ours(row.get("lock"))?)))
            .collect(),
    }
}

/// The machine that was measured, and its file.
const MEASURED: &str = "amd-epyc-2";

/// A row of that machine.
fn published(row: &Row, machine: &'static str, ours: &'static str) -> Published {
    Published {
        origin: Origin { name: machine, cpus: 2 },
        workload: format!("{}, {}", row.get("section_ns"), row.get("outside_ns")),
        ours,
        threads: row.number("threads") as u32,
        value: row.number("ns_per_pair"),
    }
}

/// The ratio of the laboratory's actual work to its nominal length.
const FACTOR: f64 = 1.03;

fn ours(lock: &str) -> Option<&'static str> {
    Some(match lock {
        "ondeck" => "ondeck",
        "spinlock" => "spinlock",
        "std" => "rust_std",
        "glibc" => "glibc_normal",
        "parking_lot" => "parking_lot_port",
        _ => return None,
    })
}
