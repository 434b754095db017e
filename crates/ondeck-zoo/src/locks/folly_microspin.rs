//! folly's MicroSpinLock: a byte, 4,000 polls that only read, then naps.
//!
//! Source: Keith Adams and Jordan DeLong, facebook/folly, `synchronization/MicroSpinLock.h` and
//! `detail/Sleeper.h`.
//!
//! Teaches: a spinlock can yield its CPU without a futex. The waiter naps, and no thread wakes it: a
//! short section is over long before, and waiting for a preempted owner takes steps of 500 µs.
//!
//! ```text
//! locked (u8): 0 unlocked · 1 locked
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange
//! 1 → 0    the owner             store
//!
//! A waiter: a pause, a read, again while it reads 1; if it reads 0 the compare-exchange. After 4,000
//! pauses of one acquisition each pause is a sleep of 500 µs.
//! ```
//!
//! # Memory ordering
//!
//! The compare-exchange is `Acquire` and pairs with the previous owner's `Release` store. The reads
//! are `Relaxed`.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting};

/// folly's `Sleeper`: how the waiters of its spinlocks wait.
#[derive(Debug, Default)]
pub(super) struct Sleeper {
    pauses: u32,
}

impl Sleeper {
    /// Pauses of an acquisition.
    const PAUSES: u32 = 4_000;
    /// The length of each later nap.
    const NAP_NANOS: u32 = 500_000;

    #[inline]
    pub(super) fn wait<P: Platform>(&mut self) {
        if self.pauses < P::spins(Self::PAUSES) {
            self.pauses += 1;
            P::pause();
        } else {
            P::sleep_nanos(Self::NAP_NANOS);
        }
    }
}

/// folly's MicroSpinLock: see the [source file](self).
#[derive(Debug)]
pub struct FollyMicrospin<P: Platform> {
    locked: P::AtomicU8,
}

impl<P: Platform> FollyMicrospin<P> {
    #[inline(always)]
    fn acquire(&self) -> bool {
        self.locked.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        let mut sleeper = Sleeper::default();
        loop {
            sleeper.wait::<P>();
            if self.locked.load(Ordering::Relaxed) == 0 && self.acquire() {
                return;
            }
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after its exchange found 0 and left 1, and
// only the owner stores 0 again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for FollyMicrospin<P> {
        INFO: LockInfo {
            name: "folly_microspin",
            waiting: Waiting::SpinsThenSleeps,
            source: "Keith Adams and Jordan DeLong, facebook/folly, MicroSpinLock",
            teaches: "A waiter can nap without a futex, and is then late by up to the length of its nap",
            ..LockInfo::USUAL
        },
        new: Self { locked: AtomicInt::new(0) },
        lock: |this, ()| if !this.acquire() {
            this.lock_slow();
        },
        try_lock: |this, ()| this.acquire(),
        unlock: |this, ()| this.locked.store(0, Ordering::Release),
        is_idle: |this| this.locked.load(Ordering::Relaxed) == 0,
    }
}
