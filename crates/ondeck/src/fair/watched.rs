//! The fair mutex while deadlocks are detected.

use lock_api::GuardNoSend;

use super::RawFairMutex;
use crate::platform::{Host, Native};
use crate::watch::{self, Held, Lock, LockKind, Want};

fn of(mutex: &RawFairMutex<Native>) -> Lock {
    Lock { address: mutex.key(), kind: LockKind::FairMutex }
}

fn guard(owner: bool) -> Option<GuardNoSend> {
    owner.then(GuardNoSend::new)
}

#[cold]
pub(super) fn lock(mutex: &RawFairMutex<Native>, block: impl FnOnce()) -> GuardNoSend {
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
pub(super) fn try_lock(mutex: &RawFairMutex<Native>) -> Option<GuardNoSend> {
    watch::try_lock(of(mutex), Held::Alone, || guard(mutex.try_lock()))
}

#[cold]
pub(super) fn lock_until(
    mutex: &RawFairMutex<Native>,
    block: impl FnOnce() -> Option<GuardNoSend>,
) -> Option<GuardNoSend> {
    watch::lock_until(of(mutex), Want::Alone, || guard(mutex.try_lock()), block)
}

/// The calling thread is about to unlock the mutex.
#[cold]
pub(super) fn unlocks(mutex: &RawFairMutex<Native>) {
    watch::released(of(mutex), Held::Alone);
}

/// The calling thread has the mutex again, which it gave up for a moment.
#[cold]
pub(super) fn has_again(mutex: &RawFairMutex<Native>) {
    watch::acquired(of(mutex), Held::Alone);
}

impl<P: Host> Drop for RawFairMutex<P> {
    fn drop(&mut self) {
        watch::ends::<P>(self.key());
    }
}
