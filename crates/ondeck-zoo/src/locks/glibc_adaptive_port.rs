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
//! spins (u32): turns that contended acquisitions took lately, a running mean over eight
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
//! As in [`glibc_normal`](super::glibc_normal). The estimate is `Relaxed`: the owner writes it, all
//! threads read it, and an old one is as good a guess.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::GlibcNormal;
use crate::{LockInfo, Origin, RawLock, Waiting};

/// No spin is longer.
const MOST_TURNS: u32 = 100;
/// The number of turns by which a spin may exceed twice the estimate.
const EXTRA_TURNS: u32 = 10;
/// The inverse of the weight of the newest count in the estimate.
const SMOOTHING: i32 = 8;

/// glibc's adaptive mutex: see the [source file](self).
#[derive(Debug)]
pub struct GlibcAdaptivePort<P: Platform> {
    inner: GlibcNormal<P>,
    spins: P::AtomicU32,
}

impl<P: Platform> GlibcAdaptivePort<P> {
    #[cold]
    fn lock_slow(&self) {
        let spins = self.spins.load(Ordering::Relaxed);
        let most = P::spins(MOST_TURNS.min(spins * 2 + EXTRA_TURNS));
        let mut turns = 0;
        loop {
            turns += 1;
            if turns > most {
                self.inner.acquire_or_sleep();
                break;
            }
            P::pause();
            if self.inner.acquire() {
                break;
            }
        }
        // Both are at most slightly above MOST_TURNS, and so is every value between them.
        let change = (turns.cast_signed() - spins.cast_signed()) / SMOOTHING;
        self.spins.store(spins.wrapping_add_signed(change), Ordering::Relaxed);
    }
}

// SAFETY, as a lock: a thread returns from `lock` only as the owner of the inner lock.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for GlibcAdaptivePort<P> {
        INFO: LockInfo {
            name: "glibc_adaptive_port",
            origin: Origin::Literature,
            waiting: Waiting::SpinsThenSleeps,
            source: "The GNU C library up to 2.32, PTHREAD_MUTEX_ADAPTIVE_NP",
            teaches: "An adaptive spin whose polls lock takes the line from the owner at each of them",
            ..LockInfo::USUAL
        },
        new: Self { inner: GlibcNormal::new(), spins: AtomicInt::new(0) },
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
