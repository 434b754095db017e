//! parking_lot's own benchmark of mutexes and matklad's lock-bench, as users reported them.

use crate::case::{Bench, Case, Cpus, Table};
use crate::published::rows;
use crate::shapes::many::Many;
use crate::shapes::window::Window;
use crate::subject::Shape;
use ondeck_sim::machine::Policy;

/// A step of parking_lot's benchmark: an addition and a multiplication that depend on each other, 8 cycles.
const STEP: f64 = 2.1;

/// Nanoseconds of a run.
const LENGTH: f64 = 5_000_000.0;

pub(super) fn table() -> Table {
    let published = rows(include_str!("../../../../../docs/published/parking-lot-issues.csv"));
    let cases = published.iter().filter_map(|row| {
        let (machine, metric) = (row.get("machine"), row.get("metric"));
        let is_pthread = row.get("version").contains("pthread");
        let ours = ours(row.get("lock"), machine, is_pthread)?;
        let threads = row.number("threads") as u32;
        let (bench, shape, published, series) = match (machine, metric) {
            ("Intel i9-10980XE", "average_per_thread") => {
                let window = Window {
                    threads: threads as usize,
                    section: 5.0 * STEP,
                    outside: 5.0 * STEP,
                    beside: true,
                    lines: 0,
                    length: LENGTH,
                };
                let per_second = row.number("value") * 1e3 * f64::from(threads);
                (
                    Bench::of("i9-10980xe"),
                    Shape::Window(window),
                    1e9 / per_second,
                    "mutex bench".into(),
                )
            }
            ("AMD Ryzen 7 1800X", "avg_round") => {
                let locks = row.number("locks") as usize;
                let bench = Bench {
                    machine: "ryzen-7-1700",
                    cpus: Cpus::All,
                    policy: Some(Policy::Windows),
                };
                let series = format!("lock-bench, {locks} locks");
                (bench, Shape::Many(Many { locks }), row.number("value") * 1e6 / 320_000.0, series)
            }
            _ => return None,
        };
        Some(Case {
            series: format!("{machine}, {series}"),
            threads,
            lock: row.get("lock"),
            ours,
            bench,
            shape,
            published,
            fitted: false,
            runs: 1,
        })
    });
    Table {
        name: "parking-lot",
        source: "GitHub issues of Amanieu/parking_lot (338, 201 and others), and matklad/lock-bench",
        unit: "ns",
        note: "Nothing fitted. Numbers are nanoseconds for an operation of all threads. Left out: machines without a \
               file here. The Ryzen 7 1800X stands on the file of the 1700.",
        order_only: false,
        cases: cases.collect(),
    }
}

fn ours(lock: &str, machine: &str, is_pthread: bool) -> Option<&'static str> {
    Some(match lock {
        "pthread_mutex_t" => "glibc_normal",
        "std::sync::Mutex" if machine.contains("1800X") => "srw_list",
        "std::sync::Mutex" if is_pthread => "glibc_normal",
        "std::sync::Mutex" => "rust_std",
        "parking_lot::Mutex" => "parking_lot_port",
        "spin::Mutex" => "spinlock",
        "AmdSpinlock" => "spinlock_amd",
        _ => return None,
    })
}
