//! The reader-writer lock that programs use: a [`lock_api`] lock with data and guards.

extern crate std;

use core::ffi::CStr;
use core::sync::atomic::AtomicU32;
use core::time::Duration;
use std::time::Instant;

use lock_api::GuardNoSend;

use super::{RawRwLock, Shared};
use crate::mutex::deadline;
use crate::observe::{self, Access, Kind, Observed, Place};
use crate::platform::{Host, Native, Platform, Timestamp};

/// A reader-writer lock around a `T`: any number of readers, or one writer.
///
/// A writer that arrives while readers hold the lock keeps later readers out, and waits for the
/// readers of that moment. The next turn of a thread that has waited for about a millisecond is
/// reserved for it; before that, barging is allowed. There is no poisoning.
///
/// The type is an instance of [`lock_api::RwLock`] and has all of its methods: upgradable reads,
/// downgrades, mapped guards, attempts with deadlines, fair unlocks, and owned guards with the
/// feature `arc_lock`. It can be a `static`.
///
/// If a thread that has a read lock calls [`read`](lock_api::RwLock::read) again, it may wait for
/// ever: a writer may have begun to wait in between. [`ReadRecursive`](super::ReadRecursive) is for
/// such threads.
///
/// # Panics
///
/// A read or an upgradable read, if there are 2²³ read guards of one lock at the same time,
/// forgotten or not. In that case a [`bump`](lock_api::RwLockReadGuard::bump), or a read lock that
/// is given up [for a closure](lock_api::RwLockReadGuard::unlocked), ends the process.
///
/// In builds with debug assertions also a thread that waits for the lock and is its writer. Without
/// them it waits for ever.
///
/// # Memory ordering
///
/// An unlock happens before the next lock, except that reads are not ordered among each other.
///
/// # Cost
///
/// An uncontended lock and an uncontended unlock are one atomic read-modify-write each. Where reads
/// dominate, the lock is biased: a read is then two stores to the thread's own cache line, and the
/// next write waits for a heavy fence, some microseconds. The [module](super) describes the
/// protocol.
///
/// ```
/// use ondeck::{RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
///
/// static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());
///
/// NAMES.write().push("one");
/// assert_eq!(NAMES.read().len(), 1);
///
/// let names = NAMES.upgradable_read();
/// assert!(NAMES.try_read().is_some() && NAMES.try_write().is_none());
/// let mut names = RwLockUpgradableReadGuard::upgrade(names);
/// names.push("two");
/// let names = RwLockWriteGuard::downgrade(names);
/// assert_eq!(names.len(), 2);
/// # #[cfg(not(any(feature = "deadlock_detection", feature = "stats")))]
/// assert_eq!(size_of::<RwLock<()>>(), 4);
/// ```
pub type RwLock<T> = lock_api::RwLock<RawRwLock<Native>, T>;

/// The guard that [`RwLock::read`] returns. Dropping it unlocks the lock.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock<Native>, T>;

/// The guard that [`RwLock::write`] returns. Dropping it unlocks the lock.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock<Native>, T>;

/// The guard that [`RwLock::upgradable_read`] returns. Dropping it unlocks the lock.
pub type RwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, RawRwLock<Native>, T>;

/// A read guard of a part of the protected data; see [`lock_api::RwLockReadGuard::map`].
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock<Native>, T>;

/// A write guard of a part of the protected data; see [`lock_api::RwLockWriteGuard::map`].
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock<Native>, T>;

/// A read guard that owns a share of the lock rather than borrowing it.
#[cfg(feature = "arc_lock")]
pub type ArcRwLockReadGuard<T> = lock_api::ArcRwLockReadGuard<RawRwLock<Native>, T>;

/// A write guard that owns a share of the lock rather than borrowing it.
#[cfg(feature = "arc_lock")]
pub type ArcRwLockWriteGuard<T> = lock_api::ArcRwLockWriteGuard<RawRwLock<Native>, T>;

/// An upgradable guard that owns a share of the lock rather than borrowing it.
#[cfg(feature = "arc_lock")]
pub type ArcRwLockUpgradableReadGuard<T> =
    lock_api::ArcRwLockUpgradableReadGuard<RawRwLock<Native>, T>;

impl RawRwLock<Native> {
    /// Creates an unlocked lock with a [name](crate::name).
    pub const fn named(name: &'static CStr) -> Self {
        Self { state: AtomicU32::new(0), place: Place::named(name) }
    }
}

impl<P: Host> Observed for RawRwLock<P> {
    type Platform = P;
    const KIND: Kind = Kind::RwLock;

    fn name(&self) -> usize {
        self.address()
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn is_held(&self) -> bool {
        self.is_locked_exclusive()
    }
}

pub(super) fn after(timeout: Duration) -> Timestamp {
    Native::now().after(timeout)
}

fn guard(owner: bool) -> Option<GuardNoSend> {
    owner.then(GuardNoSend::new)
}

// SAFETY: as `RawRwLock` in this module promises: readers or one writer, and an unlock happens
// before the next lock that it excludes. A panic comes before any change.
unsafe impl lock_api::RawRwLock for RawRwLock<Native> {
    const INIT: Self = Self { state: AtomicU32::new(0), place: Place::new() };

    type SharedGuard = Shared<Native>;
    type ExclusiveGuard = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) -> Shared<Native> {
        let attempt = || Self::try_lock_shared(self);
        observe::lock(self, Access::Read, attempt, || Self::lock_shared(self))
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared(&self) -> Option<Shared<Native>> {
        observe::try_lock(self, Access::Read, || Self::try_lock_shared(self))
    }

    #[inline]
    unsafe fn unlock_shared(&self, held: Shared<Native>) {
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Read, || unsafe { Self::unlock_shared(self, held) });
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) -> GuardNoSend {
        let attempt = || Self::try_lock_exclusive(self).then_some(());
        observe::lock(self, Access::Alone, attempt, || Self::lock_exclusive(self));
        GuardNoSend::new()
    }

    #[inline]
    #[track_caller]
    fn try_lock_exclusive(&self) -> Option<GuardNoSend> {
        observe::try_lock(self, Access::Alone, || guard(Self::try_lock_exclusive(self)))
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, _: GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Alone, || unsafe { Self::unlock_exclusive(self) });
    }

    #[inline]
    fn is_locked(&self) -> bool {
        Self::is_locked(self)
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        Self::is_locked_exclusive(self)
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockFair for RawRwLock<Native> {
    #[inline]
    unsafe fn unlock_shared_fair(&self, held: Shared<Native>) {
        // A writer that waits for readers is the next in any case.
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Read, || unsafe { Self::unlock_shared(self, held) });
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self, _: GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Alone, || unsafe { Self::unlock_exclusive_fair(self) });
    }

    #[inline]
    #[track_caller]
    unsafe fn bump_shared(&self, held: &mut Shared<Native>) {
        // SAFETY: as the caller promises.
        observe::bump(self, Access::Read, || unsafe { Self::bump_shared(self, held) });
    }

    #[inline]
    #[track_caller]
    unsafe fn bump_exclusive(&self, _: &mut GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::bump(self, Access::Alone, || unsafe { Self::bump_exclusive(self) });
    }
}

// SAFETY: as for `RawRwLock`; the change is one step with `Release`.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock<Native> {
    #[inline]
    #[track_caller]
    unsafe fn downgrade(&self, _: GuardNoSend) -> Shared<Native> {
        observe::changes(self, Access::Alone, Access::Read);
        // SAFETY: as the caller promises.
        unsafe { Self::downgrade(self) }
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockTimed for RawRwLock<Native> {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    #[track_caller]
    fn try_lock_shared_for(&self, timeout: Duration) -> Option<Shared<Native>> {
        let attempt = || Self::try_lock_shared(self);
        let block = || self.try_lock_shared_until(after(timeout));
        observe::lock_until(self, Access::Read, attempt, block)
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared_until(&self, timeout: Instant) -> Option<Shared<Native>> {
        let attempt = || Self::try_lock_shared(self);
        let block = || self.try_lock_shared_until(deadline(timeout));
        observe::lock_until(self, Access::Read, attempt, block)
    }

    #[inline]
    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<GuardNoSend> {
        let attempt = || guard(Self::try_lock_exclusive(self));
        let block = || guard(self.try_lock_exclusive_until(after(timeout)));
        observe::lock_until(self, Access::Alone, attempt, block)
    }

    #[inline]
    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> Option<GuardNoSend> {
        let attempt = || guard(Self::try_lock_exclusive(self));
        let block = || guard(self.try_lock_exclusive_until(deadline(timeout)));
        observe::lock_until(self, Access::Alone, attempt, block)
    }
}

// SAFETY: as for `RawRwLock`; an upgrade ends with `Acquire` after all readers' unlocks.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock<Native> {
    type UpgradableGuard = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock_upgradable(&self) -> GuardNoSend {
        let attempt = || Self::try_lock_upgradable(self).then_some(());
        observe::lock(self, Access::Upgradable, attempt, || Self::lock_upgradable(self));
        GuardNoSend::new()
    }

    #[inline]
    #[track_caller]
    fn try_lock_upgradable(&self) -> Option<GuardNoSend> {
        observe::try_lock(self, Access::Upgradable, || guard(Self::try_lock_upgradable(self)))
    }

    #[inline]
    unsafe fn unlock_upgradable(&self, _: GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Upgradable, || unsafe { Self::unlock_upgradable(self) });
    }

    #[inline]
    #[track_caller]
    unsafe fn upgrade(&self, held: GuardNoSend) -> GuardNoSend {
        // SAFETY: as the caller promises.
        let attempt = || unsafe { Self::try_upgrade(self) }.then_some(());
        // SAFETY: as the caller promises.
        observe::lock(self, Access::Upgrade, attempt, || unsafe { Self::upgrade(self) });
        held
    }

    #[inline]
    #[track_caller]
    unsafe fn try_upgrade(&self, held: GuardNoSend) -> Result<GuardNoSend, GuardNoSend> {
        // SAFETY: as the caller promises.
        let owner = unsafe { Self::try_upgrade(self) };
        if owner {
            observe::changes(self, Access::Upgradable, Access::Alone);
        }
        if owner { Ok(held) } else { Err(held) }
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock<Native> {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self, _: GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Upgradable, || unsafe { Self::unlock_upgradable_fair(self) });
    }

    #[inline]
    #[track_caller]
    unsafe fn bump_upgradable(&self, _: &mut GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::bump(self, Access::Upgradable, || unsafe { Self::bump_upgradable(self) });
    }
}

// SAFETY: as for `RawRwLock`; each change is one step with `Release`.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock<Native> {
    #[inline]
    #[track_caller]
    unsafe fn downgrade_upgradable(&self, _: GuardNoSend) -> Shared<Native> {
        observe::changes(self, Access::Upgradable, Access::Read);
        // SAFETY: as the caller promises.
        unsafe { Self::downgrade_upgradable(self) }
    }

    #[inline]
    #[track_caller]
    unsafe fn downgrade_to_upgradable(&self, held: GuardNoSend) -> GuardNoSend {
        observe::changes(self, Access::Alone, Access::Upgradable);
        // SAFETY: as the caller promises.
        unsafe { Self::downgrade_to_upgradable(self) };
        held
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock<Native> {
    #[inline]
    #[track_caller]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> Option<GuardNoSend> {
        let attempt = || guard(Self::try_lock_upgradable(self));
        let block = || guard(self.try_lock_upgradable_until(after(timeout)));
        observe::lock_until(self, Access::Upgradable, attempt, block)
    }

    #[inline]
    #[track_caller]
    fn try_lock_upgradable_until(&self, timeout: Instant) -> Option<GuardNoSend> {
        let attempt = || guard(Self::try_lock_upgradable(self));
        let block = || guard(self.try_lock_upgradable_until(deadline(timeout)));
        observe::lock_until(self, Access::Upgradable, attempt, block)
    }

    #[inline]
    #[track_caller]
    unsafe fn try_upgrade_for(
        &self,
        held: GuardNoSend,
        timeout: Duration,
    ) -> Result<GuardNoSend, GuardNoSend> {
        // SAFETY: as the caller promises.
        let attempt = || guard(unsafe { Self::try_upgrade(self) });
        // SAFETY: as the caller promises.
        let block = || guard(unsafe { self.try_upgrade_until(after(timeout)) });
        observe::lock_until(self, Access::Upgrade, attempt, block).ok_or(held)
    }

    #[inline]
    #[track_caller]
    unsafe fn try_upgrade_until(
        &self,
        held: GuardNoSend,
        timeout: Instant,
    ) -> Result<GuardNoSend, GuardNoSend> {
        // SAFETY: as the caller promises.
        let attempt = || guard(unsafe { Self::try_upgrade(self) });
        // SAFETY: as the caller promises.
        let block = || guard(unsafe { self.try_upgrade_until(deadline(timeout)) });
        observe::lock_until(self, Access::Upgrade, attempt, block).ok_or(held)
    }
}
