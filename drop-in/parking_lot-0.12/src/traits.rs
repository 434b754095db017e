//! The traits of `lock_api` 0.4, over what both versions share.

use std::time::{Duration, Instant};

use crate::raw_rwlock::{ReadWrite, Reader};
use crate::time::{after, at};
use crate::{GuardMarker, RawFairMutex, RawMutex};

/// Both mutexes have the same methods.
macro_rules! raw_mutex {
    ($name:ident) => {
        // SAFETY: from a lock to the matching unlock no other thread has it, as crate `ondeck` promises.
        unsafe impl lock_api::RawMutex for $name {
            const INIT: Self = Self::NEW;

            type GuardMarker = GuardMarker;

            #[inline]
            fn lock(&self) {
                self.take();
            }

            #[inline]
            fn try_lock(&self) -> bool {
                self.try_take()
            }

            #[inline]
            unsafe fn unlock(&self) {
                // SAFETY: as the caller promises.
                unsafe { self.give_up() };
            }

            #[inline]
            fn is_locked(&self) -> bool {
                self.is_taken()
            }
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexFair for $name {
            #[inline]
            unsafe fn unlock_fair(&self) {
                // SAFETY: as the caller promises.
                unsafe { self.give_up_fair() };
            }

            #[inline]
            unsafe fn bump(&self) {
                // SAFETY: as the caller promises.
                unsafe { self.yield_to_others() };
            }
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexTimed for $name {
            type Duration = Duration;
            type Instant = Instant;

            #[inline]
            fn try_lock_for(&self, timeout: Duration) -> bool {
                self.take_until(|| after(timeout))
            }

            #[inline]
            fn try_lock_until(&self, timeout: Instant) -> bool {
                self.take_until(|| at(timeout))
            }
        }
    };
}

raw_mutex!(RawMutex);
raw_mutex!(RawFairMutex);

/// The reader-writer lock without data: for [`lock_api::RwLock`].
#[repr(transparent)]
pub struct RawRwLock(ReadWrite);

// SAFETY: readers or one writer, as crate `ondeck` promises.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: Self = Self(ReadWrite::NEW);

    type GuardMarker = GuardMarker;

    #[inline]
    fn lock_shared(&self) {
        self.0.read(Reader::Usual);
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.0.try_read(Reader::Usual)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_read() };
    }

    #[inline]
    fn lock_exclusive(&self) {
        self.0.write();
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.0.try_write()
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_write() };
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_taken()
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_written()
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    #[inline]
    unsafe fn unlock_shared_fair(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_read() };
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_write_fair() };
    }

    #[inline]
    unsafe fn bump_shared(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.yield_read(Reader::Usual) };
    }

    #[inline]
    unsafe fn bump_exclusive(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.yield_write() };
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.write_to_read() };
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        self.0.read_until(Reader::Usual, || after(timeout))
    }

    #[inline]
    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        self.0.read_until(Reader::Usual, || at(timeout))
    }

    #[inline]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        self.0.write_until(|| after(timeout))
    }

    #[inline]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        self.0.write_until(|| at(timeout))
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[inline]
    fn lock_shared_recursive(&self) {
        self.0.read(Reader::Recursive);
    }

    #[inline]
    fn try_lock_shared_recursive(&self) -> bool {
        self.0.try_read(Reader::Recursive)
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    #[inline]
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        self.0.read_until(Reader::Recursive, || after(timeout))
    }

    #[inline]
    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        self.0.read_until(Reader::Recursive, || at(timeout))
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    #[inline]
    fn lock_upgradable(&self) {
        self.0.upgradable_read();
    }

    #[inline]
    fn try_lock_upgradable(&self) -> bool {
        self.0.try_upgradable_read()
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_upgradable() };
    }

    #[inline]
    unsafe fn upgrade(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.upgrade() };
    }

    #[inline]
    unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.0.try_upgrade() }
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_upgradable_fair() };
    }

    #[inline]
    unsafe fn bump_upgradable(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.yield_upgradable() };
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade_upgradable(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.upgradable_to_read() };
    }

    #[inline]
    unsafe fn downgrade_to_upgradable(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.0.write_to_upgradable() };
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    #[inline]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        self.0.upgradable_read_until(|| after(timeout))
    }

    #[inline]
    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        self.0.upgradable_read_until(|| at(timeout))
    }

    #[inline]
    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.0.upgrade_until(|| after(timeout)) }
    }

    #[inline]
    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.0.upgrade_until(|| at(timeout)) }
    }
}
