//! The reader-writer lock while deadlocks are detected.

use lock_api::GuardNoSend;

use super::{RawRwLock, Shared};
use crate::platform::{Host, Native};
use crate::watch::{self, Held, Lock, LockKind, Want};

type RwLock = RawRwLock<Native>;
type Read = Shared<Native>;

fn of(lock: &RwLock) -> Lock {
    Lock { address: lock.address(), kind: LockKind::RwLock }
}

/// An attempt to lock in some way.
fn attempt(lock: &RwLock, want: Want) -> Option<GuardNoSend> {
    let owner = match want {
        Want::Upgradable => lock.try_lock_upgradable(),
        // SAFETY: an upgrade is the call of a thread that has the upgradable read lock.
        Want::Upgrade => unsafe { lock.try_upgrade() },
        Want::Alone | Want::Read | Want::Recursive => lock.try_lock_exclusive(),
    };
    owner.then(GuardNoSend::new)
}

fn attempt_read(lock: &RwLock, want: Want) -> Option<Read> {
    match want {
        Want::Recursive => lock.try_lock_shared_recursive(),
        _ => lock.try_lock_shared(),
    }
}

/// Reads, in one of the two ways.
#[cold]
pub(super) fn read(lock: &RwLock, want: Want) -> Read {
    let block = || match want {
        Want::Recursive => lock.lock_shared_recursive(),
        _ => lock.lock_shared(),
    };
    watch::lock(of(lock), want, || attempt_read(lock, want), block)
}

#[cold]
pub(super) fn try_read(lock: &RwLock, want: Want) -> Option<Read> {
    watch::try_lock(of(lock), Held::Read, || attempt_read(lock, want))
}

#[cold]
pub(super) fn read_until(
    lock: &RwLock,
    want: Want,
    block: impl FnOnce() -> Option<Read>,
) -> Option<Read> {
    watch::lock_until(of(lock), want, || attempt_read(lock, want), block)
}

/// Locks, other than to read only.
#[cold]
pub(super) fn lock(lock: &RwLock, want: Want, block: impl FnOnce()) -> GuardNoSend {
    watch::lock(
        of(lock),
        want,
        || attempt(lock, want),
        || {
            block();
            GuardNoSend::new()
        },
    )
}

#[cold]
pub(super) fn try_lock(lock: &RwLock, want: Want, held: Held) -> Option<GuardNoSend> {
    watch::try_lock(of(lock), held, || attempt(lock, want))
}

/// # Safety
///
/// The calling thread has the upgradable read lock.
#[cold]
pub(super) unsafe fn try_upgrade(lock: &RwLock) -> Option<GuardNoSend> {
    // SAFETY: as the caller promises.
    let owner = unsafe { lock.try_upgrade() };
    owner.then(|| {
        changes(lock, Held::Upgradable, Held::Alone);
        GuardNoSend::new()
    })
}

#[cold]
pub(super) fn lock_until(
    lock: &RwLock,
    want: Want,
    block: impl FnOnce() -> bool,
) -> Option<GuardNoSend> {
    let block = || block().then(GuardNoSend::new);
    watch::lock_until(of(lock), want, || attempt(lock, want), block)
}

/// The calling thread is about to unlock.
#[cold]
pub(super) fn unlocks(lock: &RwLock, held: Held) {
    watch::released(of(lock), held);
}

/// The calling thread has the lock again, which it gave up for a moment.
#[cold]
pub(super) fn has_again(lock: &RwLock, held: Held) {
    watch::acquired(of(lock), held);
}

/// The calling thread holds the lock in another way.
#[cold]
pub(super) fn changes(lock: &RwLock, from: Held, to: Held) {
    watch::changed(of(lock), from, to);
}

impl<P: Host> Drop for RawRwLock<P> {
    fn drop(&mut self) {
        watch::ends::<P>(self.address());
    }
}
