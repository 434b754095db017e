//! parking_lot's mutex.
//!
//! Source: the crate `parking_lot` 0.13, `raw_mutex.rs`.
//!
//! Teaches: one byte is a sleeping mutex's whole state once the queue lives in a table keyed by
//! the lock's address.
//!
//! ```text
//! bit 0  locked
//! bit 1  parked: somebody sleeps, or is about to, in the table's queue for this address
//! ```
//!
//! Not the mutex that 0.12 had: unlocking is now one `fetch_sub` that frees the lock whether or not
//! somebody sleeps, and the timer that handed the lock over every half millisecond is gone. It
//! barges without bound.
//!
//! After release: it touches the byte. If somebody slept, the releaser goes on to take the table's
//! bucket, and clears bit 1 there with a `fetch_and` when it finds no more sleepers. By then others
//! may have locked, unlocked, woken that sleeper and freed the mutex.

use std::fmt;

use ondeck::platform::Linux;
use parking_lot::RawMutex;
use parking_lot::lock_api::{GuardNoSend, RawMutex as _};

use super::is_like_new;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// `parking_lot::RawMutex`, what is inside `parking_lot::Mutex<T>`.
pub struct ParkingLotMutex {
    mutex: RawMutex,
}

impl fmt::Debug for ParkingLotMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let locked = self.mutex.is_locked();
        f.debug_struct("ParkingLotMutex").field("locked", &locked).finish_non_exhaustive()
    }
}

// SAFETY: `lock_api::RawMutex` asks of its implementations what `RawLock` asks.
unsafe impl RawLock<Linux> for ParkingLotMutex {
    const INFO: LockInfo = LockInfo {
        name: "parking_lot",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Generic,
        source: "The crate parking_lot 0.13, by Amanieu d'Antras",
        teaches: "One byte of state is enough when the queue lives in a table keyed by address",
    };

    type Context = ();
    type Condvar = SequenceCondvar<Linux>;

    fn new() -> Self {
        Self { mutex: RawMutex::INIT }
    }

    // The marker that `lock` returns has no size and no meaning of its own: it is dropped here and
    // another is made at unlock.
    #[inline]
    unsafe fn lock(&self, (): &()) {
        let GuardNoSend { .. } = self.mutex.lock();
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.mutex.try_lock().is_some()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the calling thread holds the lock; see `lock` about the marker.
        unsafe { self.mutex.unlock(GuardNoSend::new()) };
    }

    fn is_idle(&mut self) -> bool {
        const { assert!(size_of::<RawMutex>() == 1) };
        let new = RawMutex::INIT;
        // SAFETY: one atomic byte, so there is no room for padding.
        unsafe { is_like_new(&mut self.mutex, &new) }
    }
}
