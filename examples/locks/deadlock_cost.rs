//! Measures the cost of deadlock detection while it is off, and while it is on:
//!
//! ```sh
//! cargo run --release -p locks --example deadlock_cost --features deadlock_detection
//! cargo run --release -p locks --example deadlock_cost
//! ```
//!
//! The second command measures the locks without the feature.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use ondeck::{Mutex, RwLock};

/// The number of rounds, of which the fastest counts.
const ROUNDS: usize = 15;

/// Prints the time of a turn, in nanoseconds.
fn measure(what: &str, turns: u32, mut turn: impl FnMut()) {
    let round = || {
        let start = Instant::now();
        (0..turns).for_each(|_| turn());
        start.elapsed()
    };
    let fastest = std::iter::repeat_with(round).take(ROUNDS).min().unwrap_or(Duration::ZERO);
    println!("  {what:<48} {:9.1} ns", fastest.as_secs_f64() * 1e9 / f64::from(turns));
}

fn all(turns: u32) {
    let (outer, inner, rw) = (Mutex::new(0_u64), Mutex::new(0_u64), RwLock::new(0_u64));
    // With one thread, locks need no atomic instruction.
    thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || receiver.recv());
        measure("Mutex, a pair", turns, || *outer.lock() += 1);
        measure("Mutex, try_lock and unlock", turns, || {
            *black_box(outer.try_lock()).expect("free") += 1;
        });
        measure("Mutex within a Mutex, two pairs", turns, || {
            let _outer = outer.lock();
            *inner.lock() += 1;
        });
        measure("RwLock, a read", turns, || _ = black_box(*rw.read()));
        measure("RwLock, a write", turns, || *rw.write() += 1);
        drop(sender);
    });
}

fn main() {
    #[cfg(not(feature = "deadlock_detection"))]
    {
        println!("without the feature");
        all(200_000);
    }
    #[cfg(feature = "deadlock_detection")]
    {
        println!("off");
        all(200_000);
        ondeck::deadlock::enable(ondeck::deadlock::Mode::Report);
        println!("on");
        all(5_000);
    }
}
