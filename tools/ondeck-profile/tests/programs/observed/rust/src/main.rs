//! `keepers KIND [MILLISECONDS]`: locks of Rust, each with a known keeper. One thread holds the
//! lock for 2 ms each time, or longer, three others for a moment. Prints the sum of all waits, and
//! for how long these have held the lock, in nanoseconds, which each thread notes itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{self, Condvar};
use std::thread;
use std::time::{Duration, Instant};

static WAITED: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicU64 = AtomicU64::new(0);
static HOLD: AtomicU64 = AtomicU64::new(2);
static OVER: AtomicBool = AtomicBool::new(false);

fn note(sum: &AtomicU64, begin: Instant) {
    sum.fetch_add(begin.elapsed().as_nanos() as u64, Relaxed);
}

fn compute() {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(HOLD.load(Relaxed)) {}
}

#[inline(never)]
fn keeper_long<G>(lock: impl Fn() -> G) {
    let begin = Instant::now();
    let guard = lock();
    note(&WAITED, begin);
    compute();
    drop(guard);
    std::hint::black_box(());
}

#[inline(never)]
fn victim_short<G>(lock: impl Fn() -> G) {
    let begin = Instant::now();
    let guard = lock();
    note(&WAITED, begin);
    let begin = Instant::now();
    drop(guard);
    note(&HELD, begin);
    std::hint::black_box(());
}

fn run<K, V>(keep: impl Fn() -> K + Sync, lock: impl Fn() -> V + Sync) {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !OVER.load(Relaxed) {
                    victim_short(&lock);
                    thread::sleep(Duration::from_micros(200));
                }
            });
        }
        for _ in 0..(200 / HOLD.load(Relaxed)).max(10) {
            keeper_long(&keep);
            thread::sleep(Duration::from_millis(3));
        }
        OVER.store(true, Relaxed);
    });
}

/// A lock made of a condition variable, whose keeper notifies.
#[derive(Default)]
struct Made {
    is_taken: sync::Mutex<bool>,
    changed: Condvar,
}

struct Taken<'a>(&'a Made);

impl Made {
    fn lock(&self) -> Taken<'_> {
        let is_taken = self.is_taken.lock().unwrap();
        *self.changed.wait_while(is_taken, |is_taken| *is_taken).unwrap() = true;
        Taken(self)
    }
}

impl Drop for Taken<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.0.is_taken.lock().unwrap() = false;
        self.0.changed.notify_one();
    }
}

fn main() {
    if let Some(hold) = std::env::args().nth(2) {
        HOLD.store(hold.parse().unwrap(), Relaxed);
    }
    match std::env::args().nth(1).as_deref() {
        Some("std_mutex") => {
            let lock = sync::Mutex::new(0);
            run(|| lock.lock().unwrap(), || lock.lock().unwrap());
        }
        Some("std_rwlock") => {
            let lock = sync::RwLock::new(0);
            run(|| lock.write().unwrap(), || lock.read().unwrap());
        }
        Some("std_condvar") => {
            let lock = Made::default();
            run(|| lock.lock(), || lock.lock());
        }
        Some("parking_lot_12") => {
            let lock = parking_lot::Mutex::new(0);
            run(|| lock.lock(), || lock.lock());
        }
        Some("parking_lot_12_rwlock") => {
            let lock = parking_lot::RwLock::new(0);
            run(|| lock.write(), || lock.read());
        }
        Some("parking_lot_13") => {
            let lock = parking_lot_13::Mutex::new(0);
            run(|| lock.lock(), || lock.lock());
        }
        Some("usync") => {
            let lock = usync::Mutex::new(0);
            run(|| lock.lock(), || lock.lock());
        }
        Some("saa") => {
            let lock = saa::Lock::default();
            let guard = || {
                lock.lock_sync();
                Released(&lock)
            };
            run(guard, guard);
        }
        _ => std::process::exit(2),
    }
    println!("{} {}", WAITED.load(Relaxed), HELD.load(Relaxed));
}

struct Released<'a>(&'a saa::Lock);

impl Drop for Released<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.release_lock();
    }
}
