//! The three-state futex mutex: the skeleton of most sleeping mutexes since.
//!
//! Source: Ulrich Drepper, "Futexes Are Tricky" (2011), section 6, `mutex2`.
//!
//! Teaches: one word can show an unlock whether it must call the kernel. The price is a second
//! atomic read-modify-write in each uncontended pair.
//!
//! ```text
//! word (u32), the futex:
//!   0 unlocked · 1 locked, no thread sleeps · 2 locked, a thread may sleep
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it sleeps while the word is 2
//! 1 → 0    the owner             fetch-sub
//! 2 → 1    the owner             fetch-sub; the lock is still locked
//! 1 → 0    the owner             store, after that; then it wakes one thread
//! ```
//!
//! A waiter acquires the lock with 2, never with 1. It cannot know whether other threads sleep, so
//! its own unlock has to wake one. After the last sleeping thread that is one needless system call.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` operation that made the word 0, the
//! `fetch_sub` or the store. The `fetch_sub` that makes a 2 a 1 publishes nothing, but it is the
//! same instruction as the one that makes a 1 a 0. Once the word is 0, the unlock uses only its
//! address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

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
        while self.word.swap(CONTENDED, Ordering::Acquire) != UNLOCKED {
            // Every result means the same: the word may have changed, retry.
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
        source: "Ulrich Drepper, Futexes Are Tricky, mutex2",
        teaches: "One word tells unlock whether to call the kernel, for a second atomic per pair",
        ..LockInfo::USUAL
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
        if self.word.fetch_sub(1, Ordering::Release) != LOCKED {
            self.word.store(UNLOCKED, Ordering::Release);
            P::futex_wake(address, 1);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == UNLOCKED
    }
}
