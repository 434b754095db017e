//! Lockless' condition variable: notify_all wakes one waiter and moves the others to the mutex.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", section "Condition
//! Variables" and, for the second mutex, "Optimized Mutexes".
//!
//! Teaches: to notify all threads it suffices to wake one and to move the others, in the kernel, to
//! the word that the mutex's waiters sleep on. From there each unlock wakes the next. For that, a
//! thread that returns from a wait has to leave the mutex marked as contended.
//!
//! ```text
//! `sequence` (u32), the futex: notifications so far, modulo 2^32
//! `wait_word` (pointer): the word that the mutex's waiters sleep on; null until the first wait
//!
//! wait:        store the mutex's word in `wait_word`, read `sequence`, unlock;
//!              sleep while `sequence` is the value that was read;
//!              lock as a thread that has slept for the mutex does: marked as contended
//! notify one:  sequence + 1, wake one thread
//! notify all:  done if `wait_word` is null; sequence + 1, wake one thread, move the others to the
//!              word in `wait_word`
//! ```
//!
//! # No moved thread is forgotten
//!
//! Moved threads sleep on a mutex whose mark may say that no thread sleeps, and its owner may
//! unlock it without a wake. The woken thread compensates for that: it acquires the mutex and marks
//! it, so its unlock wakes the next thread, which marks it again. Therefore a wait never ends with
//! an ordinary lock, which would not mark. If there was no thread to wake, none was moved.
//!
//! `src/condvar.rs` argues at [`SequenceCondvar`](crate::SequenceCondvar) why no signal is lost,
//! what happens after 2^32 notifications, and why `Relaxed` suffices, also for the pointer.
//!
//! # Differences from the source
//!
//! In the source a condition variable belongs to the first mutex that it is used with. Here each
//! wait stores the mutex's word, because a mutex may move between uses.
//!
//! The source moves threads by `FUTEX_REQUEUE`, which does not compare. [`Platform::futex_requeue`]
//! compares the sequence first. If another notification came in between, this one retries.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::{RawCondvar, RawLock};

/// The part of a mutex that the condition variable uses.
pub trait LocklessMutex<P: Platform>: RawLock<P> {
    /// The word that the mutex's waiters sleep on.
    fn wait_word(&self) -> &P::AtomicU32;

    /// Acquires like a thread that slept for the mutex, and leaves it marked as contended.
    ///
    /// # Safety
    ///
    /// As for [`RawLock::lock`].
    unsafe fn lock_contended(&self, context: &Self::Context);
}

/// Lockless' condition variable: see the [source file](self).
#[derive(Debug)]
pub struct LocklessCondvar<P: Platform> {
    wait_word: P::AtomicPtr<P::AtomicU32>,
    sequence: P::AtomicU32,
}

// SAFETY: each wait that unlocked the mutex locks it again; the file's head argues why no signal is
// lost.
unsafe impl<P: Platform, L: LocklessMutex<P>> RawCondvar<P, L> for LocklessCondvar<P> {
    fn new() -> Self {
        Self { wait_word: AtomicPointer::new(ptr::null_mut()), sequence: AtomicInt::new(0) }
    }

    unsafe fn wait(&self, lock: &L, context: &L::Context) {
        let wait_word = ptr::from_ref(lock.wait_word()).cast_mut();
        // Written only if it changes, because notifiers read it without the lock.
        if self.wait_word.load(Ordering::Relaxed) != wait_word {
            self.wait_word.store(wait_word, Ordering::Relaxed);
        }
        let seen = self.sequence.load(Ordering::Relaxed);
        // SAFETY: the caller holds the lock by this context.
        unsafe { lock.unlock(context) };
        // Every result means the same: the caller rechecks its condition.
        let _ = P::futex_wait(&self.sequence, seen, None);
        // SAFETY: the lock was unlocked above, so the context is free; the caller keeps it in
        // place.
        unsafe { lock.lock_contended(context) };
    }

    fn notify_one(&self) {
        self.sequence.fetch_add(1, Ordering::Relaxed);
        P::futex_wake(&raw const self.sequence, 1);
    }

    fn notify_all(&self) {
        let wait_word = self.wait_word.load(Ordering::Relaxed);
        if wait_word.is_null() {
            return;
        }
        let mut now = self.sequence.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        while P::futex_requeue(&self.sequence, now, 1, wait_word, u32::MAX).is_none() {
            now = self.sequence.load(Ordering::Relaxed);
        }
    }
}
