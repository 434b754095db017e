//! Lockless' condition variable: whoever is notified with others goes to sleep on the mutex instead
//! of waking up for it.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", section "Condition
//! Variables" and, for the second mutex, "Optimized Mutexes".
//!
//! Teaches: waking all is waking one and moving the rest to the mutex's queue in the kernel, where
//! each unlock lets out the next; what it takes is that whoever comes back leaves the mutex marked
//! as contended.
//!
//! ```text
//! sequence: notifications so far, modulo 2^32 · sleepers: the word the mutex's waiters sleep on
//!
//! wait:        note the mutex's word, read the sequence, unlock,
//!              sleep while the sequence is still the one that was read,
//!              lock as a thread does that has slept for the mutex: marked as contended
//! notify one:  sequence + 1, wake one
//! notify all:  done if nobody ever waited; sequence + 1, wake one, move the others to the mutex
//! ```
//!
//! # Nobody is left behind on the mutex
//!
//! Those that were moved sleep on a mutex whose mark may say that nobody does, and its owner may
//! release it so. The one that was woken repairs that: it acquires with the mark set, so that its
//! unlock wakes the next, who marks again. Therefore a wait never ends with an ordinary lock, which
//! would not mark; and if there was none to wake there was none to move.
//!
//! Why no signal is lost, the hole of 2^32 notifications, and why `Relaxed` is enough, the pointer
//! included, is said at [`SequenceCondvar`](crate::SequenceCondvar), in `src/condvar.rs`.
//!
//! # What differs from the source
//!
//! There, a condition variable belongs to the first mutex it is used with. Here the word is noted
//! in each wait, since a mutex may move between uses.
//!
//! The source moves with `FUTEX_REQUEUE`, whatever the sequence is. [`Platform::futex_requeue`]
//! compares first; if another notification came in between, this one tries again.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::{RawCondvar, RawLock};

/// What the condition variable knows of a mutex.
pub trait LocklessMutex<P: Platform>: RawLock<P> {
    /// The word on which those sleep that wait for the mutex.
    fn sleepers(&self) -> &P::AtomicU32;

    /// Acquires as after a sleep for the mutex: the mark of contention is set afterwards.
    ///
    /// # Safety
    ///
    /// As for [`RawLock::lock`].
    unsafe fn lock_contended(&self, context: &Self::Context);
}

/// Lockless' condition variable: see the [source file](self) for how it works.
#[derive(Debug)]
pub struct LocklessCondvar<P: Platform> {
    sleepers: P::AtomicPtr<P::AtomicU32>,
    sequence: P::AtomicU32,
}

// SAFETY: the lock is acquired again after it was released, always; why no signal is lost is told
// above.
unsafe impl<P: Platform, L: LocklessMutex<P>> RawCondvar<P, L> for LocklessCondvar<P> {
    fn new() -> Self {
        Self { sleepers: AtomicPointer::new(ptr::null_mut()), sequence: AtomicInt::new(0) }
    }

    unsafe fn wait(&self, lock: &L, context: &L::Context) {
        let sleepers = ptr::from_ref(lock.sleepers()).cast_mut();
        // Written only if it changes: notifiers without the lock read it.
        if self.sleepers.load(Ordering::Relaxed) != sleepers {
            self.sleepers.store(sleepers, Ordering::Relaxed);
        }
        let seen = self.sequence.load(Ordering::Relaxed);
        // SAFETY: the caller holds the lock by this context.
        unsafe { lock.unlock(context) };
        // Every outcome means the same: the caller looks at its condition.
        let _ = P::futex_wait(&self.sequence, seen, None);
        // SAFETY: the lock was released above, so the context is free; it stays, as the caller
        // says.
        unsafe { lock.lock_contended(context) };
    }

    fn notify_one(&self) {
        self.sequence.fetch_add(1, Ordering::Relaxed);
        P::futex_wake(&raw const self.sequence, 1);
    }

    fn notify_all(&self) {
        let sleepers = self.sleepers.load(Ordering::Relaxed);
        if sleepers.is_null() {
            return;
        }
        let mut now = self.sequence.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        while P::futex_requeue(&self.sequence, now, 1, sleepers, u32::MAX).is_none() {
            now = self.sequence.load(Ordering::Relaxed);
        }
    }
}
