//! glibc's adaptive mutex up to 2.35: it spins for up to twice as long as recent acquisitions did.
//!
//! Source: the GNU C library, `nptl/pthread_mutex_lock.c`, `PTHREAD_MUTEX_ADAPTIVE_NP`, as of 2.15
//! to 2.32. The peer `glibc_adaptive` is the installed library's.
//!
//! Teaches: an attempt in each poll takes the cache line from the owner. Here each poll is an
//! attempt, and the estimate of the spin's length is on the same line.
//!
//! ```text
//! The words, the states and the unlock are those of glibc_normal, and
//! spins (u32): the estimate of adaptive_futex
//!
//! lock: 0 → 1 by compare-exchange;
//!       else up to min(100, 2 × spins + 10) turns of a pause and the compare-exchange again;
//!       else as glibc_normal
//!       spins += (turns - spins) / 8, if the first attempt failed
//! ```
//!
//! From 2.33 on a poll reads before it tries, and from 2.36 on pauses double, with jitter.
//! `adaptive_futex` has the reading poll, without the owner's name and count.
//!
//! # Memory ordering
//!
//! As in [`glibc_normal`](super::glibc_normal) and [`adaptive_futex`](super::adaptive_futex).

use ondeck::platform::Platform;

use super::GlibcNormal;
use super::adaptive_futex::Estimate;
use crate::{LockInfo, RawLock, Waiting};

/// glibc's adaptive mutex: see the [source file](self).
#[derive(Debug)]
pub struct GlibcAdaptivePort<P: Platform> {
    inner: GlibcNormal<P>,
    spins: Estimate<P>,
}

impl<P: Platform> GlibcAdaptivePort<P> {
    #[cold]
    fn lock_slow(&self) {
        self.spins.learn(|most| {
            for turns in 1..=most {
                P::pause();
                if self.inner.acquire() {
                    return turns;
                }
            }
            self.inner.acquire_or_sleep();
            most + 1
        });
    }
}

// SAFETY, as a lock: a thread returns from `lock` only as the owner of the inner lock.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for GlibcAdaptivePort<P> {
        INFO: LockInfo {
            name: "glibc_adaptive_port",
            waiting: Waiting::SpinsThenSleeps,
            source: "The GNU C library up to 2.32, PTHREAD_MUTEX_ADAPTIVE_NP",
            teaches: "An adaptive spin whose polls lock takes the line from the owner at each of them",
            ..LockInfo::USUAL
        },
        new: Self { inner: GlibcNormal::new(), spins: Estimate::new() },
        lock: |this, ()| {
            if !this.inner.acquire() {
                this.lock_slow();
            }
            this.inner.sign();
        },
        // SAFETY: as the caller promises.
        try_lock: |this, ()| unsafe { this.inner.try_lock(&()) },
        // SAFETY: the caller owns the inner lock.
        unlock: |this, ()| unsafe { this.inner.unlock(&()) },
        // Ignores the estimate, which the lock has learnt and keeps: it says nothing about threads.
        is_idle: |this| this.inner.is_idle(),
    }
}
