//! parking_lot's mutex.
//!
//! Source: the crate `parking_lot` 0.13, `raw_mutex.rs`.
//!
//! Teaches: one byte suffices for the state of a sleeping mutex if the queue is in a table keyed by
//! the lock's address.
//!
//! ```text
//! bit 0  locked
//! bit 1  parked: a thread sleeps, or is about to, in the table's queue for this address
//! ```
//!
//! This is not the mutex of 0.12. An unlock is now one `fetch_sub`, which frees the lock whether or
//! not a thread sleeps. The timer that made a handoff every half a millisecond is gone, so barging
//! is unbounded.
//!
//! Its condition variable is also parking_lot's. Its waiters are in the same table, and a notified
//! waiter is moved to the mutex's queue if the mutex is locked.
//!
//! After the unlock: the byte is touched. If a thread slept, the unlock then locks the table's
//! bucket, and if it finds no more sleeping threads it clears bit 1 with a `fetch_and`. Before
//! that, others may have locked, unlocked, woken that thread and freed the mutex.

use std::fmt;
use std::mem::ManuallyDrop;

use ondeck::platform::Native;
use parking_lot::lock_api::{GuardNoSend, RawMutex as _};
use parking_lot::{Condvar, Mutex, RawMutex};

use super::is_like_new;
use crate::{CondvarKind, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `parking_lot::Mutex<()>`, used through the `RawMutex` inside it.
// SAFETY, as a lock: `lock_api::RawMutex` requires the same of its implementations as `RawLock`.
pub struct ParkingLotMutex {
    mutex: Mutex<()>,
}

impl ParkingLotMutex {
    #[inline(always)]
    fn raw(&self) -> &RawMutex {
        // SAFETY: it is unlocked only by users of `RawLock` that have locked it; the guard in
        // `wait` is not dropped.
        unsafe { self.mutex.raw() }
    }
}

impl fmt::Debug for ParkingLotMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let locked = self.raw().is_locked();
        f.debug_struct("ParkingLotMutex").field("locked", &locked).finish_non_exhaustive()
    }
}

raw_lock! {
    unsafe impl RawLock<Native> for ParkingLotMutex {
        INFO: LockInfo {
            name: "parking_lot",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            condvar: CondvarKind::Own,
            source: "The crate parking_lot 0.13, by Amanieu d'Antras",
            teaches: "One byte of state is enough when the queue lives in a table keyed by address",
            ..LockInfo::USUAL
        },
        Condvar: ParkingLotCondvar,
        new: Self { mutex: Mutex::new(()) },
        // The marker that `lock` returns has no size and no meaning: it is dropped here and another
        // is made at unlock.
        lock: |this, ()| { let GuardNoSend { .. } = this.raw().lock(); },
        try_lock: |this, ()| this.raw().try_lock().is_some(),
        // SAFETY: the calling thread holds the lock; see `lock` about the marker.
        unlock: |this, ()| unsafe { this.raw().unlock(GuardNoSend::new()) },
        is_idle: |this| {
            const { assert!(size_of::<Mutex<()>>() == 1) };
            let new = Mutex::new(());
            // SAFETY: one atomic byte, so there is no room for padding.
            unsafe { is_like_new(&mut this.mutex, &new) }
        },
    }
}

/// `parking_lot::Condvar`.
// SAFETY, as a condition variable: it unlocks and locks the mutex of the guard, and loses no
// signal.
#[derive(Debug, Default)]
pub struct ParkingLotCondvar {
    condvar: Condvar,
}

raw_condvar! {
    unsafe impl RawCondvar<Native, ParkingLotMutex> for ParkingLotCondvar {
        new: Self::default(),
        wait: |this, lock, ()| {
            // SAFETY: the calling thread holds the lock, and has no guard: `lock` makes none. The
            // marker has no meaning, see `lock`.
            let guard = unsafe { lock.mutex.make_guard_unchecked(GuardNoSend::new()) };
            // Not dropped, because the caller still holds the lock afterwards, even after a panic.
            this.condvar.wait(&mut ManuallyDrop::new(guard));
        },
        notify_one: |this| this.condvar.notify_one(),
        notify_all: |this| this.condvar.notify_all(),
    }
}
