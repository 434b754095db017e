//! Rounds in which each thread wants a lock once, and then all wait for each other. After a lost wake no
//! later unlock wakes the thread, so the round never ends.
//!
//! In a crowd the next unlock finds a parked thread that an earlier one has forgotten.

use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Timestamp};

use super::disturb::{Place, waiting};

/// The locks that the rounds use. The first ones meet most buckets of the standard table in their initial
/// state.
const LOCKS: usize = 4_096;

/// A lock, and how often it was acquired.
struct Counted<P: Host> {
    mutex: RawMutex<P>,
    count: UnsafeCell<u64>,
}

// SAFETY: only the owner of the mutex accesses the count.
unsafe impl<P: Host> Sync for Counted<P> {}

/// One section, after some attempts with deadlines.
fn visit<P: Host>(lock: &Counted<P>, rng: &mut Rng) {
    // About as long as a waiter polls, so that unlocks meet threads that are about to park.
    let nanos = rng.u64(0..40_000);
    let deadline = Timestamp::from_nanos(P::now().as_nanos() + nanos);
    waiting(|| {
        if rng.bool() || !lock.mutex.try_lock_until(deadline) {
            lock.mutex.lock();
        }
    });
    // SAFETY: this thread owns the lock.
    unsafe { *lock.count.get() += 1 };
    match rng.u32(0..8) {
        0 => thread::sleep(Duration::from_micros(rng.u64(0..100))),
        1..4 => {}
        _ => {
            let end = P::now().as_nanos() + rng.u64(0..40_000);
            while P::now().as_nanos() < end {
                P::pause();
            }
        }
    }
    // SAFETY: this thread owns the lock.
    unsafe { lock.mutex.unlock() };
}

/// Runs rounds until the time is over. Returns how many there were. Each thread first calls `begin`, with its
/// number.
pub fn run<P: Host>(duration: Duration, seed: u64, begin: impl Fn(usize) + Sync) -> u64 {
    let mut rng = Rng::with_seed(seed);
    let locks: Vec<Counted<P>> =
        (0..LOCKS).map(|_| Counted { mutex: RawMutex::new(), count: UnsafeCell::new(0) }).collect();
    let threads = rng.usize(2..5);
    let (barrier, last) = (Barrier::new(threads), AtomicU64::new(u64::MAX));
    let start = Instant::now();
    thread::scope(|scope| {
        for number in 0..threads {
            let mut rng = rng.fork();
            let (locks, barrier, last, begin) = (&locks, &barrier, &last, &begin);
            scope.spawn(move || {
                let _place = Place::take();
                begin(number);
                for round in 0.. {
                    visit(&locks[round as usize % LOCKS], &mut rng);
                    // This is before the barrier, so that behind it all threads know which round is the last.
                    if number == 0 && start.elapsed() > duration {
                        last.store(round, Ordering::Relaxed);
                    }
                    barrier.wait();
                    if last.load(Ordering::Relaxed) <= round {
                        break;
                    }
                }
            });
        }
    });
    let rounds = last.into_inner() + 1;
    let sections: u64 = locks.into_iter().map(|lock| lock.count.into_inner()).sum();
    assert_eq!(sections, rounds * threads as u64, "two owners at once");
    rounds
}
