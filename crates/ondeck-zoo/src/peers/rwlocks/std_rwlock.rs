//! The standard library's reader-writer lock.
//!
//! Source: Rust 1.95, `library/std/src/sys/sync/rwlock/futex.rs` and `sync/poison/rwlock.rs`.
//!
//! Teaches: a counter of readers with two marks for waiters in one word, and a second word on which writers sleep.
//! Arriving readers wait for a waiting writer; an unlock wakes writers first.
//!
//! It is used through its public interface, including poisoning: the contexts keep the guards, like those of the mutex.
//!
//! After the unlock: the word is touched. An unlock that leaves waiters changes the word again before it
//! wakes one.

use std::mem;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ondeck::platform::Native;

use crate::kept::Kept;
use crate::peers::std_mutex::unpoisoned;
use crate::{CondvarKind, LockInfo, Origin, RawRwLock, Waiting};

/// `std::sync::RwLock<()>`.
// SAFETY, as a lock: it excludes and synchronizes for as long as its guards live, which is from `read` or `write` to the
// unlock.
#[derive(Debug, Default)]
pub struct StdRwLock {
    lock: RwLock<()>,
}

type ReadGuard = RwLockReadGuard<'static, ()>;
type WriteGuard = RwLockWriteGuard<'static, ()>;

#[inline(always)]
fn reader(guard: RwLockReadGuard<'_, ()>) -> ReadGuard {
    // SAFETY: only the lifetime changes. The guard is used once more, by `unlock_read`, whose caller has
    // the lock still borrowed; without an unlock it is never used or dropped.
    unsafe { mem::transmute::<RwLockReadGuard<'_, ()>, ReadGuard>(guard) }
}

#[inline(always)]
fn writer(guard: RwLockWriteGuard<'_, ()>) -> WriteGuard {
    // SAFETY: as for `reader`, by `unlock_write`.
    unsafe { mem::transmute::<RwLockWriteGuard<'_, ()>, WriteGuard>(guard) }
}

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
        Read: Kept<ReadGuard>,
        Write: Kept<WriteGuard>,
        new: Self::default(),
        read: |this, context| {
            context.keep(reader(this.lock.read().unwrap_or_else(PoisonError::into_inner)));
        },
        try_read: |this, context| {
            unpoisoned(this.lock.try_read()).map(|guard| context.keep(reader(guard))).is_some()
        },
        // SAFETY: this thread acquired the lock with this context.
        unlock_read: |_, context| drop(unsafe { context.take() }),
        write: |this, context| {
            context.keep(writer(this.lock.write().unwrap_or_else(PoisonError::into_inner)));
        },
        try_write: |this, context| {
            unpoisoned(this.lock.try_write()).map(|guard| context.keep(writer(guard))).is_some()
        },
        // SAFETY: this thread acquired the lock with this context.
        unlock_write: |_, context| drop(unsafe { context.take() }),
        // Writes and then reads: a mark for a waiter makes one of the attempts fail.
        is_idle: |this| {
            unpoisoned(this.lock.try_write()).is_some() && unpoisoned(this.lock.try_read()).is_some()
        },
    }
}
