//! usync's reader-writer lock.
//!
//! Source: the crate `usync` 0.2.1, `rwlock.rs`.
//!
//! Teaches: the lock's word has one list of nodes on the stacks of waiters of both kinds. While the
//! list is not empty, its last node has the count of readers.
//!
//! ```text
//! word: readers, or pointer to the newest node | queue locked (8) | queued (4) | reading (2) | locked (1)
//! ```
//!
//! After the unlock: the word is touched, like the mutex's.

use ondeck::platform::Native;
use usync::RawRwLock as Raw;
use usync::lock_api::RawRwLock as _;

use crate::peers::is_like_new;
use crate::{CondvarKind, LockInfo, Origin, RawRwLock, Waiting};

/// `usync::RawRwLock`, the inner lock of its `RwLock`.
// SAFETY, as a lock: `lock_api::RawRwLock` requires the same of its implementations as `RawRwLock`.
#[derive(Debug)]
pub struct UsyncRwLock(Raw);

raw_rwlock! {
    unsafe impl RawRwLock<Native> for UsyncRwLock {
        INFO: LockInfo {
            name: "usync_rwlock",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            condvar: CondvarKind::Without,
            source: "The crate usync 0.2.1, RwLock, by kprotty",
            teaches: "Readers and writers wait in one list, and its last node has the count of readers",
            ..LockInfo::USUAL
        },
        new: Self(Raw::INIT),
        read: |this, ()| this.0.lock_shared(),
        try_read: |this, ()| this.0.try_lock_shared(),
        // SAFETY: the calling thread is a reader.
        unlock_read: |this, ()| unsafe { this.0.unlock_shared() },
        write: |this, ()| this.0.lock_exclusive(),
        try_write: |this, ()| this.0.try_lock_exclusive(),
        // SAFETY: the calling thread is the writer.
        unlock_write: |this, ()| unsafe { this.0.unlock_exclusive() },
        is_idle: |this| {
            const { assert!(size_of::<Raw>() == size_of::<usize>()) };
            let new = Raw::INIT;
            // SAFETY: one atomic pointer, so there is no room for padding.
            unsafe { is_like_new(&mut this.0, &new) }
        },
    }
}
