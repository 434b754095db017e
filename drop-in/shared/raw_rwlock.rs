//! The raw reader-writer lock, in the same form as the raw mutexes: see `mutexes.rs`.
//!
//! Guards of `parking_lot` do not record how a read lock was acquired. Without the feature `send_guard` a
//! guard stays with its thread, and crate `ondeck` checks that thread's own row for the read. With the
//! feature, any thread may unlock, so each read is counted in the lock's word.

use std::time::{Duration, Instant};

use ondeck::platform::{Native, Timestamp};

use crate::GuardMarker;
use crate::deadlock::{self, Ends, Held, Want};
use crate::methods::{attempts, bumps, changes, guards, locks, unlocks, upgrades};
use crate::time::{after, at};

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
    fn want(self) -> Want {
        match self {
            Self::Usual => Want::Read,
            Self::Recursive => Want::Recursive,
        }
    }
}

impl<const RECURSIVE: bool> ReadWrite<RECURSIVE> {
    const READER: Reader = if RECURSIVE { Reader::Recursive } else { Reader::Usual };

    #[inline]
    fn key(&self) -> usize {
        (&raw const *self).addr()
    }

    #[inline]
    fn attempt_read(&self, reader: Reader) -> bool {
        match reader {
            Reader::Recursive => self.0.try_lock_shared_recursive().is_some(),
            Reader::Usual if cfg!(feature = "send_guard") => self.0.try_lock_shared_counted(),
            Reader::Usual => self.0.try_lock_shared().is_some(),
        }
    }

    #[inline]
    pub(crate) fn read(&self, reader: Reader) {
        let wait = || {
            or_abort(|| match reader {
                Reader::Recursive => drop_token(self.0.lock_shared_recursive()),
                Reader::Usual if cfg!(feature = "send_guard") => self.0.lock_shared_counted(),
                Reader::Usual => drop_token(self.0.lock_shared()),
            });
            true
        };
        let attempt = || self.attempt_read(reader);
        deadlock::acquire(self.key(), reader.want(), Ends::Never, attempt, wait);
    }

    #[inline]
    pub(crate) fn try_read(&self, reader: Reader) -> bool {
        deadlock::try_acquire(self.key(), reader.want(), || self.attempt_read(reader))
    }

    /// Reads the clock only if the lock is not free.
    #[inline]
    pub(crate) fn read_until(&self, reader: Reader, deadline: impl FnOnce() -> Timestamp) -> bool {
        self.try_read(reader) || {
            let wait = || match reader {
                Reader::Recursive => self.0.try_lock_shared_recursive_until(deadline()).is_some(),
                Reader::Usual if cfg!(feature = "send_guard") => {
                    self.0.try_lock_shared_counted_until(deadline())
                }
                Reader::Usual => self.0.try_lock_shared_until(deadline()).is_some(),
            };
            deadlock::acquire(self.key(), reader.want(), Ends::AtADeadline, || false, wait)
        }
    }

    /// # Safety
    ///
    /// The caller has a read lock; without the feature `send_guard`, the calling thread took it.
    #[inline]
    unsafe fn end_read(&self) {
        deadlock::releases(self.key(), Held::Read);
        if cfg!(feature = "send_guard") {
            // SAFETY: all reads are counted in this case, and the caller has one.
            unsafe { self.0.unlock_shared_counted() };
        } else {
            // SAFETY: the calling thread has a read lock, which is unlocked here only.
            unsafe { self.0.unlock_shared(self.0.forgotten()) };
        }
    }

    /// # Safety
    ///
    /// As for [`end_read`](Self::end_read).
    #[inline]
    unsafe fn bump_read(&self) {
        if cfg!(feature = "send_guard") || RECURSIVE {
            // SAFETY: as the caller promises.
            unsafe { self.end_read() };
            self.read(Self::READER);
        } else {
            deadlock::releases(self.key(), Held::Read);
            let mut held = self.0.forgotten();
            // SAFETY: the calling thread has a read lock, and has one again after it.
            unsafe { self.0.bump_shared(&mut held) };
            deadlock::acquired(self.key(), Want::Read);
        }
    }

    #[inline]
    fn try_write(&self) -> bool {
        deadlock::try_acquire(self.key(), Want::Alone, || self.0.try_lock_exclusive())
    }

    #[inline]
    fn write_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        self.try_write() || {
            let wait = || self.0.try_lock_exclusive_until(deadline());
            deadlock::acquire(self.key(), Want::Alone, Ends::AtADeadline, || false, wait)
        }
    }

    #[inline]
    fn try_upgradable(&self) -> bool {
        deadlock::try_acquire(self.key(), Want::Upgradable, || self.0.try_lock_upgradable())
    }

    #[inline]
    fn upgradable_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        self.try_upgradable() || {
            let wait = || self.0.try_lock_upgradable_until(deadline());
            deadlock::acquire(self.key(), Want::Upgradable, Ends::AtADeadline, || false, wait)
        }
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock, and keeps it if this returns false.
    #[inline]
    unsafe fn upgrade_if_alone(&self) -> bool {
        // SAFETY: as the caller promises.
        let has = unsafe { self.0.try_upgrade() };
        if has {
            deadlock::changes(self.key(), Held::Upgradable, Held::Alone);
        }
        has
    }

    /// # Safety
    ///
    /// As for [`upgrade_if_alone`](Self::upgrade_if_alone).
    #[inline]
    unsafe fn upgrade_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        // SAFETY: as the caller promises.
        if unsafe { self.upgrade_if_alone() } {
            return true;
        }
        // SAFETY: as the caller promises.
        let wait = || unsafe { self.0.try_upgrade_until(deadline()) };
        let has = deadlock::acquire(self.key(), Want::Upgrade, Ends::AtADeadline, || false, wait);
        if has {
            deadlock::releases(self.key(), Held::Upgradable);
        }
        has
    }

    /// Records that the caller unlocks the lock.
    #[inline]
    fn give_up(&self, held: Held) -> &ondeck::rwlock::RawRwLock<Native> {
        deadlock::releases(self.key(), held);
        &self.0
    }

    /// Records that the caller holds the lock in another way from now on.
    #[inline]
    fn change(&self, from: Held, to: Held) -> &ondeck::rwlock::RawRwLock<Native> {
        deadlock::changes(self.key(), from, to);
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
            let wait = || {
                self.0.lock_exclusive();
                true
            };
            let attempt = || self.0.try_lock_exclusive();
            deadlock::acquire(self.key(), Want::Alone, Ends::Never, attempt, wait);
        };
    );
    attempts!(|self|
        try_lock_shared() => self.try_read(Self::READER);
        try_lock_exclusive() => self.try_write();
    );
    unlocks!(|self|
        unlock_shared => self.end_read();
        unlock_exclusive => self.give_up(Held::Alone).unlock_exclusive();
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
        unlock_exclusive_fair => self.give_up(Held::Alone).unlock_exclusive_fair();
    );
    bumps!(|self|
        bump_shared => self.bump_read();
        bump_exclusive => {
            self.give_up(Held::Alone).bump_exclusive();
            deadlock::acquired(self.key(), Want::Alone);
        };
    );
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockDowngrade for ReadWrite<RECURSIVE> {
    changes!(|self| downgrade => drop_token(self.change(Held::Alone, Held::Read).downgrade()););
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
            let wait = || {
                or_abort(|| self.0.lock_upgradable());
                true
            };
            let attempt = || self.0.try_lock_upgradable();
            deadlock::acquire(self.key(), Want::Upgradable, Ends::Never, attempt, wait);
        };
    );
    attempts!(|self| try_lock_upgradable() => self.try_upgradable(););
    unlocks!(|self| unlock_upgradable => self.give_up(Held::Upgradable).unlock_upgradable(););
    changes!(|self| upgrade => {
        let attempt = || self.0.try_upgrade();
        let wait = || {
            self.0.upgrade();
            true
        };
        deadlock::acquire(self.key(), Want::Upgrade, Ends::Never, attempt, wait);
        deadlock::releases(self.key(), Held::Upgradable);
    };);
    upgrades!(|self| try_upgrade() => self.upgrade_if_alone(););
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeFair for ReadWrite<RECURSIVE> {
    unlocks!(|self|
        unlock_upgradable_fair => self.give_up(Held::Upgradable).unlock_upgradable_fair();
    );
    bumps!(|self| bump_upgradable => {
        self.give_up(Held::Upgradable).bump_upgradable();
        deadlock::acquired(self.key(), Want::Upgradable);
    };);
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeDowngrade for ReadWrite<RECURSIVE> {
    changes!(|self|
        downgrade_upgradable =>
            drop_token(self.change(Held::Upgradable, Held::Read).downgrade_upgradable());
        downgrade_to_upgradable => self.change(Held::Alone, Held::Upgradable).downgrade_to_upgradable();
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

/// Ends the process if `lock` unwinds, as it does if a lock has 2^24 read guards.
///
/// `lock_api` 0.4 relocks a guard that was unlocked for a closure, and drops that guard if the lock unwinds:
/// it would unlock a read that does not exist, and let a writer in together with another reader.
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
