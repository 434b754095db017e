//! Spin to futex: one waiter polls, the others sleep, and an unlock costs as much as a spinlock's.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is"
//! (2020), in the comments ("a compromise though where one thread spins and other threads can go to
//! sleep"), and his benchmark's `spin_to_futex_mutex`.
//!
//! Teaches: a lock with sleeping waiters can have the fast path of a spinlock, one
//! read-modify-write for each pair. The price is one polling CPU for each contended lock.
//!
//! ```text
//! word (u32), the futex: 0 unlocked · 1 locked · 2 locked, a thread may sleep
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it is the poller. It polls for 0, then swaps again
//! 2 → 2    a waiter              swap for 2: it sleeps while the word is 2, then swaps again
//! 1 → 0    the owner             load, store
//! 2 → 0    the owner             load, store; it wakes one thread if the load found 2
//! ```
//!
//! The owner's load and store are two steps. If a waiter writes a 2 between them, the store
//! overwrites it and no thread is woken. Still no sleeping thread is forgotten. The first thread to
//! write that 2 found a 1, so it polls. It acquires the lock with 2, so its own unlock wakes a
//! thread. A thread sleeps only after it found a 2. So while a thread sleeps there is a poller, or
//! an owner that will load a 2.
//!
//! For a moment there may be two pollers: one has missed a 0 before another thread made it a 1, and
//! one has made that 1 a 2. The slower of the two finds a 2 next and sleeps.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` store of 0. The poll is `Relaxed`,
//! because the later swap acquires; the source polls with `Acquire`, which adds nothing. The
//! owner's load is `Relaxed`. It reads the owner's own 1 or 2 or a later value; by design it may
//! miss a later 2. After the store the unlock uses only the word's address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::three_states::{CONTENDED, LOCKED, ThreeStates, UNLOCKED};
use crate::{LockInfo, Origin, RawLock, Waiting};

/// One waiter polls, the others sleep: see the [source file](self) for its states.
#[derive(Debug)]
pub struct SpinToFutex<P: Platform> {
    word: ThreeStates<P>,
}

impl<P: Platform> SpinToFutex<P> {
    #[cold]
    fn lock_slow(&self) {
        loop {
            match self.word.0.swap(CONTENDED, Ordering::Acquire) {
                UNLOCKED => return,
                LOCKED => self.poll(),
                _ => self.word.sleep(),
            }
        }
    }

    /// Polls until the lock is free: pause, read, yield, read.
    fn poll(&self) {
        loop {
            P::pause();
            if self.word.look() == UNLOCKED {
                return;
            }
            P::yield_now();
            if self.word.look() == UNLOCKED {
                return;
            }
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to another value
// by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for SpinToFutex<P> {
        INFO: LockInfo {
            name: "spin_to_futex",
            origin: Origin::Sources,
            // The poller never sleeps, but it does not poll for ever while others sleep.
            waiting: Waiting::SpinsThenSleeps,
            source: "Malte Skarupke, Measuring Mutexes, comments, spin_to_futex_mutex",
            teaches: "A spinlock's fast path with sleeping waiters, at the price of a CPU that polls",
            ..LockInfo::USUAL
        },
        new: Self { word: ThreeStates::new() },
        lock: |this, ()| if this.word.acquire().is_err() {
            this.lock_slow();
        },
        try_lock: |this, ()| this.word.acquire().is_ok(),
        unlock: |this, ()| {
            let address = &raw const this.word.0;
            let state = this.word.look();
            this.word.0.store(UNLOCKED, Ordering::Release);
            if state == CONTENDED {
                P::futex_wake(address, 1);
            }
        },
        is_idle: |this| this.word.look() == UNLOCKED,
    }
}
