//! parking_lot's mutex.
//!
//! Source: the crate `parking_lot` 0.13, `raw_mutex.rs`.
//!
//! Teaches: one byte is the whole state of a sleeping mutex if the queue is in a table keyed by the
//! lock's address.
//!
//! ```text
//! bit 0  locked
//! bit 1  parked: a thread sleeps, or is about to, in the table's queue for this address
//! ```
//!
//! This is not the mutex of 0.12. An unlock is now one `fetch_sub`, which frees the lock whether or
//! not a thread sleeps. The timer that handed the lock over every half a millisecond is gone, so
//! barging is unbounded.
//!
//! Its condition variable is parking_lot's too. Its waiters are in the same table, and a notified
//! waiter is moved to the mutex's queue if the mutex is locked.
//!
//! After the unlock: the byte is touched. If a thread slept, the unlock goes on to lock the table's
//! bucket, and if it finds no more sleeping threads it clears bit 1 with a `fetch_and`. By then
//! others may have locked, unlocked, woken that thread and freed the mutex.

use std::fmt;
use std::mem::ManuallyDrop;

use ondeck::platform::Native;
use parking_lot::lock_api::{GuardNoSend, RawMutex as _};
use parking_lot::{Condvar, Mutex, RawMutex};

use super::is_like_new;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `parking_lot::Mutex<()>`, by the `RawMutex` inside it.
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

// SAFETY: `lock_api::RawMutex` asks of its implementations what `RawLock` asks.
unsafe impl RawLock<Native> for ParkingLotMutex {
    const INFO: LockInfo = LockInfo {
        name: "parking_lot",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Own,
        source: "The crate parking_lot 0.13, by Amanieu d'Antras",
        teaches: "One byte of state is enough when the queue lives in a table keyed by address",
    };

    type Context = ();
    type Condvar = ParkingLotCondvar;

    fn new() -> Self {
        Self { mutex: Mutex::new(()) }
    }

    // The marker that `lock` returns has no size and no meaning of its own: it is dropped here and
    // another is made at unlock.
    #[inline]
    unsafe fn lock(&self, (): &()) {
        let GuardNoSend { .. } = self.raw().lock();
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.raw().try_lock().is_some()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the calling thread holds the lock; see `lock` about the marker.
        unsafe { self.raw().unlock(GuardNoSend::new()) };
    }

    fn is_idle(&mut self) -> bool {
        const { assert!(size_of::<Mutex<()>>() == 1) };
        let new = Mutex::new(());
        // SAFETY: one atomic byte, so there is no room for padding.
        unsafe { is_like_new(&mut self.mutex, &new) }
    }
}

/// `parking_lot::Condvar`.
#[derive(Debug, Default)]
pub struct ParkingLotCondvar {
    condvar: Condvar,
}

// SAFETY: `parking_lot::Condvar` unlocks and locks the mutex of the guard, and loses no signal.
unsafe impl RawCondvar<Native, ParkingLotMutex> for ParkingLotCondvar {
    fn new() -> Self {
        Self::default()
    }

    unsafe fn wait(&self, lock: &ParkingLotMutex, (): &()) {
        // SAFETY: the calling thread holds the lock, and has no guard: `lock` makes none. The
        // marker has no meaning, see there.
        let guard = unsafe { lock.mutex.make_guard_unchecked(GuardNoSend::new()) };
        // Not dropped, because the caller goes on to hold the lock, also after a panic.
        self.condvar.wait(&mut ManuallyDrop::new(guard));
    }

    fn notify_one(&self) {
        self.condvar.notify_one();
    }

    fn notify_all(&self) {
        self.condvar.notify_all();
    }
}
