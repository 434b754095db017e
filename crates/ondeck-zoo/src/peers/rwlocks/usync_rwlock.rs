//! usync's reader-writer lock.
//!
//! Source: the crate `usync` 0.2.1, `rwlock.rs`.
//!
//! Teaches: waiters of both kinds are in one list of nodes on their stacks, in the lock's word. While there
//! is a list, the count of readers is in its last node.
//!
//! ```text
//! word: readers, or pointer to the newest node | queue locked (8) | queued (4) | reading (2) | locked (1)
//! ```
//!
//! After the unlock: the word is touched, as the mutex's is.

use ondeck::platform::Native;
use usync::RawRwLock as Raw;
use usync::lock_api::RawRwLock as _;

use crate::peers::is_like_new;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// `usync::RawRwLock`, which its `RwLock` is made of.
#[derive(Debug)]
pub struct UsyncRwLock(Raw);

// SAFETY: `lock_api::RawRwLock` asks of its implementations what `RawRwLock` asks.
unsafe impl RawRwLock<Native> for UsyncRwLock {
    const INFO: LockInfo = LockInfo {
        name: "usync_rwlock",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Without,
        source: "The crate usync 0.2.1, RwLock, by kprotty",
        teaches: "Readers and writers wait in one list, and its last node has the count of readers",
    };

    type Read = ();
    type Write = ();

    fn new() -> Self {
        Self(Raw::INIT)
    }

    #[inline]
    unsafe fn read(&self, (): &()) {
        self.0.lock_shared();
    }

    #[inline]
    unsafe fn try_read(&self, (): &()) -> bool {
        self.0.try_lock_shared()
    }

    #[inline]
    unsafe fn unlock_read(&self, (): &()) {
        // SAFETY: the calling thread is a reader.
        unsafe { self.0.unlock_shared() };
    }

    #[inline]
    unsafe fn write(&self, (): &()) {
        self.0.lock_exclusive();
    }

    #[inline]
    unsafe fn try_write(&self, (): &()) -> bool {
        self.0.try_lock_exclusive()
    }

    #[inline]
    unsafe fn unlock_write(&self, (): &()) {
        // SAFETY: the calling thread is the writer.
        unsafe { self.0.unlock_exclusive() };
    }

    fn is_idle(&mut self) -> bool {
        const { assert!(size_of::<Raw>() == size_of::<usize>()) };
        let new = Raw::INIT;
        // SAFETY: one atomic pointer, so there is no room for padding.
        unsafe { is_like_new(&mut self.0, &new) }
    }
}
