//! This project's mutex in place of a reader-writer lock.
//!
//! Source: `ondeck::mutex`, which draws and argues its protocol.
//!
//! Teaches: how much a reader-writer lock can gain. The mutex's readers exclude each other, and yet
//! it is faster than most reader-writer locks if sections are short: a pair is one atomic of a
//! mutex, and two of a reader-writer lock.

use ondeck::mutex::RawMutex;
use ondeck::platform::Host;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// The one-byte mutex of [`ondeck::mutex`], for readers and writers alike.
// SAFETY, as a lock: one thread at a time holds a mutex, and the next owner sees what it did.
#[derive(Debug)]
pub struct MutexRwLock<P: Host>(RawMutex<P>);

raw_rwlock! {
    unsafe impl [P: Host] RawRwLock<P> for MutexRwLock<P> {
        INFO: LockInfo {
            name: "mutex_rwlock",
            origin: Origin::Own,
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            condvar: CondvarKind::Without,
            source: "this project, ondeck::mutex for readers and writers alike",
            teaches: "With short sections a mutex is faster than most reader-writer locks, although readers exclude each other",
            ..LockInfo::USUAL
        },
        SHARES: false,
        new: Self(RawMutex::new()),
        read: |this, ()| this.0.lock(),
        try_read: |this, ()| this.0.try_lock(),
        // SAFETY: the calling thread holds the mutex.
        unlock_read: |this, ()| unsafe { this.0.unlock() },
        write: |this, ()| this.0.lock(),
        try_write: |this, ()| this.0.try_lock(),
        // SAFETY: as above.
        unlock_write: |this, ()| unsafe { this.0.unlock() },
        is_idle: |this| !this.0.is_locked(),
    }
}
