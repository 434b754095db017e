//! parking_lot's own benchmark of mutexes and matklad's lock-bench, as users reported them.

use crate::case::{Bench, Case, Cpus, Table};
use crate::copied::{Origin, Published};
use crate::published::{Row, rows};
use crate::shapes::many::Many;
use crate::shapes::window::Window;
use crate::subject::Shape;
use ondeck_sim::machine::Policy;

/// A step of parking_lot's benchmark: an addition and a multiplication that depend on each other, 8 cycles.
const STEP: f64 = 2.1;

/// Nanoseconds of a run.
const LENGTH: f64 = 5_000_000.0;

pub(super) fn table() -> Table {
    let all = rows(include_str!("../../../../../docs/published/parking-lot-issues.csv"));
    let (mut cases, mut others) = (Vec::new(), Vec::new());
    for row in &all {
        let Some(published) = published(row) else { continue };
        let threads = published.threads as usize;
        let (bench, shape) = match published.origin.name {
            "Intel i9-10980XE" => {
                let window = Window {
                    threads,
                    section: 5.0 * STEP,
                    outside: 5.0 * STEP,
                    beside: true,
                    lines: 0,
                    length: LENGTH,
                };
                (Bench::of("i9-10980xe"), Shape::Window(window))
            }
            "AMD Ryzen 7 1800X" => {
                let locks = row.number("locks") as usize;
                let policy = Some(Policy::Windows);
                let bench = Bench { machine: "ryzen-7-1700", cpus: Cpus::All, policy };
                (bench, Shape::Many(Many { locks }))
            }
            _ => {
                others.push(published);
                continue;
            }
        };
        cases.push(Case {
            series: format!("{}, {}", row.get("machine"), published.workload),
            lock: row.get("lock"),
            published,
            bench,
            shape,
            fitted: false,
            repeats: "",
        });
    }
    Table {
        name: "parking-lot",
        source: "GitHub issues of Amanieu/parking_lot (338, 201 and others), and matklad/lock-bench",
        unit: Some("ns"),
        note: "Nothing fitted. Numbers are nanoseconds for an operation of all threads. Left out: machines without a \
               file here. The Ryzen 7 1800X stands on the file of the 1700.",
        cases,
        others,
    }
}

/// Nanoseconds for an operation of all threads; `None` if the row has another quantity, or its machine is
/// unknown.
fn published(row: &Row) -> Option<Published> {
    let machine = row.get("machine");
    let threads = row.number("threads") as u32;
    let (workload, value) = match row.get("metric") {
        "average_per_thread" => {
            let per_second = row.number("value") * 1e3 * f64::from(threads);
            ("mutex bench".into(), 1e9 / per_second)
        }
        "avg_round" => {
            let workload = format!("lock-bench, {} locks", row.get("locks"));
            (workload, row.number("value") * 1e6 / 320_000.0)
        }
        _ => return None,
    };
    let is_pthread = row.get("version").contains("pthread");
    Some(Published {
        origin: Origin { name: machine, cpus: cpus(machine)? },
        workload,
        ours: ours(row.get("lock"), machine, is_pthread)?,
        threads,
        value,
    })
}

/// The machine's CPUs; `None` if the source does not name the machine.
fn cpus(machine: &str) -> Option<u32> {
    Some(match machine {
        "2x AMD EPYC 7502" => 64,
        "2x Intel Xeon E5-2690 v3" => 48,
        "AMD Ryzen 7 1800X" => 16,
        "AMD Threadripper 1950X" => 32,
        "Intel Xeon Platinum 8580" => 120,
        "Intel i5-6200U" => 4,
        "Intel i7-10750H" => 12,
        "Intel i7-4770T" | "Intel i7-7820HQ" => 8,
        "Intel i9-10980XE" => 36,
        _ => return None,
    })
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
