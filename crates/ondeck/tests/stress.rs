//! Many threads do everything to few locks, at random, for a while: two seconds, or as many as
//! `ONDECK_STRESS_SECONDS` says.

#[path = "support/watchdog.rs"]
mod watchdog;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use lock_api::RawMutex as _;
use ondeck::mutex::RawMutex;
use ondeck::parking::bucket_of;
use ondeck::platform::{Linux, Platform};
use ondeck::{Condvar, Mutex, MutexGuard};
use watchdog::Watchdog;

fn seconds() -> f64 {
    std::env::var("ONDECK_STRESS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2.0)
}

fn watch(what: &str) -> Watchdog {
    Watchdog::start(what, Duration::from_secs_f64(60.0 + 4.0 * seconds()))
}

/// Two numbers that are equal whenever nobody is in a section.
#[derive(Default)]
struct Pair {
    one: u64,
    other: u64,
}

impl Pair {
    fn step(&mut self, rng: &mut Rng) {
        assert_eq!(self.one, self.other, "two owners at once");
        self.one += 1;
        match rng.u32(0..200) {
            0 => thread::yield_now(),
            1 => thread::sleep(Duration::from_micros(rng.u64(0..300))),
            2..20 => (0..rng.u32(0..200)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
        self.other += 1;
    }
}

/// One acquisition, by a way drawn at random. Says whether there was one.
fn visit(mutex: &Mutex<Pair>, rng: &mut Rng) -> bool {
    let guard = match rng.u32(0..10) {
        0..4 => Some(mutex.lock()),
        4 => mutex.try_lock(),
        5 => mutex.try_lock_for(Duration::ZERO),
        6 => mutex.try_lock_for(Duration::from_micros(rng.u64(0..50))),
        7 => mutex.try_lock_until(Instant::now() + Duration::from_micros(rng.u64(0..2_000))),
        8 => mutex.try_lock_for(Duration::from_hours(1)),
        _ => mutex.try_lock_until(Instant::now()),
    };
    let Some(mut guard) = guard else { return false };
    guard.step(rng);
    match rng.u32(0..20) {
        0 => MutexGuard::unlock_fair(guard),
        1 => {
            MutexGuard::bump(&mut guard);
            guard.step(rng);
        }
        _ => drop(guard),
    }
    true
}

/// Threads come and go and visit the locks at random until the time is over.
fn crowd(threads: usize, mutexes: &[Mutex<Pair>], duration: Duration) {
    let start = Instant::now();
    let visits = AtomicU64::new(0);
    thread::scope(|scope| {
        for seed in 0..threads as u64 {
            let visits = &visits;
            scope.spawn(move || {
                let mut rng = Rng::with_seed(seed);
                while start.elapsed() < duration {
                    // A thread that ends leaves its stack, and whatever still names it, behind.
                    let seed = rng.u64(..);
                    thread::scope(|scope| {
                        scope.spawn(move || {
                            let mut rng = Rng::with_seed(seed);
                            for _ in 0..rng.u32(1..400) {
                                let mutex = &mutexes[rng.usize(..mutexes.len())];
                                visits.fetch_add(
                                    u64::from(visit(mutex, &mut rng)),
                                    Ordering::Relaxed,
                                );
                            }
                        });
                    });
                }
            });
        }
    });
    assert!(visits.into_inner() > 0);
    for mutex in mutexes {
        assert!(!mutex.is_locked());
        assert!(Linux::bucket(std::ptr::from_ref(mutex).addr()).is_at_rest());
        let pair = mutex.lock();
        assert_eq!(pair.one, pair.other);
    }
}

#[test]
fn a_crowd_at_few_locks() {
    let _watchdog = watch("a crowd");
    for threads in [2, 8, 32] {
        let mutexes: Vec<_> = (0..3).map(|_| Mutex::new(Pair::default())).collect();
        crowd(threads, &mutexes, Duration::from_secs_f64(seconds() / 3.0));
    }
}

struct Shared<'a>(&'a [std::cell::UnsafeCell<VecDeque<u64>>]);
// SAFETY: each queue is touched by the owner of its mutex only.
unsafe impl Sync for Shared<'_> {}

/// A mutex and a condition variable at every address of a block, so that some share a bucket.
struct Cell {
    raw: RawMutex<Linux>,
    condvar: Condvar,
}

#[test]
fn locks_and_condvars_of_one_bucket() {
    const WANTED: usize = 4;
    const ITEMS: u64 = 3_000;
    let _watchdog = watch("one bucket");
    let block: Vec<Cell> =
        (0..16_384).map(|_| Cell { raw: RawMutex::INIT, condvar: Condvar::new() }).collect();
    let place = |cell: &Cell| bucket_of(std::ptr::from_ref(&cell.raw).addr());
    let wanted = place(&block[0]);
    let mutexes: Vec<&Cell> =
        block.iter().filter(|cell| place(cell) == wanted).take(WANTED).collect();
    let condvars: Vec<&Cell> = block
        .iter()
        .filter(|cell| bucket_of(std::ptr::from_ref(&cell.condvar).addr()) == wanted)
        .take(WANTED)
        .collect();
    assert_eq!((mutexes.len(), condvars.len()), (WANTED, WANTED), "the block is large enough");

    // A bounded buffer for each, all in one bucket with all their condition variables.
    let queues: Vec<std::cell::UnsafeCell<VecDeque<u64>>> =
        (0..WANTED).map(|_| VecDeque::new().into()).collect();
    let queues = &Shared(&queues);
    let received = AtomicU64::new(0);
    thread::scope(|scope| {
        for index in 0..WANTED {
            let (mutex, condvar) = (&mutexes[index].raw, &condvars[index].condvar);
            let received = &received;
            for role in 0..4_u64 {
                scope.spawn(move || {
                    let queue = queues.0[index].get();
                    for item in 0..ITEMS {
                        let mut guard = lock_api::RawMutex::lock(mutex);
                        // SAFETY: the mutex of this queue is held, but for the wait, across which
                        // no reference lives.
                        unsafe {
                            let full = role < 2;
                            while (*queue).len() == if full { 2 } else { 0 } {
                                let raw = lock_api::Condvar::raw(condvar);
                                lock_api::RawCondvar::wait(raw, mutex, &mut guard);
                            }
                            if full {
                                (*queue).push_back(item + 1);
                            } else {
                                let item = (*queue).pop_front().expect("not empty");
                                received.fetch_add(item, Ordering::Relaxed);
                            }
                            condvar.notify_all();
                            lock_api::RawMutex::unlock(mutex, guard);
                        }
                    }
                });
            }
        }
    });
    assert_eq!(received.into_inner(), WANTED as u64 * 2 * ITEMS * (ITEMS + 1) / 2);
    assert!(Linux::bucket(std::ptr::from_ref(&mutexes[0].raw).addr()).is_at_rest());
}

/// A signal reaches somebody who waited, and nobody waits on after it, also when waits time out at
/// the same moment.
#[test]
fn no_signal_is_lost_between_waits_with_deadlines() {
    let _watchdog = watch("signals");
    let (tokens, available) = (Mutex::new(0_u64), Condvar::new());
    let over = AtomicBool::new(false);
    let (given, taken) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for seed in 0..6 {
            let (tokens, available, over, taken) = (&tokens, &available, &over, &taken);
            scope.spawn(move || {
                let mut rng = Rng::with_seed(seed);
                loop {
                    let mut held = tokens.lock();
                    while *held == 0 {
                        if over.load(Ordering::Relaxed) {
                            return;
                        }
                        if rng.bool() {
                            available.wait(&mut held);
                        } else {
                            let patience = Duration::from_micros(rng.u64(0..100));
                            let _ = available.wait_for(&mut held, patience);
                        }
                    }
                    *held -= 1;
                    taken.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let start = Instant::now();
        let mut rng = Rng::with_seed(99);
        while start.elapsed() < Duration::from_secs_f64(seconds() / 2.0) {
            let count = rng.u64(1..4);
            let mut held = tokens.lock();
            *held += count;
            let inside = rng.bool();
            if !inside {
                drop(held);
            }
            for _ in 0..count {
                available.notify_one();
            }
            given.fetch_add(count, Ordering::Relaxed);
        }
        // Who waits without a deadline must get the rest: nothing else will wake it.
        while *tokens.lock() > 0 {
            thread::yield_now();
        }
        over.store(true, Ordering::Relaxed);
        let _held = tokens.lock();
        available.notify_all();
    });
    assert_eq!(given.into_inner(), taken.into_inner());
}
