//! Measures the benefit of each part of the mutex's waiting policy on this machine: the throughput without it, relative
//! to the throughput with all parts. Needs the feature `ablation`.
//!
//! ```sh
//! cargo run --release -p ondeck --features ablation --example ablate -- ROUNDS MILLISECONDS
//! ```
//!
//! The variants of a workload take turns, round by round, so that a disturbance of the machine affects all of them
//! equally. A row has medians; `±` is half of the distance between the quartiles of the whole policy, relative to its
//! median.

use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ondeck::mutex::Part;
use ondeck::{Condvar, Mutex};

/// Cache lines that a section with data accesses.
const LINES: usize = 16;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(u64);

/// The workload of the threads.
#[derive(Clone, Copy)]
enum Work {
    /// A section that touches `lines` cache lines, with nanoseconds of work inside and outside.
    Section { lines: usize, inside: u64, outside: u64 },
    /// A bounded buffer of this capacity, half of the threads on each side.
    Buffer(usize),
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [rounds, millis] = numbers[..] else {
        eprintln!(
            "ablate: give the number of rounds and the milliseconds of a round, as `ablate 5 100`"
        );
        std::process::exit(2);
    };
    let section = |lines, inside, outside| Work::Section { lines, inside, outside };
    let workloads = [
        ("empty", section(0, 0, 0)),
        ("16 lines", section(LINES, 0, 0)),
        ("100/0 ns", section(0, 100, 0)),
        ("100/500 ns", section(0, 100, 500)),
        ("5/5 µs", section(0, 5_000, 5_000)),
        ("20/20 µs", section(0, 20_000, 20_000)),
        ("buffer 8", Work::Buffer(8)),
        ("buffer 128", Work::Buffer(128)),
    ];
    println!("Two threads of pure work do {:.2} times what one does.\n", cores());
    print!("| workload | threads | M/s | ± |");
    Part::ALL.iter().for_each(|part| print!(" {part:?} |"));
    print!("\n|---|--:|--:|--:|{}\n", "--:|".repeat(Part::ALL.len()));
    for (name, work) in workloads {
        for threads in [2, 4, 16] {
            row(name, work, threads, rounds, Duration::from_millis(millis));
        }
    }
    println!("\nTwo threads of pure work do {:.2} times what one does.", cores());
}

/// Prints a row of the table.
fn row(name: &str, work: Work, threads: usize, rounds: u64, length: Duration) {
    let mut samples = vec![Vec::new(); 1 + Part::ALL.len()];
    for _ in 0..rounds {
        for (variant, samples) in samples.iter_mut().enumerate() {
            let without = variant.checked_sub(1).map(|index| Part::ALL[index]);
            Part::leave_out(without.as_slice());
            samples.push(match work {
                Work::Section { lines, inside, outside } => {
                    sections(threads, length, lines, inside, outside)
                }
                Work::Buffer(capacity) => buffer(threads, length, capacity),
            });
        }
    }
    samples.iter_mut().for_each(|samples| samples.sort_by(f64::total_cmp));
    let at = |samples: &[f64], part: usize| samples[(samples.len() - 1) * part / 4];
    let whole = at(&samples[0], 2);
    let spread = (at(&samples[0], 3) - at(&samples[0], 1)) / 2.0 / whole;
    print!("| {name} | {threads} | {:.2} | {spread:.2} |", whole / 1e6);
    samples[1..].iter().for_each(|samples| print!(" {:.2} |", at(samples, 2) / whole));
    println!();
}

/// Returns the sections a second.
fn sections(threads: usize, length: Duration, lines: usize, inside: u64, outside: u64) -> f64 {
    let lock = Mutex::new([Line(0); LINES]);
    measure(threads, length, |stop, done| {
        while !stop.load(Relaxed) {
            let mut data = lock.lock();
            data[..lines].iter_mut().for_each(|line| line.0 += 1);
            pass(inside);
            drop(data);
            pass(outside);
            done.store(done.load(Relaxed) + 1, Relaxed);
        }
    })
}

/// Returns the items a second through a buffer.
fn buffer(threads: usize, length: Duration, capacity: usize) -> f64 {
    let lock = Mutex::new((0_usize, false));
    let (not_full, not_empty) = (Condvar::new(), Condvar::new());
    let next = AtomicU64::new(0);
    measure(threads, length, |stop, done| {
        let puts = next.fetch_add(1, Relaxed) % 2 == 0;
        loop {
            let mut state = lock.lock();
            loop {
                if stop.load(Relaxed) {
                    state.1 = true;
                }
                if state.1 {
                    drop(state);
                    not_full.notify_all();
                    not_empty.notify_all();
                    return;
                }
                match puts {
                    true if state.0 < capacity => break,
                    false if state.0 > 0 => break,
                    true => not_full.wait(&mut state),
                    false => not_empty.wait(&mut state),
                }
            }
            state.0 = if puts { state.0 + 1 } else { state.0 - 1 };
            drop(state);
            if puts {
                not_empty.notify_one();
            } else {
                not_full.notify_one();
                done.store(done.load(Relaxed) + 1, Relaxed);
            }
        }
    })
}

/// Runs `body` in `threads` threads until `stop` is set. Returns the sum of their counts per second.
fn measure(threads: usize, length: Duration, body: impl Fn(&AtomicBool, &AtomicU64) + Sync) -> f64 {
    #[repr(align(128))]
    struct Count(AtomicU64);
    let (stop, gate) = (AtomicBool::new(false), Barrier::new(threads + 1));
    let counts: Vec<Count> = (0..threads).map(|_| Count(AtomicU64::new(0))).collect();
    let total = || counts.iter().map(|count| count.0.load(Relaxed)).sum::<u64>();
    std::thread::scope(|scope| {
        for count in &counts {
            let (stop, gate, body) = (&stop, &gate, &body);
            scope.spawn(move || {
                gate.wait();
                body(stop, &count.0);
            });
        }
        gate.wait();
        let (start, before) = (Instant::now(), total());
        std::thread::sleep(length);
        let rate = (total() - before) as f64 / start.elapsed().as_secs_f64();
        stop.store(true, Relaxed);
        rate
    })
}

fn pass(nanos: u64) {
    if nanos == 0 {
        return;
    }
    let start = Instant::now();
    while (start.elapsed().as_nanos() as u64) < nanos {
        spin_loop();
    }
}

/// Returns the ratio of the work of two threads to the work of one: 2.0 with two cores, 1.0 or less if they share one.
fn cores() -> f64 {
    let work = || {
        let (start, mut count) = (Instant::now(), 0_u64);
        while start.elapsed() < Duration::from_millis(50) {
            (0..1_000).for_each(|step| {
                black_box(step);
            });
            count += 1;
        }
        count as f64
    };
    let one = work();
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let own = work();
        (own + other.join().unwrap_or(0.0)) / one
    })
}
