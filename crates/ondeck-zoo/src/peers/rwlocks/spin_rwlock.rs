//! The `spin` crate's reader-writer lock.
//!
//! Source: the crate `spin` 0.12, `rwlock.rs`.
//!
//! Teaches: the ready-made counter of Rust programs, with a fetch-add in each read that is undone if a writer
//! was there.
//!
//! The contexts keep the guards, because a forced unlock of a writer asserts that no reader is counted, and one
//! that is about to undo its addition is.
//!
//! After the unlock: nothing is touched. An unlock is one read-modify-write.

use std::mem;

use ondeck::platform::Native;
use spin::{RwLockReadGuard, RwLockWriteGuard};

use crate::kept::Kept;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// `spin::RwLock<()>` with its default strategy for waiting.
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

// SAFETY: `spin::RwLock` excludes and synchronizes for as long as its guards live, which is from `read` or
// `write` to the unlock.
unsafe impl RawRwLock<Native> for SpinRwLock {
    const INFO: LockInfo = LockInfo {
        name: "spin_rwlock",
        origin: Origin::Peer,
        waiting: Waiting::Spins,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Without,
        source: "The crate spin 0.12, its default reader-writer lock",
        teaches: "A reader adds itself first and looks afterwards, so that readers disturb a writer that holds the lock",
    };

    type Read = Kept<ReadGuard>;
    type Write = Kept<WriteGuard>;

    fn new() -> Self {
        Self::default()
    }

    #[inline]
    unsafe fn read(&self, context: &Self::Read) {
        context.keep(reader(self.0.read()));
    }

    #[inline]
    unsafe fn try_read(&self, context: &Self::Read) -> bool {
        self.0.try_read().map(|guard| context.keep(reader(guard))).is_some()
    }

    #[inline]
    unsafe fn unlock_read(&self, context: &Self::Read) {
        // SAFETY: this thread acquired the lock with this context.
        drop(unsafe { context.take() });
    }

    #[inline]
    unsafe fn write(&self, context: &Self::Write) {
        context.keep(writer(self.0.write()));
    }

    #[inline]
    unsafe fn try_write(&self, context: &Self::Write) -> bool {
        self.0.try_write().map(|guard| context.keep(writer(guard))).is_some()
    }

    #[inline]
    unsafe fn unlock_write(&self, context: &Self::Write) {
        // SAFETY: this thread acquired the lock with this context.
        drop(unsafe { context.take() });
    }

    fn is_idle(&mut self) -> bool {
        self.0.reader_count() == 0 && self.0.writer_count() == 0
    }
}
