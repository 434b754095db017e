//! The mutex of Rust's standard library on Linux since 1.62: three states, and 100 polls that only
//! read.
//!
//! Source: Mara Bos, Rust pull request 95035, "Use a futex-based lock in std" (2022);
//! `library/std/src/sys/sync/mutex/futex.rs`. The peer `std` is the installed library's.
//!
//! Teaches: a spin of a hundred reads covers short sections, and its cost is bounded. But every
//! waiter spins, and again after each wake.
//!
//! ```text
//! futex (u32): 0 unlocked · 1 locked, no thread sleeps · 2 locked, a thread may sleep
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange; again after the first spin, if that found a 0
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it sleeps while the futex is 2
//! 1 → 0    the owner             swap for 0
//! 2 → 0    the owner             swap for 0; then it wakes one thread
//!
//! A spin reads the futex up to 100 times, a pause between two reads, and ends when it is not 1.
//! A waiter spins, swaps for 2 unless it found a 2, sleeps, spins, and so on.
//! ```
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` swap for 0. The reads of a spin are
//! `Relaxed`. After the swap the unlock uses only the futex's address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;

/// Pauses of a spin.
const SPINS: u32 = 100;

/// The algorithm of `std::sync::Mutex`: see the [source file](self) for its states.
#[derive(Debug)]
pub struct RustStd<P: Platform> {
    futex: P::AtomicU32,
}

impl<P: Platform> RustStd<P> {
    #[inline(always)]
    fn acquire(&self) -> Result<u32, u32> {
        self.futex.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed)
    }

    #[cold]
    fn lock_contended(&self) {
        let mut state = self.spin();
        if state == UNLOCKED {
            match self.acquire() {
                Ok(_) => return,
                Err(found) => state = found,
            }
        }
        loop {
            // A futex that is already 2 need not be written.
            if state != CONTENDED && self.futex.swap(CONTENDED, Ordering::Acquire) == UNLOCKED {
                return;
            }
            // Every result means the same: the futex may have changed, spin again.
            let _ = P::futex_wait(&self.futex, CONTENDED, None);
            state = self.spin();
        }
    }

    /// Reads until the futex is not 1, up to the limit; returns the last value.
    fn spin(&self) -> u32 {
        let mut left = P::spins(SPINS);
        loop {
            let state = self.futex.load(Ordering::Relaxed);
            if state != LOCKED || left == 0 {
                return state;
            }
            P::pause();
            left -= 1;
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the futex from UNLOCKED to
// another value by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for RustStd<P> {
        INFO: LockInfo {
            name: "rust_std",
            origin: Origin::Literature,
            waiting: Waiting::SpinsThenSleeps,
            source: "Mara Bos, Rust's standard library, sys/sync/mutex/futex.rs",
            teaches: "A hundred reads before a sleep hide short sections, for every waiter at once",
            ..LockInfo::USUAL
        },
        new: Self { futex: AtomicInt::new(UNLOCKED) },
        lock: |this, ()| if this.acquire().is_err() {
            this.lock_contended();
        },
        try_lock: |this, ()| this.acquire().is_ok(),
        unlock: |this, ()| {
            let address = &raw const this.futex;
            if this.futex.swap(UNLOCKED, Ordering::Release) == CONTENDED {
                P::futex_wake(address, 1);
            }
        },
        is_idle: |this| this.futex.load(Ordering::Relaxed) == UNLOCKED,
    }
}
