//! The mutex while deadlocks are detected.

use lock_api::GuardNoSend;

use super::{RawMutex, misuse, recorded};
use crate::platform::{Native, Timestamp};
use crate::watch::{self, Ends, Held, Lock, LockKind, Want};

/// What the detection knows the mutex by.
pub(crate) fn of(mutex: &RawMutex<Native>) -> Lock {
    Lock { address: mutex.address(), kind: LockKind::Mutex }
}

#[cold]
#[cfg_attr(debug_assertions, track_caller)]
pub(super) fn lock(mutex: &RawMutex<Native>) -> GuardNoSend {
    let mut watched = watch::begin(of(mutex), Want::Alone, Ends::Never);
    if !mutex.try_lock() {
        watched.waits();
        // Behind the report, which has the stacks.
        misuse::before_lock(mutex);
        recorded::lock(mutex);
    }
    misuse::locked(mutex);
    watched.acquired();
    GuardNoSend::new()
}

#[cold]
pub(super) fn try_lock(mutex: &RawMutex<Native>) -> Option<GuardNoSend> {
    watch::try_lock(of(mutex), Held::Alone, || {
        mutex.try_lock().then(|| {
            misuse::locked(mutex);
            GuardNoSend::new()
        })
    })
}

#[cold]
pub(super) fn lock_until(
    mutex: &RawMutex<Native>,
    deadline: impl FnOnce() -> Timestamp,
) -> Option<GuardNoSend> {
    let guard = |owner: bool| owner.then(GuardNoSend::new);
    let attempt = || guard(mutex.try_lock());
    let block = || guard(recorded::lock_until(mutex, deadline()));
    let owner = watch::lock_until(of(mutex), Want::Alone, attempt, block);
    if owner.is_some() {
        misuse::locked(mutex);
    }
    owner
}

/// The calling thread is about to unlock the mutex.
#[cold]
pub(super) fn unlocks(mutex: &RawMutex<Native>) {
    watch::released(of(mutex), Held::Alone);
}

/// The calling thread has the mutex again, which it gave up for a moment.
#[cold]
pub(super) fn has_again(mutex: &RawMutex<Native>) {
    watch::acquired(of(mutex), Held::Alone);
}
