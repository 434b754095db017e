//! folly's MicroLock: two bits of a futex word, a thousand polls, then the futex.
//!
//! Source: Daniel Colascione, facebook/folly, `MicroLock.h` and `MicroLock.cpp`, as of 2019.
//!
//! Teaches: a sleeping lock fits into two bits, if each operation preserves the neighbouring bits.
//! The price is an exchange where others store or swap, both at the lock and at the unlock.
//!
//! ```text
//! word (u32), the futex:  bit 0  locked · bit 1  a thread may sleep · other bits: the program's
//!
//! change                       made by               operation
//! bit 0 is set                 a thread that locks   compare-exchange that finds it clear
//! bits 0 and 1 are set         a waiter that slept   the same: it cannot know whether others sleep
//! bit 1 is set                 a waiter              compare-exchange; then it sleeps
//! bits 0 and 1 are cleared     the owner             compare-exchange; it wakes one thread if bit 1
//!                                                    was set
//!
//! A waiter pauses and reads 1,000 times, once in an acquisition: after a wake it sets bit 1 and
//! sleeps again.
//! ```
//!
//! The source has four such locks in a byte, and operates on the word that contains the byte. Here
//! one lock has a whole word, and the other bits stay 0. The source's kernel calls name the bits of
//! the lock (FUTEX_WAIT_BITSET), which makes a difference only with several locks in a word.
//!
//! # Memory ordering
//!
//! The exchange that sets bit 0 is `Acquire` and pairs with the owner's, `Release`. Reads are
//! `Relaxed`, and so is the exchange that sets bit 1, which publishes nothing. After its exchange the
//! unlock uses only the word's address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting};

const HELD: u32 = 1;
const WAITED: u32 = 2;

/// Polls before a thread sleeps.
const POLLS: u32 = 1_000;

/// folly's MicroLock: see the [source file](self) for its bits.
#[derive(Debug)]
pub struct FollyMicrolock<P: Platform> {
    word: P::AtomicU32,
}

impl<P: Platform> FollyMicrolock<P> {
    #[inline(always)]
    fn replace(&self, from: u32, to: u32, success: Ordering) -> Result<u32, u32> {
        self.word.compare_exchange_weak(from, to, success, Ordering::Relaxed)
    }

    #[cold]
    fn lock_slow(&self, mut word: u32) {
        let mut polls = P::spins(POLLS);
        let mut slept = 0;
        loop {
            if word & HELD == 0 {
                match self.replace(word, word | HELD | slept, Ordering::Acquire) {
                    Ok(_) => return,
                    Err(found) => word = found,
                }
                continue;
            }
            if polls != 0 {
                polls -= 1;
                P::pause();
            } else {
                if word & WAITED == 0
                    && let Err(found) = self.replace(word, word | WAITED, Ordering::Relaxed)
                {
                    word = found;
                    continue;
                }
                // Every result means the same: the word may have changed, reread it.
                let _ = P::futex_wait(&self.word, word | WAITED, None);
                slept = WAITED;
            }
            word = self.word.load(Ordering::Relaxed);
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after its exchange found bit 0 clear and set it, and only
// the owner clears it.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for FollyMicrolock<P> {
        INFO: LockInfo {
            name: "folly_microlock",
            waiting: Waiting::SpinsThenSleeps,
            source: "Daniel Colascione, facebook/folly, MicroLock",
            teaches: "A sleeping lock in two bits beside others, for an exchange in every operation",
            ..LockInfo::USUAL
        },
        new: Self { word: AtomicInt::new(0) },
        lock: |this, ()| {
            let word = this.word.load(Ordering::Relaxed);
            if word & HELD != 0 || this.replace(word, word | HELD, Ordering::Acquire).is_err() {
                this.lock_slow(word);
            }
        },
        try_lock: |this, ()| {
            let mut word = this.word.load(Ordering::Relaxed);
            while word & HELD == 0 {
                match this.replace(word, word | HELD, Ordering::Acquire) {
                    Ok(_) => return true,
                    Err(found) => word = found,
                }
            }
            false
        },
        unlock: |this, ()| {
            let address = &raw const this.word;
            let mut word = this.word.load(Ordering::Relaxed);
            while let Err(found) = this.replace(word, word & !(HELD | WAITED), Ordering::Release) {
                word = found;
            }
            if word & WAITED != 0 {
                P::futex_wake(address, 1);
            }
        },
        is_idle: |this| this.word.load(Ordering::Relaxed) == 0,
    }
}
