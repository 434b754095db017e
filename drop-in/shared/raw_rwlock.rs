//! The raw reader-writer lock, in the same form as the raw mutexes: see `mutexes.rs`.
//!
//! Guards of `parking_lot` do not record how a read lock was acquired. Without the feature
//! `send_guard` a guard stays with its thread, and crate `ondeck` checks that thread's own row for
//! the read. With the feature, any thread may unlock, so each read is counted in the lock's word.

use std::time::{Duration, Instant};

use ondeck::platform::{Native, Timestamp};
use ondeck::wrapped::Access;

use crate::deadlock::Stack;
use crate::methods::{attempts, bumps, changes, guards, locks, unlocks, upgrades};
use crate::time::{after, at};
use crate::{GuardMarker, Observed, attempted};

/// The reader-writer lock without data, four bytes: for [`lock_api::RwLock`].
///
/// If `RECURSIVE`, readers do not wait for waiting writers.
#[repr(transparent)]
pub struct ReadWrite<const RECURSIVE: bool>(ondeck::rwlock::RawRwLock<Native>);

/// The way in which a reader acquires the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// It waits for waiting writers.
    Usual,
    /// It may already have a read lock, and does not wait for waiting writers.
    Recursive,
}

impl Reader {
    #[inline]
    fn access(self) -> Access {
        match self {
            Self::Usual => Access::Read,
            Self::Recursive => Access::ReadRecursive,
        }
    }
}

impl<const RECURSIVE: bool> ReadWrite<RECURSIVE> {
    const READER: Reader = if RECURSIVE { Reader::Recursive } else { Reader::Usual };

    #[inline]
    fn observed(&self) -> Observed<'_, ondeck::rwlock::RawRwLock<Native>> {
        Observed::of(&self.0)
    }

    #[inline]
    fn attempt_read(&self, reader: Reader) -> bool {
        match reader {
            Reader::Recursive => self.0.try_lock_shared_recursive_counted(),
            Reader::Usual if cfg!(feature = "send_guard") => self.0.try_lock_shared_counted(),
            Reader::Usual => self.0.try_lock_shared().is_some(),
        }
    }

    #[inline]
    #[track_caller]
    pub(crate) fn read(&self, reader: Reader) {
        let block = || match reader {
            Reader::Recursive => self.0.lock_shared_recursive_counted(),
            Reader::Usual if cfg!(feature = "send_guard") => self.0.lock_shared_counted(),
            Reader::Usual => drop_token(self.0.lock_shared()),
        };
        let attempt = || self.attempt_read(reader);
        if !attempted(|| self.try_read(reader)) {
            let _stack = Stack::keep();
            self.observed().lock(reader.access(), attempt, || or_abort(block));
        }
    }

    #[inline]
    pub(crate) fn try_read(&self, reader: Reader) -> bool {
        self.observed().try_lock(Access::Read, || self.attempt_read(reader))
    }

    /// Reads the clock only if the lock is not free.
    #[inline]
    #[track_caller]
    pub(crate) fn read_until(&self, reader: Reader, deadline: impl FnOnce() -> Timestamp) -> bool {
        let block = || match reader {
            Reader::Recursive => self.0.try_lock_shared_recursive_counted_until(deadline()),
            Reader::Usual if cfg!(feature = "send_guard") => {
                self.0.try_lock_shared_counted_until(deadline())
            }
            Reader::Usual => self.0.try_lock_shared_until(deadline()).is_some(),
        };
        self.observed().lock_until(reader.access(), || self.attempt_read(reader), block)
    }

    /// # Safety
    ///
    /// The caller has a read lock; without the feature `send_guard`, the calling thread took it.
    #[inline]
    #[track_caller]
    unsafe fn end_read(&self) {
        self.observed().unlock(Access::Read, || {
            if cfg!(feature = "send_guard") {
                // SAFETY: all reads are counted in this case, and the caller has one.
                unsafe { self.0.unlock_shared_counted() };
            } else {
                // SAFETY: the calling thread has a read lock, which is unlocked here only.
                unsafe { self.0.unlock_shared(self.0.forgotten()) };
            }
        });
    }

    /// # Safety
    ///
    /// As for [`end_read`](Self::end_read).
    #[inline]
    #[track_caller]
    unsafe fn bump_read(&self) {
        if cfg!(feature = "send_guard") || RECURSIVE {
            // SAFETY: as the caller promises.
            unsafe { self.end_read() };
            self.read(Self::READER);
        } else {
            // SAFETY: the calling thread has a read lock, and has one again after it.
            let bump = || unsafe { self.0.bump_shared(&mut self.0.forgotten()) };
            self.observed().bump(Access::Read, bump);
        }
    }

    #[inline]
    #[track_caller]
    fn write_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        let block = || self.0.try_lock_exclusive_until(deadline());
        self.observed().lock_until(Access::Alone, || self.0.try_lock_exclusive(), block)
    }

    #[inline]
    #[track_caller]
    fn upgradable_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        let block = || self.0.try_lock_upgradable_until(deadline());
        self.observed().lock_until(Access::Upgradable, || self.0.try_lock_upgradable(), block)
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock, and keeps it if this returns false.
    #[inline]
    unsafe fn upgrade_if_alone(&self) -> bool {
        // SAFETY: as the caller promises.
        let has = unsafe { self.0.try_upgrade() };
        if has {
            self.observed().changes(Access::Upgradable, Access::Alone);
        }
        has
    }

    /// # Safety
    ///
    /// As for [`upgrade_if_alone`](Self::upgrade_if_alone).
    #[inline]
    #[track_caller]
    unsafe fn upgrade_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        // SAFETY: as the caller promises.
        let attempt = || unsafe { self.0.try_upgrade() };
        // SAFETY: as the caller promises.
        let block = || unsafe { self.0.try_upgrade_until(deadline()) };
        self.observed().lock_until(Access::Upgrade, attempt, block)
    }

    /// Reports that the caller holds the lock in another way from now on.
    #[inline]
    fn change(&self, from: Access, to: Access) -> &ondeck::rwlock::RawRwLock<Native> {
        self.observed().changes(from, to);
        &self.0
    }
}

// SAFETY: readers or one writer, as crate `ondeck` promises.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLock for ReadWrite<RECURSIVE> {
    const INIT: Self =
        Self(<ondeck::rwlock::RawRwLock<Native> as ondeck::lock_api::RawRwLock>::INIT);
    guards!(of a reader-writer lock);
    locks!(|self|
        lock_shared => self.read(Self::READER);
        lock_exclusive => {
            let attempt = || self.0.try_lock_exclusive();
            if !attempted(|| self.observed().try_lock(Access::Alone, attempt)) {
                let _stack = Stack::keep();
                self.observed().lock(Access::Alone, attempt, || self.0.lock_exclusive());
            }
        };
    );
    attempts!(|self|
        try_lock_shared() => self.try_read(Self::READER);
        try_lock_exclusive() =>
            self.observed().try_lock(Access::Alone, || self.0.try_lock_exclusive());
    );
    unlocks!(|self|
        unlock_shared => self.end_read();
        unlock_exclusive => self.observed().unlock(Access::Alone, || self.0.unlock_exclusive());
    );

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_locked_exclusive()
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockFair for ReadWrite<RECURSIVE> {
    unlocks!(|self|
        unlock_shared_fair => self.end_read();
        unlock_exclusive_fair =>
            self.observed().unlock(Access::Alone, || self.0.unlock_exclusive_fair());
    );
    bumps!(|self|
        bump_shared => self.bump_read();
        bump_exclusive => self.observed().bump(Access::Alone, || self.0.bump_exclusive());
    );
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockDowngrade for ReadWrite<RECURSIVE> {
    changes!(|self| downgrade => drop_token(self.change(Access::Alone, Access::Read).downgrade()););
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockTimed for ReadWrite<RECURSIVE> {
    type Duration = Duration;
    type Instant = Instant;
    attempts!(|self|
        try_lock_shared_for(timeout: Duration) => self.read_until(Self::READER, || after(timeout));
        try_lock_shared_until(timeout: Instant) => self.read_until(Self::READER, || at(timeout));
        try_lock_exclusive_for(timeout: Duration) => self.write_until(|| after(timeout));
        try_lock_exclusive_until(timeout: Instant) => self.write_until(|| at(timeout));
    );
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgrade for ReadWrite<RECURSIVE> {
    guards!(of an upgradable reader);
    locks!(|self|
        lock_upgradable => {
            let attempt = || self.0.try_lock_upgradable();
            let block = || or_abort(|| self.0.lock_upgradable());
            if !attempted(|| self.observed().try_lock(Access::Upgradable, attempt)) {
                let _stack = Stack::keep();
                self.observed().lock(Access::Upgradable, attempt, block);
            }
        };
    );
    attempts!(|self| try_lock_upgradable() =>
        self.observed().try_lock(Access::Upgradable, || self.0.try_lock_upgradable());
    );
    unlocks!(|self| unlock_upgradable =>
        self.observed().unlock(Access::Upgradable, || self.0.unlock_upgradable());
    );
    changes!(|self| upgrade => {
        let attempt = || self.0.try_upgrade();
        if !attempted(|| self.upgrade_if_alone()) {
            let _stack = Stack::keep();
            self.observed().lock(Access::Upgrade, attempt, || self.0.upgrade());
        }
    };);
    upgrades!(|self| try_upgrade() => self.upgrade_if_alone(););
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeFair for ReadWrite<RECURSIVE> {
    unlocks!(|self|
        unlock_upgradable_fair =>
            self.observed().unlock(Access::Upgradable, || self.0.unlock_upgradable_fair());
    );
    bumps!(|self| bump_upgradable =>
        self.observed().bump(Access::Upgradable, || self.0.bump_upgradable());
    );
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeDowngrade for ReadWrite<RECURSIVE> {
    changes!(|self|
        downgrade_upgradable =>
            drop_token(self.change(Access::Upgradable, Access::Read).downgrade_upgradable());
        downgrade_to_upgradable => self.change(Access::Alone, Access::Upgradable).downgrade_to_upgradable();
    );
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeTimed for ReadWrite<RECURSIVE> {
    attempts!(|self|
        try_lock_upgradable_for(timeout: Duration) => self.upgradable_until(|| after(timeout));
        try_lock_upgradable_until(timeout: Instant) => self.upgradable_until(|| at(timeout));
    );
    upgrades!(|self|
        try_upgrade_for(timeout: Duration) => self.upgrade_until(|| after(timeout));
        try_upgrade_until(timeout: Instant) => self.upgrade_until(|| at(timeout));
    );
}

/// Drops the record of how a read lock was acquired: see the top of this file.
#[inline(always)]
#[allow(clippy::needless_pass_by_value, reason = "what it says is lost here")]
fn drop_token(held: ondeck::rwlock::Shared<Native>) {
    let _ = held;
}

/// Ends the process if `lock` unwinds, as it does if a lock has 2^23 read guards.
///
/// `lock_api` 0.4 relocks a guard that was unlocked for a closure, and drops that guard if the lock
/// unwinds: it would unlock a read that does not exist, and let a writer in together with another
/// reader.
#[inline(always)]
fn or_abort(lock: impl FnOnce()) {
    struct Unwinds;
    impl Drop for Unwinds {
        fn drop(&mut self) {
            std::process::abort();
        }
    }
    let unwinds = Unwinds;
    lock();
    std::mem::forget(unwinds);
}
