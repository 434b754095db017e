//! The value of each part of the mutex's waiting policy on simulated machines: throughput without the part,
//! relative to throughput with all parts. `ci/ablate.sh --simulated` runs it; it needs the feature `ablation`.
//!
//! A number is the mean of three seeds; `±` is half of the spread of the whole policy.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ondeck::mutex::{Part, RawMutex};
use ondeck_sim::engine::{Call, Job, Sim, Simulation};
use ondeck_sim::machine::MachineFile;
use ondeck_sim::time::of_nanos;

const MACHINES: [&str; 3] = ["epyc-9454p-64", "graviton3", "xeon-gold-6148x2"];
const THREADS: [usize; 2] = [16, 128];
/// Nanoseconds of work inside and outside of the section.
const WORKS: [(f64, f64); 3] = [(0.0, 0.0), (100.0, 500.0), (1_000.0, 5_000.0)];
const SEEDS: u64 = 3;
const MILLISECONDS: f64 = 5.0;

fn main() {
    print!("| machine | work, ns | threads | M/s | ± |");
    Part::ALL.iter().for_each(|part| print!(" {part:?} |"));
    print!("\n|---|---|--:|--:|--:|{}\n", "--:|".repeat(Part::ALL.len()));
    for machine in MACHINES {
        for work in WORKS {
            for threads in THREADS {
                let (whole, spread) = rates(machine, work, threads, &[]);
                print!(
                    "| {machine} | {}/{} | {threads} | {whole:.3} | {spread:.2} |",
                    work.0, work.1
                );
                for part in Part::ALL {
                    print!(" {:.2} |", rates(machine, work, threads, &[part]).0 / whole);
                }
                println!();
            }
        }
    }
}

/// The mean of the pairs in a microsecond, and their relative spread.
fn rates(machine: &str, work: (f64, f64), threads: usize, without: &[Part]) -> (f64, f64) {
    Part::leave_out(without);
    let next = AtomicUsize::new(0);
    let rates: Vec<f64> = std::thread::scope(|scope| {
        let worker = || {
            let mut rates = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed) as u64;
                if seed >= SEEDS {
                    return rates;
                }
                rates.push(pairs(machine, work, threads, seed + 1) as f64 / MILLISECONDS / 1e3);
            }
        };
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a simulation")).collect()
    });
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let (least, most) = rates.iter().fold((f64::MAX, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    (mean, (most - least) / 2.0 / mean)
}

/// The pairs of all threads in the simulated time.
fn pairs(machine: &str, (inside, outside): (f64, f64), threads: usize, seed: u64) -> u64 {
    let file = MachineFile::find(machine).expect("a bundled machine");
    let lock = Rc::new(RawMutex::<Sim>::new());
    let (pairs, stops) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let job = || {
        let (lock, pairs, stops) = (lock.clone(), pairs.clone(), stops.clone());
        let body = move || {
            while !stops.get() {
                lock.lock();
                Sim::work(inside);
                // SAFETY: locked above.
                unsafe { lock.unlock() };
                pairs.set(pairs.get() + 1);
                Sim::work(outside);
            }
        };
        Job { allowed: None, body: Box::new(body) }
    };
    let jobs = (0..threads).map(|_| job()).collect();
    let done = Rc::new(RefCell::new(0));
    let call = {
        let (done, pairs) = (done.clone(), pairs.clone());
        Box::new(move || {
            stops.set(true);
            done.replace(pairs.get());
        })
    };
    let costs = file.costs().clone();
    let mut simulation = Simulation::new(&costs, seed);
    simulation.limit = of_nanos(10e9);
    simulation.run(jobs, vec![Call { at: of_nanos(MILLISECONDS * 1e6), call }], &|| false);
    done.take()
}
