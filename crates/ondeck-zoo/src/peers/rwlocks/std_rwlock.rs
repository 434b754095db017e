//! The standard library's reader-writer lock.
//!
//! Source: Rust 1.95, `library/std/src/sys/sync/rwlock/futex.rs` and `sync/poison/rwlock.rs`.
//!
//! Teaches: a counter of readers with two marks for waiters in one word, and a second word on which writers
//! sleep. Arriving readers wait behind a waiting writer; an unlock wakes writers first.
//!
//! It is used through its public interface, poisoning included: the contexts keep the guards, as those of the
//! mutex do.
//!
//! After the unlock: the word is touched. An unlock that leaves waiters changes the word again before it
//! wakes one.

use std::mem;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use ondeck::platform::Native;

use crate::kept::Kept;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// `std::sync::RwLock<()>`.
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

// SAFETY: `std::sync::RwLock` excludes and synchronizes for as long as its guards live, which is from
// `read` or `write` to the unlock.
unsafe impl RawRwLock<Native> for StdRwLock {
    const INFO: LockInfo = LockInfo {
        name: "std_rwlock",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Without,
        source: "Rust's standard library, std::sync::RwLock",
        teaches: "Arriving readers wait behind a waiting writer, and an unlock wakes writers first",
    };

    type Read = Kept<ReadGuard>;
    type Write = Kept<WriteGuard>;

    fn new() -> Self {
        Self::default()
    }

    #[inline]
    unsafe fn read(&self, context: &Self::Read) {
        context.keep(reader(self.lock.read().unwrap_or_else(PoisonError::into_inner)));
    }

    #[inline]
    unsafe fn try_read(&self, context: &Self::Read) -> bool {
        match self.lock.try_read() {
            Ok(guard) => context.keep(reader(guard)),
            Err(TryLockError::Poisoned(error)) => context.keep(reader(error.into_inner())),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }

    #[inline]
    unsafe fn unlock_read(&self, context: &Self::Read) {
        // SAFETY: this thread acquired the lock with this context.
        drop(unsafe { context.take() });
    }

    #[inline]
    unsafe fn write(&self, context: &Self::Write) {
        context.keep(writer(self.lock.write().unwrap_or_else(PoisonError::into_inner)));
    }

    #[inline]
    unsafe fn try_write(&self, context: &Self::Write) -> bool {
        match self.lock.try_write() {
            Ok(guard) => context.keep(writer(guard)),
            Err(TryLockError::Poisoned(error)) => context.keep(writer(error.into_inner())),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }

    #[inline]
    unsafe fn unlock_write(&self, context: &Self::Write) {
        // SAFETY: this thread acquired the lock with this context.
        drop(unsafe { context.take() });
    }

    /// By writing and then reading: a mark for a waiter lets one of them fail.
    fn is_idle(&mut self) -> bool {
        !matches!(self.lock.try_write(), Err(TryLockError::WouldBlock))
            && !matches!(self.lock.try_read(), Err(TryLockError::WouldBlock))
    }
}
