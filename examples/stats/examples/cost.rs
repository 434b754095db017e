//! Measures the cost of statistics: an uncontended pair beside a spinlock's, and the pairs of two
//! threads at one lock.
//!
//!     cargo run --release --example cost [--no-default-features] -- MILLISECONDS TURNS [on]
//!
//! A section is some turns of work, and six times as many are between two: as many as make a
//! million contended acquisitions a second on the machine. Prints nanoseconds of a pair, its ratio
//! to the spinlock's, and contended pairs a second.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::Mutex;

/// The best of several rounds of `turns` pairs, in nanoseconds for one.
fn pair(mut turn: impl FnMut()) -> f64 {
    const TURNS: u32 = 200_000;
    let round = |_| {
        let start = Instant::now();
        (0..TURNS).for_each(|_| turn());
        start.elapsed().as_secs_f64() * 1e9 / f64::from(TURNS)
    };
    (0..15).map(round).fold(f64::INFINITY, f64::min)
}

#[inline(never)]
fn work(turns: u32) {
    for turn in 0..turns {
        black_box(turn);
    }
}

fn contended(time: Duration, inside: u32) -> f64 {
    let (lock, stop, pairs) = (Mutex::new(0_u64), AtomicBool::new(false), AtomicU64::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut own = 0;
                while !stop.load(Ordering::Relaxed) {
                    let mut data = lock.lock();
                    *data += 1;
                    work(inside);
                    drop(data);
                    work(6 * inside);
                    own += 1;
                }
                pairs.fetch_add(own, Ordering::Relaxed);
            });
        }
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
    });
    pairs.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise| arguments.next().map_or(Ok(otherwise), |it| it.parse());
    let (time, inside) = (number(200).unwrap(), number(1_000).unwrap());
    let is_on = arguments.next().is_some();
    #[cfg(feature = "stats")]
    if is_on {
        ondeck::stats::enable();
    }
    // With one thread, locks need no atomic instruction.
    let (send, receive) = std::sync::mpsc::channel::<()>();
    let other = thread::spawn(move || receive.recv());
    let (lock, spin) = (Mutex::new(0_u64), AtomicBool::new(false));
    let own = pair(|| *lock.lock() += 1);
    let mut data = 0_u64;
    let spinlock = pair(|| {
        while spin.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        data = black_box(data + 1);
        spin.store(false, Ordering::Release);
    });
    drop(send);
    _ = other.join();
    let pairs = contended(Duration::from_millis(time.into()), inside);
    println!(
        "{own:.2} ns, {:.3} of a spinlock, {pairs:.0} contended pairs a second",
        own / spinlock
    );
    #[cfg(feature = "stats")]
    ondeck::stats::snapshot().iter().for_each(|lock| println!("  {lock}"));
    assert!(!is_on || cfg!(feature = "stats"), "it is not compiled in");
}
