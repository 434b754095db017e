//! Hemlock: a queue without nodes, in which each waiter polls a word of its predecessor.
//!
//! Source: Dave Dice and Alex Kogan, "Hemlock: Compact and Scalable Mutual Exclusion" (SPAA 2021),
//! the simplest form.
//!
//! Teaches: a queue lock of one word needs one word for each thread, however many locks that thread holds. An
//! unlock that hands off has to wait until its successor has noticed, because the word is needed again. If the
//! successor is off its CPU, the unlock waits for it.
//!
//! ```text
//! lock.tail ───────────────────────────────────────────┐
//!                                                      ▼
//! [owner's grant] ◄─polls─ [waiter's grant] ◄─polls─ [waiter's grant]
//!
//! tail    null → word     a thread that locks   swap: it owns the lock
//!         word → word     a thread that locks   swap: it polls the word that it found
//!         word → null     the owner             compare-exchange, if its own word is the last
//! grant   0 → the lock    the owner             store: the handoff. Then it polls for 0
//!         the lock → 0    the successor         store, when it has found the lock's address there
//! ```
//!
//! A thread that holds several locks has one word for all of them. So `grant` is the address of the lock that
//! is handed off: successors at other locks poll the same word for another address.
//!
//! # Differences from the source
//!
//! The source's threads have one word each in thread-local memory. Here a thread's word is its context, which
//! serves one acquisition at a time, so a thread with two contexts has two words. The source also has a
//! variant that polls by compare-exchange and fetch-add, so that the line does not have to be upgraded from
//! shared to owned ("coherence traffic reduction"). It is left out, because a model checker takes a poll that
//! writes for progress.
//!
//! # Memory ordering
//!
//! The swap of `tail` is `AcqRel`. By `Acquire` it sees the last section if the lock was free, by `Release` it
//! publishes that `grant` is 0. The store of the address is `Release` and the poll for it `Acquire`: this pair
//! is the handoff. The store of 0 is `Release` and the owner's poll `Acquire`, so that the successor's last
//! access to the word happens before the owner reuses or frees it.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::{Fairness, LockInfo, RawLock};

/// One word for a lock and one for a thread: see the [source file](self).
#[derive(Debug)]
pub struct Hemlock<P: Platform> {
    tail: P::AtomicPtr<Word<P>>,
}

/// The word of one thread, on its own cache line because its successor polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Word<P: Platform> {
    /// The address of the lock that its thread hands off, or 0.
    grant: P::AtomicUsize,
}

impl<P: Platform> Default for Word<P> {
    fn default() -> Self {
        Self { grant: AtomicInt::new(0) }
    }
}

// SAFETY, as a lock: a thread returns from `lock` when it found no predecessor, or when its predecessor granted this
// lock; each owner grants it to the one thread that found its word at the tail.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Hemlock<P> {
        INFO: LockInfo {
            name: "hemlock",
            fairness: Fairness::Fifo,
            source: "Dice and Kogan, Hemlock: Compact and Scalable Mutual Exclusion (2021)",
            teaches: "A queue with one word a thread: an unlock waits until its successor has taken note",
            ..LockInfo::USUAL
        },
        Context: Word<P>,
        new: Self { tail: AtomicPointer::new(ptr::null_mut()) },
        lock: |this, word| {
            let predecessor = this.tail.swap(ptr::from_ref(word).cast_mut(), Ordering::AcqRel);
            if !predecessor.is_null() {
                // SAFETY: the predecessor's unlock ends, and its word with it, only after the store of 0
                // below: tail is no longer its own word.
                let grant = unsafe { &(*predecessor).grant };
                while grant.load(Ordering::Acquire) != ptr::from_ref(this).addr() {
                    P::pause();
                }
                grant.store(0, Ordering::Release);
            }
        },
        try_lock: |this, word| {
            let own = ptr::from_ref(word).cast_mut();
            this.tail
                .compare_exchange(ptr::null_mut(), own, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        },
        unlock: |this, word| {
            let own = ptr::from_ref(word).cast_mut();
            if this
                .tail
                .compare_exchange(own, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                .is_err()
            {
                // From here on the successor may unlock and free the lock: only its address is used.
                word.grant.store(ptr::from_ref(this).addr(), Ordering::Release);
                while word.grant.load(Ordering::Acquire) != 0 {
                    P::pause();
                }
            }
        },
        is_idle: |this| this.tail.load(Ordering::Relaxed).is_null(),
    }
}
