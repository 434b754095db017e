//! Swift's `Synchronization.Mutex` on Linux up to 6.2: a thousand polls, then a handoff by the
//! kernel.
//!
//! Source: the Swift project, `stdlib/public/Synchronization/Mutex/LinuxImpl.swift` (2024).
//!
//! Teaches: a spin in front of a handoff is wasted as soon as one thread sleeps. The word is then
//! never 0, so each thread that arrives spins to the end and also sleeps. Ordo One's
//! synchronization-benchmarks measures 60 to 80 times the time of a barging futex mutex for it, with
//! 16 tasks on 64 CPUs.
//!
//! ```text
//! The states and the unlock are those of pi_futex.
//!
//! lock: 0 → number by compare-exchange;
//!       1,000 times: read the word, if it is 0 the compare-exchange again; a pause;
//!       FUTEX_LOCK_PI
//! ```
//!
//! The source polls 1,000 times on x86-64 and 100 times on aarch64, where a pause is longer; here it
//! is 1,000 everywhere. Its `try_lock` also calls the kernel, for words of owners that have ended.
//!
//! # Memory ordering
//!
//! As in [`pi_futex`](super::pi_futex). The reads are `Relaxed`.

use ondeck::platform::PiFutex;

use super::PiFutexMutex;
use crate::{Fairness, LockInfo, RawLock, Waiting};

/// Polls before the thread calls the kernel.
const POLLS: u32 = 1_000;

/// Swift's mutex of 6.0 to 6.2: see the [source file](self).
#[derive(Debug)]
pub struct SwiftPi<P: PiFutex> {
    inner: PiFutexMutex<P>,
}

impl<P: PiFutex> SwiftPi<P> {
    #[cold]
    fn lock_slow(&self) {
        for _ in 0..P::spins(POLLS) {
            if !self.inner.is_taken() && self.inner.acquire() {
                return;
            }
            P::pause();
        }
        self.inner.wait();
    }
}

// SAFETY, as a lock: a thread returns from `lock` only as the owner of the inner lock.
raw_lock! {
    unsafe impl [P: PiFutex] RawLock<P> for SwiftPi<P> {
        INFO: LockInfo {
            name: "swift_pi",
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Priority,
            source: "The Swift project, Synchronization.Mutex on Linux up to 6.2",
            teaches: "A spin before a handoff is wasted once a thread sleeps: the word is never 0 again",
            ..LockInfo::USUAL
        },
        new: Self { inner: PiFutexMutex::new() },
        lock: |this, ()| if !this.inner.acquire() {
            this.lock_slow();
        },
        try_lock: |this, ()| this.inner.acquire(),
        // SAFETY: the caller owns the inner lock.
        unlock: |this, ()| unsafe { this.inner.unlock(&()) },
        is_idle: |this| this.inner.is_idle(),
    }
}
