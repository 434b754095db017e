//! The standard library's reader-writer lock.
//!
//! Source: Rust 1.95, `library/std/src/sys/sync/rwlock/futex.rs` and `sync/poison/rwlock.rs`.
//!
//! Teaches: a counter of readers with two marks for waiters in one word, and a second word on which
//! writers sleep. Arriving readers wait for a waiting writer; an unlock wakes writers first.
//!
//! It is used through its public interface, including poisoning: the contexts keep the guards, like
//! those of the mutex.
//!
//! After the unlock: the word is touched. An unlock that leaves waiters changes the word again
//! before it wakes one.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ondeck::platform::Native;

use crate::kept::Kept;
use crate::peers::std_mutex::unpoisoned;
use crate::{CondvarKind, LockInfo, Origin, RawRwLock, Waiting};

/// `std::sync::RwLock<()>`.
// SAFETY, as a lock: it excludes and synchronizes for as long as its guards live, which is from
// `read` or `write` to the unlock.
#[derive(Debug, Default)]
pub struct StdRwLock {
    lock: RwLock<()>,
}

keeps!(keep_reader RwLockReadGuard);
keeps!(keep_writer RwLockWriteGuard);

raw_rwlock! {
    unsafe impl RawRwLock<Native> for StdRwLock {
        INFO: LockInfo {
            name: "std_rwlock",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            condvar: CondvarKind::Without,
            source: "Rust's standard library, std::sync::RwLock",
            teaches: "Arriving readers wait behind a waiting writer, and an unlock wakes writers first",
            ..LockInfo::USUAL
        },
        Read: Kept<RwLockReadGuard<'static, ()>>,
        Write: Kept<RwLockWriteGuard<'static, ()>>,
        new: Self::default(),
        read: |this, context| {
            keep_reader(context, this.lock.read().unwrap_or_else(PoisonError::into_inner));
        },
        try_read: |this, context| {
            unpoisoned(this.lock.try_read()).map(|guard| keep_reader(context, guard)).is_some()
        },
        // SAFETY: this thread acquired the lock with this context.
        unlock_read: |_, context| drop(unsafe { context.take() }),
        write: |this, context| {
            keep_writer(context, this.lock.write().unwrap_or_else(PoisonError::into_inner));
        },
        try_write: |this, context| {
            unpoisoned(this.lock.try_write()).map(|guard| keep_writer(context, guard)).is_some()
        },
        // SAFETY: this thread acquired the lock with this context.
        unlock_write: |_, context| drop(unsafe { context.take() }),
        // Writes and then reads: a mark for a waiter makes one of the attempts fail.
        is_idle: |this| {
            unpoisoned(this.lock.try_write()).is_some() && unpoisoned(this.lock.try_read()).is_some()
        },
    }
}
