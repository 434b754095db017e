//! A condition variable for every lock: a futex that counts notifications.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", section "Condition
//! Variables": its sequence number, without its requeue, which depends on the lock.
//!
//! Teaches: a condition variable needs one thing of the kernel: a thread sleeps only if no
//! notification has come since it unlocked.
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
//! In the source each notification makes a system call. Here `waiters` avoids the call if no thread
//! waits. That costs two atomic operations in a wait, which makes system calls anyway.
//!
//! # No signal is lost
//!
//! A signal matters to a thread that found its condition false before the notifier made it true.
//! Both did so under the lock. So the waiter unlocked before the notifier locked, and the waiter's
//! count and its read of the sequence happen before the notification. Therefore the notifier
//!
//! * finds the waiter counted, unless the waiter has already woken and rechecks the condition;
//! * adds 1 to a sequence that is not older than the one that the waiter read. If the waiter is
//!   asleep, the wake finds it. Otherwise the kernel's compare-and-sleep is one step, and finds
//!   another number.
//!
//! The wake may choose a thread that began to wait after the number had changed. That thread found
//! its condition false under the lock, so another thread had already consumed what the notifier
//! made true. A waiter that stays asleep has missed nothing. A waiter that was not asleep yet
//! leaves because of the number.
//!
//! There is one hole. If 2^32 notifications come between a waiter's read of the sequence and its
//! sleep, the number is the same again. The waiter would have to be off its CPU for as long as they
//! take.
//!
//! # Memory ordering
//!
//! All operations are `Relaxed`. The lock orders what a thread must see, as argued above. The rest
//! follows from the order of changes to one word, which every ordering keeps. The notifier's
//! earlier actions also reach the waiter through the lock.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{RawCondvar, RawLock};

/// The condition variable of locks that have none themselves: a futex that counts notifications.
/// `src/condvar.rs` explains how it works, and why it loses no signal.
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

// SAFETY: each wait that unlocked the lock locks it again; the file's head argues why no signal is
// lost.
unsafe impl<P: Platform, L: RawLock<P>> RawCondvar<P, L> for SequenceCondvar<P> {
    fn new() -> Self {
        Self { sequence: AtomicInt::new(0), waiters: AtomicInt::new(0) }
    }

    unsafe fn wait(&self, lock: &L, context: &L::Context) {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let seen = self.sequence.load(Ordering::Relaxed);
        // SAFETY: the caller holds the lock by this context.
        unsafe { lock.unlock(context) };
        // Every result means the same: the caller rechecks its condition.
        let _ = P::futex_wait(&self.sequence, seen, None);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the lock was unlocked above, so the context is free; the caller keeps it in
        // place.
        unsafe { lock.lock(context) };
    }

    fn notify_one(&self) {
        self.notify(1);
    }

    fn notify_all(&self) {
        self.notify(u32::MAX);
    }
}
