//! The mutex that inherits priorities while deadlocks are detected.

use lock_api::GuardNoSend;

use super::RawPiMutex;
use crate::platform::Native;
use crate::watch::{self, Held, Lock, LockKind, Want};

fn of(mutex: &RawPiMutex) -> Lock {
    Lock { address: (&raw const *mutex).addr(), kind: LockKind::PiMutex }
}

fn guard(owner: bool) -> Option<GuardNoSend> {
    owner.then(GuardNoSend::new)
}

#[cold]
pub(super) fn lock(mutex: &RawPiMutex, block: impl FnOnce()) -> GuardNoSend {
    watch::lock(
        of(mutex),
        Want::Alone,
        || guard(mutex.try_lock()),
        || {
            block();
            GuardNoSend::new()
        },
    )
}

#[cold]
pub(super) fn try_lock(mutex: &RawPiMutex) -> Option<GuardNoSend> {
    watch::try_lock(of(mutex), Held::Alone, || guard(mutex.try_lock()))
}

#[cold]
pub(super) fn lock_until(
    mutex: &RawPiMutex,
    block: impl FnOnce() -> Option<GuardNoSend>,
) -> Option<GuardNoSend> {
    watch::lock_until(of(mutex), Want::Alone, || guard(mutex.try_lock()), block)
}

/// The calling thread is about to unlock the mutex.
#[cold]
pub(super) fn unlocks(mutex: &RawPiMutex) {
    watch::released(of(mutex), Held::Alone);
}

impl Drop for RawPiMutex {
    fn drop(&mut self) {
        watch::ends::<Native>((&raw const *self).addr());
    }
}
