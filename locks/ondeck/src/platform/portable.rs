//! Systems without another module here: a wait uses a condition variable of the standard library.
//!
//! ```text
//! TABLE   place, by address: a mutex ──► [oldest] → [waiter] → [newest]      waiters of all words there
//! waiter  on its thread's stack: the word's address, whether it was woken, its condition variable
//! ```
//!
//! The word is compared under the place's mutex, and a wake acquires that mutex. So if a wake
//! follows a change of the word, either the wake finds the thread linked, or the thread finds the
//! word changed. A wake reads only the table, never the word. It notifies a waiter under the mutex,
//! which the waiter must acquire before its stack goes away.
//!
//! Source: the idea of WebKit's `WTF::ParkingLot` (Filip Pizlo, "Locking in WebKit"), with the
//! standard library's mutex in place of the bucket's lock.
//!
//! Where the standard library has no futex, it keeps its mutexes on the heap, and a wait allocates:
//! locks then cannot be used inside a global allocator. There is no heavy fence.

extern crate std;

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::system::System;
use super::{FutexWait, Native, Timestamp};

const PLACES: usize = 64;

static TABLE: [Mutex<Queue>; PLACES] = [const { Mutex::new(Queue::EMPTY) }; PLACES];

struct Waiter {
    address: usize,
    woken: Cell<bool>,
    newer: Cell<*const Waiter>,
    told: Condvar,
}

/// The waiters of a place, in order of arrival.
struct Queue {
    oldest: *const Waiter,
}

// SAFETY: the waiters are followed only under the place's mutex, and each one is not moved while it
// is linked.
unsafe impl Send for Queue {}

impl Queue {
    const EMPTY: Self = Self { oldest: ptr::null() };

    /// Unlinks the waiters for which `is_meant` is true, oldest first, and passes each to `then`.
    fn unlink(&mut self, mut is_meant: impl FnMut(&Waiter) -> bool, mut then: impl FnMut(&Waiter)) {
        let mut before: Option<&Waiter> = None;
        let mut next = self.oldest;
        // SAFETY: null or a linked waiter, which is not moved while the caller holds the mutex.
        while let Some(waiter) = unsafe { next.as_ref() } {
            next = waiter.newer.get();
            if is_meant(waiter) {
                match before {
                    None => self.oldest = next,
                    Some(before) => before.newer.set(next),
                }
                then(waiter);
            } else {
                before = Some(waiter);
            }
        }
    }

    fn link(&mut self, waiter: &Waiter) {
        let mut last: Option<&Waiter> = None;
        let mut next = self.oldest;
        // SAFETY: as above.
        while let Some(linked) = unsafe { next.as_ref() } {
            next = linked.newer.get();
            last = Some(linked);
        }
        match last {
            None => self.oldest = waiter,
            Some(last) => last.newer.set(waiter),
        }
    }
}

fn place(address: usize) -> MutexGuard<'static, Queue> {
    // Words are at multiples of 4; the words of one lock's neighbours hash to different places.
    let place = &TABLE[(address >> 2).wrapping_mul(0x9E37_79B9) >> 8 & (PLACES - 1)];
    // Nothing panics with the mutex locked.
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: see the top.
unsafe impl System for Native {
    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        let address = ptr::from_ref(word).addr();
        let waiter = Waiter {
            address,
            woken: Cell::new(false),
            newer: Cell::new(ptr::null()),
            told: Condvar::new(),
        };
        let mut queue = place(address);
        if word.load(Ordering::Acquire) != expected {
            return FutexWait::Mismatch;
        }
        queue.link(&waiter);
        loop {
            queue = match deadline {
                None => waiter.told.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.since(Self::now());
                    let wait = waiter.told.wait_timeout(queue, left);
                    let (queue, ended) = wait.unwrap_or_else(PoisonError::into_inner);
                    if ended.timed_out() {
                        clock::has_come(deadline);
                    }
                    queue
                }
            };
            if waiter.woken.get() {
                return FutexWait::Woken;
            }
            if deadline.is_some_and(|deadline| Self::now() >= deadline) {
                queue.unlink(|linked| ptr::eq(linked, &raw const waiter), |_| ());
                return FutexWait::TimedOut;
            }
        }
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        let mut woken = 0;
        place(address.addr()).unlink(
            |waiter| {
                let is_meant = waiter.address == address.addr() && woken < count;
                woken += u32::from(is_meant);
                is_meant
            },
            |waiter| {
                waiter.woken.set(true);
                waiter.told.notify_one();
            },
        );
        woken as usize
    }

    fn now() -> Timestamp {
        clock::now()
    }

    #[cfg(unix)]
    fn wipe_in_children(_: *mut u8, _: usize, wipe: extern "C" fn()) {
        super::unix::in_children(wipe);
        super::unix::in_children(wipe_own);
    }

    #[cfg(unix)]
    fn with_variable(name: &core::ffi::CStr, use_it: impl FnOnce(&[u8])) {
        super::unix::with_variable(name, use_it);
    }
}

/// Runs in the child of a fork, on its only thread: the waiters do not exist there, and a thread
/// that had a mutex is gone.
#[cfg(unix)]
extern "C" fn wipe_own() {
    let table = (&raw const TABLE).cast_mut();
    // SAFETY: it is in writable memory, because it contains a mutex; there is no other thread. The
    // allocations of the old mutexes are leaked.
    unsafe { table.write([const { Mutex::new(Queue::EMPTY) }; PLACES]) };
}

/// The clock of the standard library's waits; it takes no lock that a fork could find taken.
#[cfg(unix)]
mod clock {
    use super::Timestamp;
    use crate::platform::unix;

    pub(super) fn now() -> Timestamp {
        unix::clock(libc::CLOCK_MONOTONIC)
    }

    /// A wait has lasted until `then`: nothing to do.
    pub(super) fn has_come(_: Timestamp) {}
}

/// The standard library's clock, whose times are not numbers: they are counted from the first one.
/// No process forks here.
#[cfg(not(any(unix, all(target_family = "wasm", target_os = "unknown"))))]
mod clock {
    use std::sync::OnceLock;
    use std::time::Instant;

    use super::{Timestamp, std};

    pub(super) fn now() -> Timestamp {
        static BEGIN: OnceLock<Instant> = OnceLock::new();
        let begin = BEGIN.get_or_init(Instant::now);
        Timestamp::from_nanos(0).after(begin.elapsed())
    }

    /// A wait has lasted until `then`: nothing to do.
    pub(super) fn has_come(_: Timestamp) {}
}

/// The standard library has no clock here.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[path = "counted_clock.rs"]
mod clock;
