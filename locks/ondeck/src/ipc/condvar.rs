//! The condition variable for shared memory.
//!
//! ```text
//! notified       the number of notifications, modulo 2^32: the futex word
//! waiters        the number of threads that wait, or have ended while they waited
//!
//! wait           waiters + 1; read `notified`; unlock the mutex; sleep while `notified` is the same;
//!                waiters - 1; lock the mutex
//! notify         if there are waiters: notified + 1, and wake one, or all
//! ```
//!
//! A waiter is counted, and has read `notified`, before it unlocks the mutex. So a notifying thread
//! that has owned the mutex since then finds it counted, and changes the word that it sleeps on.
//!
//! A wait may end without a notification, and a notification may end several waits: the caller
//! checks its condition, as always. If the woken thread ends before it makes the others' condition
//! true, the kernel does not wake another: a program whose processes may be killed notifies all, or
//! waits with a deadline. If 2^32 notifications come between a waiter's read and its sleep, it
//! misses them.
//!
//! Waiters are not moved to the mutex's queue, as [`crate::Condvar`] does: the kernel could do it
//! (`FUTEX_CMP_REQUEUE`), but a moved thread would sleep at the mutex without being pending there,
//! and would be forgotten with the thread before it.
//!
//! # Memory ordering
//!
//! The condition variable orders nothing by itself; the mutex does.

extern crate std;

use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::time::Instant;

use super::{LockResult, MutexGuard};
use crate::mutex::deadline;
use crate::platform::{FutexWait, Native, Platform, Timestamp};

/// A condition variable for [`Mutex`](super::Mutex)es in memory that several processes share: eight
/// bytes.
///
/// A wait may end spuriously. Its waiters may all use different mutexes.
///
/// # Panics
///
/// Never.
///
/// # Cost
///
/// If no thread waits, a notification is a load; otherwise it is a system call.
#[repr(C)]
pub struct Condvar {
    notified: AtomicU32,
    waiters: AtomicU32,
}

impl Condvar {
    /// Creates a condition variable without waiters.
    pub const fn new() -> Self {
        Self { notified: AtomicU32::new(0), waiters: AtomicU32::new(0) }
    }

    /// Unlocks the mutex, waits for a notification, and locks the mutex again.
    ///
    /// # Errors
    ///
    /// [`OwnerDied`](super::OwnerDied), with the lock, if a thread ended while it owned the mutex.
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<'a, T> {
        self.wait_by(guard, None).0
    }

    /// As [`wait`](Self::wait), for at most `timeout`. Also returns whether the wait ended before
    /// that.
    pub fn wait_for<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> (LockResult<'a, T>, bool) {
        self.wait_by(guard, Some(Native::now().after(timeout)))
    }

    /// As [`wait_for`](Self::wait_for), until `instant` at the latest.
    pub fn wait_until<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        instant: Instant,
    ) -> (LockResult<'a, T>, bool) {
        self.wait_by(guard, Some(deadline(instant)))
    }

    fn wait_by<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Option<Timestamp>,
    ) -> (LockResult<'a, T>, bool) {
        // Relaxed: the mutex orders these accesses for threads that notify.
        // step: wait
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let before = self.notified.load(Ordering::Relaxed);
        let mut in_time = true;
        let guard = guard.unlocked(|| {
            let slept = Native::shared_futex_wait(&self.notified, before, deadline);
            in_time = slept != FutexWait::TimedOut;
            self.waiters.fetch_sub(1, Ordering::Relaxed);
        });
        (guard, in_time)
    }

    /// Wakes a waiting thread, if there is one.
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.notify(u32::MAX);
    }

    fn notify(&self, most: u32) {
        // step: notify
        if self.waiters.load(Ordering::Relaxed) != 0 {
            self.notified.fetch_add(1, Ordering::Relaxed);
            Native::shared_futex_wake(&raw const self.notified, most);
        }
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiters = self.waiters.load(Ordering::Relaxed);
        f.debug_struct("Condvar").field("waiters", &waiters).finish_non_exhaustive()
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}
