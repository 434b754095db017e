//! Predicts what two machines will measure that no published table has yet: docs/predictions/ keeps the first
//! answers. `predict sync-bench` and `predict folly` print comma-separated rows.

use ondeck_sim::engine::Costs;
use ondeck_sim::machine::MachineFile;
use ondeck_sim::validate::shapes::On;
use ondeck_sim::validate::shapes::batch::{BATCH, Batch};
use ondeck_sim::validate::shapes::steps::Steps;
use ondeck_sim::validate::subject::{Shape, Subject};

/// What random numbers follow from.
const SEED: u64 = 1;

/// An update of two Xeon 8488C, in nanoseconds: one task is to take 30, within the 18 to 32 of the table's head.
const UPDATE: f64 = 8.5;

/// The part of it outside, as in the validation.
const OUTSIDE: f64 = 0.3;

/// A step of folly's loop on the Xeon D-2191, in nanoseconds, with the sibling hyper-thread idle: 1.225 by the
/// table's head with both busy.
const STEP: f64 = 1.225 * 0.62;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("sync-bench") => sync_bench(),
        Some("folly") => folly(),
        other => {
            eprintln!(
                "predict: {} is no prediction; ask for sync-bench or folly",
                other.unwrap_or("nothing")
            );
            std::process::exit(2);
        }
    }
}

fn costs(machine: &str) -> Costs {
    let file = MachineFile::find(machine).expect("it is compiled in");
    Costs::from(file.spec())
}

fn row(costs: &Costs, lock: &str, shape: &Shape) -> f64 {
    let subject = Subject::named(lock).expect("a lock of the zoo");
    subject.measure(&On { costs, cpus: None, seed: SEED }, shape)
}

fn sync_bench() {
    let costs = costs("xeon-8488cx2");
    println!("lock,of_the_zoo,tasks,ns_per_acquire");
    let locks = [
        ("Optimal v1", "swift_optimal_v1"),
        ("NIOLock (glibc pthread mutex)", "glibc_normal"),
        ("Swift stdlib PI futex", "swift_pi"),
    ];
    for (name, lock) in locks {
        for tasks in [1, 2, 4, 8, 16, 64, 192] {
            let acquisitions = if lock == "swift_pi" { BATCH / 5 } else { BATCH };
            let batch = Batch {
                tasks,
                acquisitions,
                update: UPDATE * (1.0 - OUTSIDE),
                outside: UPDATE * OUTSIDE,
                ..Batch::default()
            };
            println!("{name},{lock},{tasks},{:.1}", row(&costs, lock, &Shape::Batch(batch)));
        }
    }
}

fn folly() {
    let costs = costs("xeon-d-2191");
    println!("bench,lock,of_the_zoo,threads_param,ns_per_op_and_thread");
    let locks = [
        ("std_mutex", "glibc_normal"),
        ("folly_microspin", "folly_microspin"),
        ("folly_picospin", "folly_picospin"),
        ("folly_microlock", "folly_microlock"),
        ("folly_distributedmutex", "folly_distributed"),
    ];
    for (bench, simple) in [("contended", false), ("contended_simple", true)] {
        for (name, lock) in locks {
            for threads_param in [1, 2, 4, 8, 16, 32, 64, 128] {
                let steps = Steps {
                    threads_param,
                    operations: 300,
                    section: if simple { 0.0 } else { 100.0 * STEP },
                    outside: 1_000.0 * STEP,
                    simple,
                };
                let result = row(&costs, lock, &Shape::Steps(steps));
                println!("{bench},{name},{lock},{threads_param},{result:.0}");
            }
        }
    }
}
