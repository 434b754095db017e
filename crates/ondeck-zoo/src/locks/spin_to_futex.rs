//! Spin to futex: one waiter polls, the others sleep, and the release is a spinlock's.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really
//! is" (2020), in the comments ("a compromise though where one thread spins and other threads can
//! go to sleep"), and his benchmark's `spin_to_futex_mutex`.
//!
//! Teaches: a lock with sleepers can have the fast path of a spinlock, one read-modify-write per
//! pair, as long as one CPU burns for every contended lock.
//!
//! ```text
//!   0 unlocked · 1 locked · 2 locked, somebody may sleep
//!
//! lock:   0 → 1 by compare-exchange; else exchange for 2, and what that finds decides:
//!           0   acquired, with 2
//!           1   this thread wrote the 2: it is the poller. Poll for 0, then exchange again
//!           2   there is a poller, or the owner knows of sleepers: sleep on 2, then exchange again
//! unlock: load the word, store 0, wake one if the load found 2
//! ```
//!
//! The load and the store are two steps, and a 2 that comes between them is overwritten without a
//! wake. No sleeper is lost: only the thread that turned a 1 into that 2 can have written it first,
//! and this thread polls. It acquires with 2, and its own release wakes. A thread sleeps only after
//! it found a 2, so there is a poller or an owner that will load a 2 whenever somebody sleeps.
//!
//! Sometimes there are two pollers: one that has not noticed a 0 before a newcomer made it 1, and
//! one that made that 1 a 2. The slower of them finds a 2 next and goes to sleep.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` store of 0. The poll is `Relaxed`, for it
//! is the exchange after it that acquires; the source polls with `Acquire`, which adds nothing. The
//! load before the release is `Relaxed` and at least as new as the owner's own 1 or 2; that it may
//! miss a later 2 is part of the design. After the store only the word's address is used.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const SLEEPERS: u32 = 2;

/// One polls, others sleep: see the [source file](self) for its states.
#[derive(Debug)]
pub struct SpinToFutex<P: Platform> {
    word: P::AtomicU32,
}

impl<P: Platform> SpinToFutex<P> {
    #[cold]
    fn lock_slow(&self) {
        loop {
            match self.word.swap(SLEEPERS, Ordering::Acquire) {
                UNLOCKED => return,
                LOCKED => self.poll(),
                _ => {
                    // Every outcome means the same: the word may have changed, try again.
                    let _ = P::futex_wait(&self.word, SLEEPERS, None);
                }
            }
        }
    }

    /// Waits, awake, until the lock is seen free: a pause, a look, a yield, a look.
    fn poll(&self) {
        loop {
            P::pause();
            if self.word.load(Ordering::Relaxed) == UNLOCKED {
                return;
            }
            P::yield_now();
            if self.word.load(Ordering::Relaxed) == UNLOCKED {
                return;
            }
        }
    }
}

// SAFETY: a thread returns from `lock` only after it took the word from UNLOCKED to another value
// by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
unsafe impl<P: Platform> RawLock<P> for SpinToFutex<P> {
    const INFO: LockInfo = LockInfo {
        name: "spin_to_futex",
        origin: Origin::Sources,
        // The one that polls never sleeps, but nobody polls for ever while others sleep.
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "Malte Skarupke, Measuring Mutexes, comments, spin_to_futex_mutex",
        teaches: "A spinlock's fast path with sleepers, at the price of one CPU that always polls",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { word: AtomicInt::new(UNLOCKED) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if self
            .word
            .compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            self.lock_slow();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.word.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        let address = &raw const self.word;
        let state = self.word.load(Ordering::Relaxed);
        self.word.store(UNLOCKED, Ordering::Release);
        if state == SLEEPERS {
            P::futex_wake(address, 1);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == UNLOCKED
    }
}
