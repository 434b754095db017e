//! The `spin` crate's reader-writer lock.
//!
//! Source: the crate `spin` 0.12, `rwlock.rs`.
//!
//! Teaches: the ready-made counter of Rust programs, with a fetch-add in each read that is undone if there was a
//! writer.
//!
//! The contexts keep the guards. A forced unlock of a writer would not do: it asserts that no reader is counted, and
//! a reader that is about to undo its addition is.
//!
//! After the unlock: nothing is touched. An unlock is one read-modify-write.

use std::mem;

use ondeck::platform::Native;
use spin::{RwLockReadGuard, RwLockWriteGuard};

use crate::kept::Kept;
use crate::{CondvarKind, LockInfo, Origin, RawRwLock, Waiting};

/// `spin::RwLock<()>` with its default strategy for waiting.
// SAFETY, as a lock: it excludes and synchronizes for as long as its guards live, which is from `read` or `write` to
// the unlock.
#[derive(Debug, Default)]
pub struct SpinRwLock(spin::RwLock<()>);

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
    unsafe impl RawRwLock<Native> for SpinRwLock {
        INFO: LockInfo {
            name: "spin_rwlock",
            origin: Origin::Peer,
            waiting: Waiting::Spins,
            condvar: CondvarKind::Without,
            source: "The crate spin 0.12, its default reader-writer lock",
            teaches: "A reader adds itself first and looks afterwards, so that readers disturb a writer that holds the lock",
            ..LockInfo::USUAL
        },
        Read: Kept<ReadGuard>,
        Write: Kept<WriteGuard>,
        new: Self::default(),
        read: |this, context| context.keep(reader(this.0.read())),
        try_read: |this, context| this.0.try_read().map(|guard| context.keep(reader(guard))).is_some(),
        // SAFETY: this thread acquired the lock with this context.
        unlock_read: |_, context| drop(unsafe { context.take() }),
        write: |this, context| context.keep(writer(this.0.write())),
        try_write: |this, context| this.0.try_write().map(|guard| context.keep(writer(guard))).is_some(),
        // SAFETY: this thread acquired the lock with this context.
        unlock_write: |_, context| drop(unsafe { context.take() }),
        is_idle: |this| this.0.reader_count() == 0 && this.0.writer_count() == 0,
    }
}
