//! The mutexes: all kinds are one.

use core::ffi::CStr;
use core::num::NonZeroUsize;
use core::time::Duration;
use std::sync::TryLockError;
use std::time::Instant;

use lock_api::GuardNoSend;

use super::{Made, Slot, checker, std, unpoisoned};

pub use locks::{MappedMutexGuard, Mutex, MutexGuard};

pub struct RawMutex {
    object: Made<checker::Mutex<()>>,
    guard: Slot<checker::MutexGuard<'static, ()>>,
}

impl RawMutex {
    pub(super) const fn new() -> Self {
        Self { object: Made::new(), guard: Slot::new() }
    }

    pub const fn named(_: &'static CStr) -> Self {
        Self::new()
    }

    pub(super) fn is_held_here(&self) -> bool {
        self.guard.owner.is_this_thread()
    }

    #[allow(dead_code, reason = "it is for `lock_all` under loom")]
    pub(super) fn number(&self) -> usize {
        self.object.made().number
    }

    /// Waits for a notification, with the mutex unlocked.
    ///
    /// # Safety
    ///
    /// The calling thread owns the mutex.
    #[track_caller]
    pub(super) unsafe fn wait(&self, condvar: &checker::Condvar) {
        // SAFETY: as the caller promises, before the wait and after it.
        unsafe {
            let guard = self.guard.take().expect("the owner waits");
            self.guard.put(unpoisoned(condvar.wait(guard)));
        }
    }
}

// SAFETY: it is locked while the checker's mutex is, which excludes and orders.
unsafe impl lock_api::RawMutex for RawMutex {
    const INIT: Self = Self::new();

    type Guard = GuardNoSend;

    #[track_caller]
    fn lock(&self) -> GuardNoSend {
        let guard = unpoisoned(self.object.get().lock());
        // SAFETY: it was just locked.
        unsafe { self.guard.put(guard) };
        GuardNoSend::new()
    }

    #[track_caller]
    fn try_lock(&self) -> Option<GuardNoSend> {
        let guard = match self.object.get().try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        // SAFETY: as above.
        unsafe { self.guard.put(guard) };
        Some(GuardNoSend::new())
    }

    unsafe fn unlock(&self, _: GuardNoSend) {
        // SAFETY: as the caller promises.
        drop(unsafe { self.guard.take() });
    }

    fn is_locked(&self) -> bool {
        let Some(guard) = self.try_lock() else { return true };
        // SAFETY: it was just locked.
        unsafe { self.unlock(guard) };
        false
    }
}

// SAFETY: as for `RawMutex`.
unsafe impl lock_api::RawMutexFair for RawMutex {
    unsafe fn unlock_fair(&self, guard: GuardNoSend) {
        // SAFETY: as the caller promises.
        unsafe { lock_api::RawMutex::unlock(self, guard) };
    }
}

// SAFETY: as for `RawMutex`.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, _: Duration) -> Option<GuardNoSend> {
        Some(lock_api::RawMutex::lock(self))
    }

    #[track_caller]
    fn try_lock_until(&self, _: Instant) -> Option<GuardNoSend> {
        Some(lock_api::RawMutex::lock(self))
    }
}

pub struct RawThreadId;

// SAFETY: no two threads of an execution have the same number.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        let (_, thread) = checker::here();
        NonZeroUsize::MIN.saturating_add(thread)
    }
}

pub mod locks {
    use super::{RawMutex, RawThreadId};

    macro_rules! mutexes {
        ($($Mutex:ident $Guard:ident $Mapped:ident $Arc:ident)*) => {$(
            pub type $Mutex<T> = lock_api::Mutex<RawMutex, T>;
            pub type $Guard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
            pub type $Mapped<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;
            #[cfg(feature = "arc_lock")]
            pub type $Arc<T> = lock_api::ArcMutexGuard<RawMutex, T>;
        )*};
    }
    mutexes! {
        Mutex MutexGuard MappedMutexGuard ArcMutexGuard
        FairMutex FairMutexGuard MappedFairMutexGuard ArcFairMutexGuard
        PiMutex PiMutexGuard MappedPiMutexGuard ArcPiMutexGuard
    }

    pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
    pub type ReentrantMutexGuard<'a, T> =
        lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
    pub type MappedReentrantMutexGuard<'a, T> =
        lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
    #[cfg(feature = "arc_lock")]
    pub type ArcReentrantMutexGuard<T> = lock_api::ArcReentrantMutexGuard<RawMutex, RawThreadId, T>;
}
