//! This project's mutex in the place of a reader-writer lock.
//!
//! Source: `ondeck::mutex`, which draws and argues its protocol.
//!
//! Teaches: what a reader-writer lock has to gain at all. Its readers exclude each other, and yet it is
//! faster than most reader-writer locks if sections are short: a mutex is one atomic for a pair, and
//! they are two.

use ondeck::mutex::RawMutex;
use ondeck::platform::Host;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// The one-byte mutex of [`ondeck::mutex`], for readers and writers alike.
#[derive(Debug)]
pub struct MutexRwLock<P: Host>(RawMutex<P>);

// SAFETY: one thread at a time holds a mutex, and what it did is seen by the next.
unsafe impl<P: Host> RawRwLock<P> for MutexRwLock<P> {
    const INFO: LockInfo = LockInfo {
        name: "mutex_rwlock",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Without,
        source: "this project, ondeck::mutex for readers and writers alike",
        teaches: "With short sections a mutex is faster than most reader-writer locks, although readers exclude each other",
    };

    const SHARES: bool = false;

    type Read = ();
    type Write = ();

    fn new() -> Self {
        Self(RawMutex::new())
    }

    #[inline]
    unsafe fn read(&self, (): &()) {
        self.0.lock();
    }

    #[inline]
    unsafe fn try_read(&self, (): &()) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock_read(&self, (): &()) {
        // SAFETY: the calling thread holds the mutex.
        unsafe { self.0.unlock() };
    }

    #[inline]
    unsafe fn write(&self, (): &()) {
        self.0.lock();
    }

    #[inline]
    unsafe fn try_write(&self, (): &()) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock_write(&self, (): &()) {
        // SAFETY: the calling thread holds the mutex.
        unsafe { self.0.unlock() };
    }

    fn is_idle(&mut self) -> bool {
        !self.0.is_locked()
    }
}
