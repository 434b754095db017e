//! The `spin` crate's reader-writer lock.
//!
//! Source: the crate `spin` 0.12, `rwlock.rs`.
//!
//! Teaches: the ready-made counter of Rust programs, with a fetch-add in each read that is undone
//! if there was a writer.
//!
//! The contexts keep the guards. A forced unlock of a writer would not do: it asserts that no
//! reader is counted, and a reader that is about to undo its addition is.
//!
//! After the unlock: nothing is touched. An unlock is one read-modify-write.

use ondeck::platform::Native;
use spin::{RwLockReadGuard, RwLockWriteGuard};

use crate::kept::Kept;
use crate::{CondvarKind, LockInfo, Origin, RawRwLock};

/// `spin::RwLock<()>` with its default strategy for waiting.
// SAFETY, as a lock: it excludes and synchronizes for as long as its guards live, which is from
// `read` or `write` to the unlock.
#[derive(Debug, Default)]
pub struct SpinRwLock(spin::RwLock<()>);

keeps!(keep_reader RwLockReadGuard);
keeps!(keep_writer RwLockWriteGuard);

raw_rwlock! {
    unsafe impl RawRwLock<Native> for SpinRwLock {
        INFO: LockInfo {
            name: "spin_rwlock",
            origin: Origin::Peer,
            condvar: CondvarKind::Without,
            source: "The crate spin 0.12, its default reader-writer lock",
            teaches: "A reader adds itself first and looks afterwards, so that readers disturb a writer that holds the lock",
            ..LockInfo::USUAL
        },
        Read: Kept<RwLockReadGuard<'static, ()>>,
        Write: Kept<RwLockWriteGuard<'static, ()>>,
        new: Self::default(),
        read: |this, context| keep_reader(context, this.0.read()),
        try_read: |this, context| this.0.try_read().map(|guard| keep_reader(context, guard)).is_some(),
        // SAFETY: this thread acquired the lock with this context.
        unlock_read: |_, context| drop(unsafe { context.take() }),
        write: |this, context| keep_writer(context, this.0.write()),
        try_write: |this, context| this.0.try_write().map(|guard| keep_writer(context, guard)).is_some(),
        // SAFETY: this thread acquired the lock with this context.
        unlock_write: |_, context| drop(unsafe { context.take() }),
        is_idle: |this| this.0.reader_count() == 0 && this.0.writer_count() == 0,
    }
}
