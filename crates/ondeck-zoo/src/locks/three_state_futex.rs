//! The three-state futex mutex: the skeleton of most sleeping mutexes since.
//!
//! Source: Ulrich Drepper, "Futexes Are Tricky" (2011), section 6, `mutex2`.
//!
//! Teaches: that one word can tell an unlock whether to call the kernel, at the price of a second
//! atomic read-modify-write in every uncontended pair.
//!
//! ```text
//! word     lock, by CAS               unlock, by fetch_sub
//!   0 ───────────────────► 1 ───────────────────► 0
//!   │                      │
//!   │ lock, by swap        │ a waiter, by swap
//!   ▼                      ▼        unlock: fetch_sub to 1 (still locked), store 0, wake one
//!   2 ◄────────────────────2 ───────────────────► 0
//!
//!   0 unlocked · 1 locked, nobody sleeps · 2 locked, somebody may sleep
//! ```
//!
//! A waiter acquires with 2, never with 1: it cannot know whether it was the last sleeper, so its
//! own unlock must wake once more. That costs one needless system call after the last sleeper.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` of whichever store made the word 0. The
//! `fetch_sub` that takes 2 to 1 releases nothing by itself, but it is the same instruction as the
//! one that takes 1 to 0, so both are `Release`. After the word is 0 only its address is used.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;

/// Drepper's `mutex2`: see the [source file](self) for its states.
#[derive(Debug)]
pub struct ThreeStateFutex<P: Platform> {
    word: P::AtomicU32,
}

impl<P: Platform> ThreeStateFutex<P> {
    #[cold]
    fn lock_slow(&self) {
        // spec: ThreeStateFutex!Mark
        while self.word.swap(CONTENDED, Ordering::Acquire) != UNLOCKED {
            // Every outcome means the same: the word may have changed, try again.
            // spec: ThreeStateFutex!Wait
            let _ = P::futex_wait(&self.word, CONTENDED, None);
        }
    }
}

// SAFETY: a thread returns from `lock` only after it took the word from UNLOCKED to another value
// by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
unsafe impl<P: Platform> RawLock<P> for ThreeStateFutex<P> {
    const INFO: LockInfo = LockInfo {
        name: "three_state_futex",
        origin: Origin::Sources,
        waiting: Waiting::Sleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "Ulrich Drepper, Futexes Are Tricky, mutex2",
        teaches: "One word tells unlock whether to call the kernel, for a second atomic per pair",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { word: AtomicInt::new(UNLOCKED) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        // spec: ThreeStateFutex!Attempt
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
        // spec: ThreeStateFutex!Subtract
        if self.word.fetch_sub(1, Ordering::Release) != LOCKED {
            // spec: ThreeStateFutex!Free
            self.word.store(UNLOCKED, Ordering::Release);
            // spec: ThreeStateFutex!Wake
            P::futex_wake(address, 1);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == UNLOCKED
    }
}
