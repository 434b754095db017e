//! Lockless' mutex: one byte for locked, another for contended.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", section "Optimized
//! Mutexes".
//!
//! Teaches: if "contended" is separate from "locked", threads that lock and unlock leave the mark
//! alone, and the unlock of a contended lock is a plain store.
//!
//! ```text
//! locked (u8)  contended (u32), the futex
//!      0          0       unlocked
//!      1          0       locked, no thread sleeps
//!      1          1       locked, a thread may sleep
//!      0          1       unlocked, and the previous owner watches for a new one
//!
//! change              made by               operation
//! locked    0 → 1     a thread that locks   test-and-set, up to 100 times with a pause in between;
//!                                           then a swap after each time that it marked
//! contended 0 → 1     a waiter              store; it sleeps while `contended` is 1
//! locked    1 → 0     the owner             store if `contended` is 1; else swap, and it is
//!                                           done if `contended` is still 0
//! contended 1 → 0     the previous owner    store, if no thread has taken the lock in 200 reads of
//!                                           `locked`; then it wakes one thread, which marks again
//! ```
//!
//! # A defined equivalent
//!
//! The source keeps both bytes in one int, and accesses it as bytes in some places and as an int in
//! others: a waiter swaps the whole int for 257 and sleeps on that value. Access to one word in two
//! sizes is undefined in Rust's memory model, so here are two atomics. Single instructions of the
//! source become two here, and three places need care:
//!
//! * A waiter marks, then tries the lock, then sleeps on the *mark*. If it slept on `locked`, it
//!   would not notice an unlock that clears the mark between the waiter's mark and its sleep.
//! * The uncontended unlock of the source is a compare-exchange of the int for 0, which fails if a
//!   waiter has marked it. Here the unlock swaps `locked` and then rereads the mark.
//! * The store that unlocks a contended lock breaks the chain of read-modify-writes on `locked`. So
//!   the mark's order rests on sequential consistency, not on that chain.
//!
//! # Memory ordering
//!
//! `locked` is made 1 with `Acquire` and 0 with `Release`.
//!
//! A waiter marks, then swaps `locked` for 1. An unlock swaps `locked` for 0, then reads the mark.
//! That is Dekker's pattern, and all four are `SeqCst`. If the waiter's swap comes first in the
//! order of `locked`, it finds 1, and the unlock's read finds its mark or a later value. If the
//! unlock comes first, the waiter finds 0. On x86-64 only the waiter pays for that. An unlock that
//! reads an old mark does no harm: it wakes a thread needlessly, or leaves the wake to the new
//! owner's unlock.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// Attempts before sleeping, and reads before waking: the source's numbers.
const SPINS_BEFORE_SLEEP: u32 = 100;
const SPINS_BEFORE_WAKE: u32 = 200;

/// Lockless' mutex: see the [source file](self) for its states.
#[derive(Debug)]
pub struct LocklessFourState<P: Platform> {
    locked: P::AtomicU8,
    contended: P::AtomicU32,
}

impl<P: Platform> LocklessFourState<P> {
    #[cold]
    fn lock_slow(&self) {
        for _ in 1..P::spins(SPINS_BEFORE_SLEEP) {
            P::pause();
            if !P::test_and_set(&self.locked, Ordering::Acquire) {
                return;
            }
        }
        P::pause();
        self.lock_slept();
    }

    /// The second half of a lock, and the end of a wait for a condition.
    fn lock_slept(&self) {
        loop {
            self.contended.store(1, Ordering::SeqCst);
            // An exchange even where a platform's test-and-set would not write: see "Memory
            // ordering".
            if self.locked.swap(1, Ordering::SeqCst) == 0 {
                return;
            }
            // Every result means the same: mark, and retry.
            let _ = P::futex_wait(&self.contended, 1, None);
        }
    }

    /// Runs after the store that unlocked a contended lock: returns if a thread takes the lock,
    /// otherwise wakes one.
    #[cold]
    fn unlock_slow(&self) {
        for _ in 0..P::spins(SPINS_BEFORE_WAKE) {
            if self.locked.load(Ordering::Relaxed) != 0 {
                return;
            }
            P::pause();
        }
        self.contended.store(0, Ordering::Release);
        P::futex_wake(&raw const self.contended, 1);
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it exchanged `locked` from 0 to 1, and
// only the owner makes it 0 again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for LocklessFourState<P> {
        INFO: LockInfo {
            name: "lockless_four_state",
            origin: Origin::Sources,
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            source: "Lockless Inc., Mutexes and Condition Variables using Futexes, optimized mutex",
            teaches: "A contended mark apart from the lock makes the contended unlock a plain store",
            ..LockInfo::USUAL
        },
        Condvar: SequenceCondvar<P>,
        new: Self { locked: AtomicInt::new(0), contended: AtomicInt::new(0) },
        lock: |this, ()| if P::test_and_set(&this.locked, Ordering::Acquire) {
            this.lock_slow();
        },
        try_lock: |this, ()| !P::test_and_set(&this.locked, Ordering::Acquire),
        unlock: |this, ()| {
            if this.contended.load(Ordering::Relaxed) != 0 {
                this.locked.store(0, Ordering::Release);
            } else {
                this.locked.swap(0, Ordering::SeqCst);
                if this.contended.load(Ordering::SeqCst) == 0 {
                    return;
                }
            }
            this.unlock_slow();
        },
        is_idle: |this| {
            this.locked.load(Ordering::Relaxed) == 0 && this.contended.load(Ordering::Relaxed) == 0
        },
    }
}
