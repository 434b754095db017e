//! The raw locks under the traits of `lock_api` 0.4, for code that is generic over those traits.
//!
//! The traits of 0.5 return a token for each access and take it back; the traits of 0.4 have none.
//! The token of a read records where the read is counted: without it, an unlock searches for that
//! place, as [`RawRwLock::forgotten`] does.
//!
//! ```
//! use lock_api_04::{RawMutex, RwLock, RwLockUpgradableReadGuard};
//! use ondeck::{mutex, platform::Native, rwlock};
//!
//! /// Generic code of another crate, over `lock_api` 0.4.
//! struct Counter<R>(lock_api_04::Mutex<R, u32>);
//!
//! impl<R: RawMutex> Counter<R> {
//!     fn next(&self) -> u32 {
//!         let mut count = self.0.lock();
//!         *count += 1;
//!         *count
//!     }
//! }
//!
//! let counter = Counter::<mutex::RawMutex<Native>>(lock_api_04::Mutex::new(6));
//! assert_eq!(counter.next(), 7);
//!
//! let lock = RwLock::<rwlock::RawRwLock<Native>, _>::new(1);
//! let read = lock.upgradable_read();
//! *RwLockUpgradableReadGuard::upgrade(read) += 1;
//! assert_eq!(*lock.read(), 2);
//! ```

extern crate std;

use core::time::Duration;
use std::time::Instant;

use lock_api as new;
use lock_api_04 as old;

use crate::fair::RawFairMutex;
use crate::mutex::RawMutex;
use crate::platform::Native;
use crate::rwlock::RawRwLock;

/// Functions that wait.
macro_rules! locks {
    ($new:path: $($name:ident)*) => {$(
        #[inline]
        fn $name(&self) {
            or_abort(|| _ = <Self as $new>::$name(self));
        }
    )*};
}

/// Functions that may fail or time out.
macro_rules! attempts {
    ($new:path: $($name:ident($($timeout:ident: $time:ty)?))*) => {$(
        #[inline]
        fn $name(&self $(, $timeout: $time)?) -> bool {
            <Self as $new>::$name(self $(, $timeout)?).is_some()
        }
    )*};
}

/// Functions of a thread that has the lock, with its token `$held`.
macro_rules! holding {
    ($new:path, |$self:ident| $held:expr => $($name:ident)*) => {$(
        #[inline]
        unsafe fn $name(&$self) {
            // SAFETY: the caller has the access of the token, as the trait requires.
            _ = unsafe { <Self as $new>::$name($self, $held) };
        }
    )*};
}

/// Upgrades that may fail: then the caller keeps its upgradable read.
macro_rules! upgrades {
    ($new:path: $($name:ident($($timeout:ident: $time:ty)?))*) => {$(
        #[inline]
        unsafe fn $name(&self $(, $timeout: $time)?) -> bool {
            // SAFETY: the caller has an upgradable read, as the trait requires.
            unsafe { <Self as $new>::$name(self, new::GuardNoSend::new() $(, $timeout)?) }.is_ok()
        }
    )*};
}

/// Queries of the lock's state.
macro_rules! asks {
    ($new:path: $($name:ident)*) => {$(
        #[inline]
        fn $name(&self) -> bool {
            <Self as $new>::$name(self)
        }
    )*};
}

/// Aborts the process if `lock` unwinds: a lock of 0.4 that was given up for a closure would then
/// be unlocked once more.
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
    core::mem::forget(unwinds);
}

macro_rules! mutex {
    ($($raw:ty)*) => {$(
        // SAFETY: as it promises to the traits of 0.5.
        unsafe impl old::RawMutex for $raw {
            const INIT: Self = <Self as new::RawMutex>::INIT;
            type GuardMarker = old::GuardNoSend;
            locks!(new::RawMutex: lock);
            attempts!(new::RawMutex: try_lock());
            holding!(new::RawMutex, |self| new::GuardNoSend::new() => unlock);
            asks!(new::RawMutex: is_locked);
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl old::RawMutexFair for $raw {
            holding!(new::RawMutexFair, |self| new::GuardNoSend::new() => unlock_fair);
            holding!(new::RawMutexFair, |self| &mut new::GuardNoSend::new() => bump);
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl old::RawMutexTimed for $raw {
            type Duration = Duration;
            type Instant = Instant;
            attempts!(new::RawMutexTimed: try_lock_for(time: Duration) try_lock_until(end: Instant));
        }
    )*};
}

mutex!(RawMutex<Native> RawFairMutex<Native>);

// SAFETY: as it promises to the traits of 0.5. A guard is not `Send`, so the thread that unlocks a
// read is the one that locked it, and no token is kept.
unsafe impl old::RawRwLock for RawRwLock<Native> {
    const INIT: Self = <Self as new::RawRwLock>::INIT;
    type GuardMarker = old::GuardNoSend;
    locks!(new::RawRwLock: lock_shared lock_exclusive);
    attempts!(new::RawRwLock: try_lock_shared() try_lock_exclusive());
    holding!(new::RawRwLock, |self| self.forgotten() => unlock_shared);
    holding!(new::RawRwLock, |self| new::GuardNoSend::new() => unlock_exclusive);
    asks!(new::RawRwLock: is_locked is_locked_exclusive);
}

// SAFETY: as for `RawRwLock`.
unsafe impl old::RawRwLockFair for RawRwLock<Native> {
    holding!(new::RawRwLockFair, |self| self.forgotten() => unlock_shared_fair);
    holding!(new::RawRwLockFair, |self| new::GuardNoSend::new() => unlock_exclusive_fair);
    holding!(new::RawRwLockFair, |self| &mut self.forgotten() => bump_shared);
    holding!(new::RawRwLockFair, |self| &mut new::GuardNoSend::new() => bump_exclusive);
}

// SAFETY: as for `RawRwLock`.
unsafe impl old::RawRwLockDowngrade for RawRwLock<Native> {
    holding!(new::RawRwLockDowngrade, |self| new::GuardNoSend::new() => downgrade);
}

// SAFETY: as for `RawRwLock`.
unsafe impl old::RawRwLockTimed for RawRwLock<Native> {
    type Duration = Duration;
    type Instant = Instant;
    attempts!(new::RawRwLockTimed:
        try_lock_shared_for(time: Duration) try_lock_shared_until(end: Instant)
        try_lock_exclusive_for(time: Duration) try_lock_exclusive_until(end: Instant));
}

// SAFETY: as for `RawRwLock`.
unsafe impl old::RawRwLockUpgrade for RawRwLock<Native> {
    locks!(new::RawRwLockUpgrade: lock_upgradable);
    attempts!(new::RawRwLockUpgrade: try_lock_upgradable());
    holding!(new::RawRwLockUpgrade, |self| new::GuardNoSend::new() => unlock_upgradable upgrade);
    upgrades!(new::RawRwLockUpgrade: try_upgrade());
}

// SAFETY: as for `RawRwLock`.
unsafe impl old::RawRwLockUpgradeFair for RawRwLock<Native> {
    holding!(new::RawRwLockUpgradeFair, |self| new::GuardNoSend::new() => unlock_upgradable_fair);
    holding!(new::RawRwLockUpgradeFair, |self| &mut new::GuardNoSend::new() => bump_upgradable);
}

// SAFETY: as for `RawRwLock`.
unsafe impl old::RawRwLockUpgradeDowngrade for RawRwLock<Native> {
    holding!(new::RawRwLockUpgradeDowngrade, |self| new::GuardNoSend::new() =>
        downgrade_upgradable downgrade_to_upgradable);
}

// SAFETY: as for `RawRwLock`.
unsafe impl old::RawRwLockUpgradeTimed for RawRwLock<Native> {
    attempts!(new::RawRwLockUpgradeTimed:
        try_lock_upgradable_for(time: Duration) try_lock_upgradable_until(end: Instant));
    upgrades!(new::RawRwLockUpgradeTimed: try_upgrade_for(time: Duration) try_upgrade_until(end: Instant));
}
