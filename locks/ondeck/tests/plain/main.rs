//! Locks and the table, for Miri (`ci/miri.sh`), and without it an ordinary test. This file tests
//! the mutex and its condition variable.
//!
//! The guarded data is not atomic, and memory is freed as early as possible: Miri reports a missing
//! happens-before edge as a data race, and a late access as a use after free.
//!
//! `ONDECK_TEST_ROUNDS` is the number of rounds of each thread.

#[path = "../stress/crowd.rs"]
mod crowd;
mod family;
#[path = "../support/keys.rs"]
mod keys;
#[path = "../stress/rounds.rs"]
mod rounds;
#[path = "../stress/tokens.rs"]
mod tokens;
#[path = "../support/watchdog.rs"]
mod watchdog;

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crowd::Crowd;
use keys::{park, requeue, unpark};
use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::mutex::RawMutex;
use ondeck::parking::Parked;
use ondeck::platform::{FutexWait, Native, Platform, Timestamp};
use watchdog::Watchdog;

/// An interpreter runs some thousand times slower.
fn round_count() -> u32 {
    let given = std::env::var("ONDECK_TEST_ROUNDS").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(if cfg!(miri) { 4 } else { 20_000 })
}

/// Ends a test that hangs. An interpreter reports a lost wake as a deadlock itself.
fn watched() -> Option<Watchdog> {
    (!cfg!(miri)).then(|| Watchdog::start("a test", Duration::from_mins(4)))
}

/// Returns the moment this number of microseconds from now.
fn soon(micros: u64) -> Timestamp {
    Native::now().after(Duration::from_micros(micros))
}

/// A non-atomic number that a mutex guards.
struct Shared {
    mutex: RawMutex<Native>,
    changed: RawCondvar<Native>,
    number: UnsafeCell<u32>,
}

// SAFETY: only the owner of the mutex accesses `number`.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Self {
        Self { mutex: RawMutex::new(), changed: RawCondvar::new(), number: UnsafeCell::new(0) }
    }

    /// # Safety
    ///
    /// The calling thread owns the mutex.
    unsafe fn change(&self, change: impl FnOnce(&mut u32)) {
        // SAFETY: as the caller promises.
        change(unsafe { &mut *self.number.get() });
    }

    /// Waits until the number is 0.
    fn until_taken(&self) {
        loop {
            self.mutex.lock();
            // SAFETY: the thread owns the mutex.
            let left = unsafe {
                let left = *self.number.get();
                self.mutex.unlock();
                left
            };
            if left == 0 {
                return;
            }
            thread::yield_now();
        }
    }
}

/// Runs `body`, with a thread's number, on this number of threads, and joins each of them: the
/// happens-before edge of a scope's end is visible only to the standard library.
fn crew(threads: u32, body: impl Fn(u32) + Sync) {
    thread::scope(|scope| {
        let body = &body;
        let start = |number| scope.spawn(move || body(number));
        let threads: Vec<_> = (0..threads).map(start).collect();
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}

/// How long each part of the stress takes, by the clock of the machine or of the interpreter.
const LENGTH: Duration = Duration::from_millis(if cfg!(miri) { 100 } else { 400 });

#[test]
fn sections_of_a_crowd_exclude_each_other() {
    let _watchdog = watched();
    let crowd = Crowd { threads: 4, locks: 2, life: 8, duration: LENGTH, seed: 1 };
    crowd::run::<Native>(&crowd, |_| ());
}

#[test]
fn each_lock_excludes_and_each_round_comes_after_the_one_before() {
    let _watchdog = watched();
    for seed in 0..2 {
        rounds::run::<Native>(LENGTH / 2, seed, |_| ());
    }
}

#[test]
fn no_signal_is_lost() {
    let _watchdog = watched();
    // With deadlines, which could replace a lost signal, and without.
    for seed in 0..if cfg!(miri) { 2 } else { 4 } {
        tokens::run::<Native>(LENGTH / 8, seed);
    }
}

/// Makes a wait of the owner of `shared`'s mutex, step by step. For the condition variable the
/// mutex is one of this crate, or an unknown lock. The wait is cancelled if its sleep is over at
/// `end`. Returns whether it was notified; the caller owns the mutex.
fn wait_in_steps(shared: &Shared, is_foreign: bool, end: Option<Timestamp>) -> bool {
    let mutex = (!is_foreign).then_some(&shared.mutex);
    let waiter = Waiter::new(&shared.changed, mutex, None);
    // SAFETY: the caller owns the mutex, and the waiter stays here until the wait is over.
    unsafe {
        waiter.begin();
        if is_foreign {
            shared.mutex.unlock();
        }
        let mut slept = FutexWait::Woken;
        let notified = loop {
            match waiter.step(slept) {
                Step::Done { notified } => break notified,
                Step::Sleep { word, expected, until } => {
                    slept = Native::futex_wait(&*word, expected, end.or(until));
                    if end.is_some() && slept == FutexWait::TimedOut {
                        waiter.cancel();
                        break false;
                    }
                }
            }
        };
        if is_foreign {
            shared.mutex.lock();
        }
        notified
    }
}

/// One thread gives an item at a time. Two threads take them, and wait without a deadline. Waits of
/// two others are cancelled repeatedly. After each cancellation the item, if there is one, is taken
/// by other threads.
#[test]
fn a_cancelled_waiter_takes_no_signal_away() {
    let _watchdog = watched();
    let shared = Shared::new();
    let over = AtomicU32::new(0);
    crew(5, |thread| match thread {
        0 => {
            for _ in 0..round_count().div_ceil(4) * 2 {
                shared.mutex.lock();
                // SAFETY: the thread owns the mutex.
                unsafe {
                    shared.change(|number| *number += 1);
                    shared.changed.notify_one();
                    shared.mutex.unlock();
                }
                shared.until_taken();
            }
            over.store(1, Ordering::Release);
        }
        1 | 2 => {
            for _ in 0..round_count().div_ceil(4) {
                shared.mutex.lock();
                // SAFETY: the thread owns the mutex except during the wait, across which no
                // reference lives.
                unsafe {
                    while *shared.number.get() == 0 {
                        wait_in_steps(&shared, thread == 2, None);
                    }
                    shared.change(|number| *number -= 1);
                    shared.mutex.unlock();
                }
            }
        }
        _ => {
            while over.load(Ordering::Acquire) == 0 {
                shared.mutex.lock();
                // SAFETY: as above.
                unsafe {
                    let waits = *shared.number.get() == 0;
                    let notified = waits && wait_in_steps(&shared, thread == 4, Some(soon(20)));
                    shared.mutex.unlock();
                    if notified {
                        shared.changed.notify_one();
                    }
                }
                shared.until_taken();
            }
        }
    });
    assert_eq!(shared.number.into_inner(), 0);
}

/// An object that one of its users frees. It is only used through a pointer: a reference that is
/// passed to a function promises that the memory outlives the call.
struct Freed<T>(*mut T);

// SAFETY: it is a pointer to an object that threads share.
unsafe impl<T: Sync> Sync for Freed<T> {}

impl<T> Freed<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// The memory is freed right after the last unlock, even if other threads are still in their
/// unlocks.
#[test]
fn the_last_owner_frees_the_mutex() {
    let _watchdog = watched();
    for _ in 0..round_count().div_ceil(10) {
        let shared = Freed(Box::into_raw(Box::new(Shared::new())));
        crew(3, |_| {
            let shared = shared.get();
            // SAFETY: the memory stays until three threads have counted themselves. Then only
            // the last one uses it, if an unlock accesses nothing after its store.
            unsafe {
                (*shared).mutex.lock();
                *(*shared).number.get() += 1;
                let last = *(*shared).number.get() == 3;
                (*shared).mutex.unlock();
                if last {
                    drop(Box::from_raw(shared));
                }
            }
        });
    }
}

/// A waiter frees the memory as soon as it was notified by a notifier that owns the mutex.
#[test]
fn the_waiter_frees_the_mutex_and_the_condvar() {
    let _watchdog = watched();
    for round in 0..round_count().div_ceil(10) {
        let shared = Freed(Box::into_raw(Box::new(Shared::new())));
        crew(2, |thread| {
            let shared = shared.get();
            // SAFETY: the memory stays until the waiter frees it, which has the mutex after the
            // notifier's last section.
            unsafe {
                (*shared).mutex.lock();
                if thread == 0 {
                    *(*shared).number.get() = 1;
                    if round % 2 == 0 {
                        (*shared).changed.notify_one();
                    } else {
                        (*shared).changed.notify_all();
                    }
                    (*shared).mutex.unlock();
                } else {
                    while *(*shared).number.get() == 0 {
                        (*shared).changed.wait(&(*shared).mutex, None);
                    }
                    (*shared).mutex.unlock();
                    drop(Box::from_raw(shared));
                }
            }
        });
    }
}

/// A fair lock of one word over the table: 0 free, 1 locked, 2 locked and a thread may be parked. A
/// woken thread owns it.
struct Word(AtomicU32);

impl Word {
    fn key(&self) -> usize {
        (&raw const self.0).addr()
    }

    fn lock(&self) {
        while self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            if self.0.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed) == Err(0) {
                continue;
            }
            let asleep = || self.0.load(Ordering::Relaxed) == 2;
            if park::<Native>(self.key(), asleep, || (), Some(soon(100))) == Parked::Woken {
                return;
            }
        }
    }

    fn unlock(&self) {
        if self.0.compare_exchange(1, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            unpark::<Native>(self.key(), 1, |woken, more| {
                let state = if woken == 0 { 0 } else { 1 + u32::from(more) };
                self.0.store(state, Ordering::Release);
            });
        }
    }
}

#[test]
fn a_lock_of_another_excludes_by_the_table() {
    let _watchdog = watched();
    let word = Word(AtomicU32::new(0));
    let shared = Shared::new();
    crew(4, |_| {
        for _ in 0..round_count() {
            word.lock();
            // SAFETY: another lock guards the number here.
            unsafe { shared.change(|number| *number += 1) };
            word.unlock();
        }
    });
    assert_eq!(shared.number.into_inner(), 4 * round_count());
}

#[test]
fn parked_threads_are_moved_and_woken() {
    let _watchdog = watched();
    for _ in 0..round_count().div_ceil(20) {
        let (from, to) = (Word(AtomicU32::new(0)), Word(AtomicU32::new(0)));
        let ended = AtomicUsize::new(0);
        crew(4, |thread| {
            if thread != 0 {
                let parked = park::<Native>(from.key(), || true, || (), None);
                assert_eq!(parked, Parked::Woken);
                ended.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let mut total = (0, 0);
            while total.0 + total.1 < 3 {
                let wake = usize::from(total.0 == 0);
                let (woken, moved) = requeue::<Native>(from.key(), to.key(), || true, wake, 2);
                total = (total.0 + woken, total.1 + moved);
                thread::yield_now();
            }
            while ended.load(Ordering::Relaxed) < 3 {
                unpark::<Native>(to.key(), 2, |_, _| ());
                thread::yield_now();
            }
        });
    }
}

/// Shows that Miri detects a race at all: `ci/miri.sh` fails unless it is reported.
#[test]
#[ignore = "a data race on purpose, to be reported by a tool"]
fn a_race_on_purpose() {
    let shared = Shared::new();
    crew(2, |_| {
        // SAFETY: untrue.
        unsafe { shared.change(|number| *number += 1) };
    });
}
