//! The traits of `lock_api` 0.5, over what both versions share.

use std::time::{Duration, Instant};

use crate::raw_rwlock::{ReadWrite, Reader};
use crate::time::{after, at};
use crate::{GuardMarker, RawFairMutex, RawMutex};

fn guard(has: bool) -> Option<GuardMarker> {
    has.then(GuardMarker::new)
}

/// Both mutexes have the same methods.
macro_rules! raw_mutex {
    ($name:ident) => {
        // SAFETY: from a lock to the matching unlock no other thread has it, as crate `ondeck` promises.
        unsafe impl lock_api::RawMutex for $name {
            const INIT: Self = Self::NEW;

            type Guard = GuardMarker;

            #[inline]
            fn lock(&self) -> GuardMarker {
                self.take();
                GuardMarker::new()
            }

            #[inline]
            fn try_lock(&self) -> Option<GuardMarker> {
                guard(self.try_take())
            }

            #[inline]
            unsafe fn unlock(&self, _: GuardMarker) {
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
            unsafe fn unlock_fair(&self, _: GuardMarker) {
                // SAFETY: as the caller promises.
                unsafe { self.give_up_fair() };
            }

            #[inline]
            unsafe fn bump(&self, _: &mut GuardMarker) {
                // SAFETY: as the caller promises.
                unsafe { self.yield_to_others() };
            }
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexTimed for $name {
            type Duration = Duration;
            type Instant = Instant;

            #[inline]
            fn try_lock_for(&self, timeout: Duration) -> Option<GuardMarker> {
                guard(self.take_until(|| after(timeout)))
            }

            #[inline]
            fn try_lock_until(&self, timeout: Instant) -> Option<GuardMarker> {
                guard(self.take_until(|| at(timeout)))
            }
        }
    };
}

raw_mutex!(RawMutex);
raw_mutex!(RawFairMutex);

/// The reader-writer lock without data: for [`lock_api::RwLock`].
///
/// If `RECURSIVE`, readers do not wait for writers that wait.
#[repr(transparent)]
pub struct RawRwLock<const RECURSIVE: bool = false>(ReadWrite);

/// The lock of [`RecursiveRwLock`](crate::RecursiveRwLock) without data.
pub type RawRwLockRecursive = RawRwLock<true>;

impl<const RECURSIVE: bool> RawRwLock<RECURSIVE> {
    const READER: Reader = if RECURSIVE { Reader::Recursive } else { Reader::Usual };
}

// SAFETY: readers or one writer, as crate `ondeck` promises.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLock for RawRwLock<RECURSIVE> {
    const INIT: Self = Self(ReadWrite::NEW);

    type SharedGuard = GuardMarker;
    type ExclusiveGuard = GuardMarker;

    #[inline]
    fn lock_shared(&self) -> GuardMarker {
        self.0.read(Self::READER);
        GuardMarker::new()
    }

    #[inline]
    fn try_lock_shared(&self) -> Option<GuardMarker> {
        guard(self.0.try_read(Self::READER))
    }

    #[inline]
    unsafe fn unlock_shared(&self, _: GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_read() };
    }

    #[inline]
    fn lock_exclusive(&self) -> GuardMarker {
        self.0.write();
        GuardMarker::new()
    }

    #[inline]
    fn try_lock_exclusive(&self) -> Option<GuardMarker> {
        guard(self.0.try_write())
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, _: GuardMarker) {
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
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockFair for RawRwLock<RECURSIVE> {
    #[inline]
    unsafe fn unlock_shared_fair(&self, _: GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_read() };
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self, _: GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_write_fair() };
    }

    #[inline]
    unsafe fn bump_shared(&self, _: &mut GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.yield_read(Self::READER) };
    }

    #[inline]
    unsafe fn bump_exclusive(&self, _: &mut GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.yield_write() };
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockDowngrade for RawRwLock<RECURSIVE> {
    #[inline]
    unsafe fn downgrade(&self, held: GuardMarker) -> GuardMarker {
        // SAFETY: as the caller promises.
        unsafe { self.0.write_to_read() };
        held
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockTimed for RawRwLock<RECURSIVE> {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_shared_for(&self, timeout: Duration) -> Option<GuardMarker> {
        guard(self.0.read_until(Self::READER, || after(timeout)))
    }

    #[inline]
    fn try_lock_shared_until(&self, timeout: Instant) -> Option<GuardMarker> {
        guard(self.0.read_until(Self::READER, || at(timeout)))
    }

    #[inline]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<GuardMarker> {
        guard(self.0.write_until(|| after(timeout)))
    }

    #[inline]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> Option<GuardMarker> {
        guard(self.0.write_until(|| at(timeout)))
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgrade for RawRwLock<RECURSIVE> {
    type UpgradableGuard = GuardMarker;

    #[inline]
    fn lock_upgradable(&self) -> GuardMarker {
        self.0.upgradable_read();
        GuardMarker::new()
    }

    #[inline]
    fn try_lock_upgradable(&self) -> Option<GuardMarker> {
        guard(self.0.try_upgradable_read())
    }

    #[inline]
    unsafe fn unlock_upgradable(&self, _: GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_upgradable() };
    }

    #[inline]
    unsafe fn upgrade(&self, held: GuardMarker) -> GuardMarker {
        // SAFETY: as the caller promises.
        unsafe { self.0.upgrade() };
        held
    }

    #[inline]
    unsafe fn try_upgrade(&self, held: GuardMarker) -> Result<GuardMarker, GuardMarker> {
        // SAFETY: as the caller promises.
        if unsafe { self.0.try_upgrade() } { Ok(held) } else { Err(held) }
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeFair for RawRwLock<RECURSIVE> {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self, _: GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.end_upgradable_fair() };
    }

    #[inline]
    unsafe fn bump_upgradable(&self, _: &mut GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.yield_upgradable() };
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeDowngrade for RawRwLock<RECURSIVE> {
    #[inline]
    unsafe fn downgrade_upgradable(&self, held: GuardMarker) -> GuardMarker {
        // SAFETY: as the caller promises.
        unsafe { self.0.upgradable_to_read() };
        held
    }

    #[inline]
    unsafe fn downgrade_to_upgradable(&self, held: GuardMarker) -> GuardMarker {
        // SAFETY: as the caller promises.
        unsafe { self.0.write_to_upgradable() };
        held
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl<const RECURSIVE: bool> lock_api::RawRwLockUpgradeTimed for RawRwLock<RECURSIVE> {
    #[inline]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> Option<GuardMarker> {
        guard(self.0.upgradable_read_until(|| after(timeout)))
    }

    #[inline]
    fn try_lock_upgradable_until(&self, timeout: Instant) -> Option<GuardMarker> {
        guard(self.0.upgradable_read_until(|| at(timeout)))
    }

    #[inline]
    unsafe fn try_upgrade_for(
        &self,
        held: GuardMarker,
        timeout: Duration,
    ) -> Result<GuardMarker, GuardMarker> {
        // SAFETY: as the caller promises.
        if unsafe { self.0.upgrade_until(|| after(timeout)) } { Ok(held) } else { Err(held) }
    }

    #[inline]
    unsafe fn try_upgrade_until(
        &self,
        held: GuardMarker,
        timeout: Instant,
    ) -> Result<GuardMarker, GuardMarker> {
        // SAFETY: as the caller promises.
        if unsafe { self.0.upgrade_until(|| at(timeout)) } { Ok(held) } else { Err(held) }
    }
}
