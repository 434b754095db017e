//! A condition variable for every lock: a futex that counts notifications.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", section "Condition
//! Variables": its sequence number, without its requeue, which has to know the lock.
//!
//! Teaches: all that a condition variable needs of the kernel is that a thread sleeps only if no
//! notification came since it unlocked.
//!
//! ```text
//! sequence (u32), the futex   notifications so far, modulo 2^32
//! waiters (u32)               threads in `wait` that may be asleep
//!
//! wait:    waiters + 1, read the sequence, unlock;
//!          sleep while the sequence is the value that was read;
//!          waiters - 1, lock
//! notify:  done if `waiters` is 0; sequence + 1, wake one thread or all
//! ```
//!
//! In the source each notification makes a system call. Here `waiters` spares it if no thread
//! waits. That costs two atomic operations in a wait, which makes system calls anyway.
//!
//! # No signal is lost
//!
//! A signal matters to a thread that found its condition false before the notifier made it true.
//! Both did so under the lock. So the waiter unlocked before the notifier locked, and the waiter's
//! count and its read of the sequence happen before the notification. Therefore the notifier
//!
//! * finds the waiter counted, unless that has already woken and reads the condition again;
//! * adds 1 to a sequence that is not older than the one that the waiter read. If the waiter sleeps
//!   by then, the wake finds it. If it does not, the kernel compares and puts it to sleep in one
//!   step, and finds another number.
//!
//! The wake may choose a thread that began to wait after the number had changed. That thread found
//! its condition false under the lock, so another one had used up by then what the notifier made
//! true. A waiter that sleeps on has missed nothing. A waiter that was not asleep yet leaves
//! because of the number.
//!
//! There is one hole. If 2^32 notifications come between a waiter's read of the sequence and its
//! sleep, the number is the same again. The waiter would have to be off its CPU for as long as they
//! take.
//!
//! # Memory ordering
//!
//! Everything is `Relaxed`. What a thread must see is ordered by the lock, as said above. The rest
//! is the order of changes to one word, which every ordering keeps. What a notifier did before
//! reaches the waiter through the lock, too.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{RawCondvar, RawLock};

/// The condition variable of locks without one of their own: a futex that counts notifications. How
/// it works, and why it loses no signal, is said in `src/condvar.rs`.
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

// SAFETY: each wait that unlocked the lock locks it again; why no signal is lost is said above.
unsafe impl<P: Platform, L: RawLock<P>> RawCondvar<P, L> for SequenceCondvar<P> {
    fn new() -> Self {
        Self { sequence: AtomicInt::new(0), waiters: AtomicInt::new(0) }
    }

    unsafe fn wait(&self, lock: &L, context: &L::Context) {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let seen = self.sequence.load(Ordering::Relaxed);
        // SAFETY: the caller holds the lock by this context.
        unsafe { lock.unlock(context) };
        // Every outcome means the same: the caller reads its condition again.
        let _ = P::futex_wait(&self.sequence, seen, None);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the lock was unlocked above, so the context is free; it stays, as the caller
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
