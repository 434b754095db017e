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
//! futex: as in `three_states.rs`
//!
//! A thread that locks tries 0 → 1; again after the first spin, if that found a 0.
//! A spin reads the futex up to 100 times, a pause between two reads, and ends when it is not 1.
//! A waiter spins, swaps for 2 unless it found a 2, sleeps, spins, and so on.
//! ```
//!
//! # Memory ordering
//!
//! See `three_states.rs`. The reads of a spin are its looks.

use ondeck::platform::Platform;

use crate::three_states::{CONTENDED, LOCKED, ThreeStates, UNLOCKED};
use crate::{LockInfo, RawLock, Waiting};

/// Pauses of a spin.
const SPINS: u32 = 100;

/// The algorithm of `std::sync::Mutex`: see the [source file](self) for its states.
#[derive(Debug)]
pub struct RustStd<P: Platform> {
    futex: ThreeStates<P>,
}

impl<P: Platform> RustStd<P> {
    #[cold]
    fn lock_contended(&self) {
        let mut state = self.spin();
        if state == UNLOCKED {
            match self.futex.acquire() {
                Ok(_) => return,
                Err(found) => state = found,
            }
        }
        loop {
            // A futex that is already 2 need not be written.
            if state != CONTENDED && self.futex.mark() {
                return;
            }
            self.futex.sleep();
            state = self.spin();
        }
    }

    /// Reads until the futex is not 1, up to the limit; returns the last value.
    fn spin(&self) -> u32 {
        let mut left = P::spins(SPINS);
        loop {
            let state = self.futex.look();
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
            waiting: Waiting::SpinsThenSleeps,
            source: "Mara Bos, Rust's standard library, sys/sync/mutex/futex.rs",
            teaches: "A hundred reads before a sleep hide short sections, for every waiter at once",
            ..LockInfo::USUAL
        },
        new: Self { futex: ThreeStates::new() },
        lock: |this, ()| if this.futex.acquire().is_err() {
            this.lock_contended();
        },
        try_lock: |this, ()| this.futex.acquire().is_ok(),
        unlock: |this, ()| this.futex.unlock(),
        is_idle: |this| this.futex.look() == UNLOCKED,
    }
}
