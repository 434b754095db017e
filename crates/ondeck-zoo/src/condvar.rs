//! A condition variable for every lock: a futex that counts notifications.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", section "Condition
//! Variables": its sequence number, without its requeue, which has to know the lock.
//!
//! Teaches: all that a condition variable needs from the kernel is to fall asleep only if nothing
//! was notified since the lock was given up.
//!
//! ```text
//! sequence: notifications so far, modulo 2^32 · waiters: threads in `wait` that may be asleep
//!
//! wait:    waiters + 1, read the sequence, unlock,
//!          sleep while the sequence is still the one that was read,
//!          waiters - 1, lock
//! notify:  done if there are no waiters; sequence + 1, wake one or all
//! ```
//!
//! The source makes its system call in every notification. The number of waiters spares it where
//! nobody waits, for two atomic operations in a wait, which makes system calls anyway.
//!
//! # No signal is lost
//!
//! A signal matters to a thread that found its condition false before the notifier made it true.
//! Both did so under the lock, so the waiter released it before the notifier acquired it, and its
//! count and its read of the sequence happen before the notification. Therefore the notifier
//!
//! * counts the waiter, unless that has already woken, and looks at the condition again;
//! * adds one to a sequence that is not older than the one that was read. Either the waiter sleeps
//!   by then and is there to be woken, or the kernel, which compares and falls asleep in one step,
//!   finds another number.
//!
//! The wake may choose a thread that came only after the number had changed. That one had found the
//! condition false under the lock: what the notifier made true was used up by then, and a waiter
//! that sleeps on has missed nothing. A waiter that was not asleep yet leaves by the number.
//!
//! The one hole: 2^32 notifications between reading the sequence and falling asleep bring the
//! number back. The thread would have to be off its CPU for as long as all those take.
//!
//! # Memory ordering
//!
//! All of it is `Relaxed`. What must be seen is ordered by the lock, as said above; the rest is
//! the order of changes to one word, which every ordering keeps. What a notifier did reaches the
//! waiter through the lock too.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{RawCondvar, RawLock};

/// The condition variable of locks without one of their own: a futex that counts notifications. How
/// it works, and why it loses no signal, is told in `src/condvar.rs`.
#[derive(Debug)]
pub struct SequenceCondvar<P: Platform> {
    sequence: P::AtomicU32,
    waiters: P::AtomicU32,
}

impl<P: Platform> SequenceCondvar<P> {
    #[inline]
    fn notify(&self, count: u32) {
        if self.waiters.load(Ordering::Relaxed) != 0 {
            self.sequence.fetch_add(1, Ordering::Relaxed);
            P::futex_wake(&raw const self.sequence, count);
        }
    }
}

// SAFETY: the lock is acquired again after it was released, always; why no signal is lost is told
// above.
unsafe impl<P: Platform, L: RawLock<P>> RawCondvar<P, L> for SequenceCondvar<P> {
    fn new() -> Self {
        Self { sequence: AtomicInt::new(0), waiters: AtomicInt::new(0) }
    }

    unsafe fn wait(&self, lock: &L, context: &L::Context) {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let seen = self.sequence.load(Ordering::Relaxed);
        // SAFETY: the caller holds the lock by this context.
        unsafe { lock.unlock(context) };
        // Every outcome means the same: the caller looks at its condition.
        let _ = P::futex_wait(&self.sequence, seen, None);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the lock was released above, so the context is free; it stays, as the caller
        // says.
        unsafe { lock.lock(context) };
    }

    fn notify_one(&self) {
        self.notify(1);
    }

    fn notify_all(&self) {
        self.notify(u32::MAX);
    }
}
