//! A mutex whose every unlock is a handoff to the thread that has waited longest.
//!
//! ```text
//! the mutex      bit 0  LOCKED   set by an acquisition, or left set by a handoff; cleared by an unlock
//!                bit 1  WAITED   a thread may wait: set by a thread that is about to park, cleared by an
//!                                unlock or a thread that gives up. Written under the bucket's lock only
//!
//! lock           0 ──► LOCKED                            a compare-exchange
//!                LOCKED ──► LOCKED + WAITED ──► parks    under the bucket's lock
//! unlock         LOCKED ──► 0                            a compare-exchange: no thread waits
//!                LOCKED + WAITED ──► LOCKED + WAITED     handed to the oldest, others still wait
//!                LOCKED + WAITED ──► LOCKED              handed to the oldest, the last one
//!                LOCKED + WAITED ──► 0                   the waiting threads have given up
//! ```
//!
//! `WAITED` is never set without `LOCKED`, so no thread finds the lock free while another waits:
//! there is no barging, and threads acquire the lock in the order in which they parked.
//!
//! # Why it is not the other mutex with a fair unlock
//!
//! [`RawMutex::unlock_fair`](crate::mutex::RawMutex::unlock_fair) also hands off the lock, but its
//! waiters poll before they park, and a woken one competes with arriving threads. That makes the
//! other mutex fast, and its order different from the order of arrival. Here each of its rules
//! would have to be turned off. Two bits and a queue remain.
//!
//! # What it costs
//!
//! While threads wait, the lock rests from each unlock until the next owner runs. At best, that is
//! the time for a line to move from one CPU to another: the first thread in the line reads its own
//! node for a while, if that has paid off. Otherwise it is the time of a wake, 2 to 50 µs. That is
//! the price of the order. A mutex that is contended for short sections is faster as
//! [`Mutex`](crate::Mutex), whose bounded unfairness keeps any thread from starving.
//!
//! # Memory ordering
//!
//! An acquisition by compare-exchange is `Acquire` and pairs with the `Release` of the unlock that
//! cleared the bits. The node orders a handoff: the unlock stores its status with `Release`, and
//! the new owner loads that with `Acquire`. Changes of `WAITED` alone are `Relaxed`: they happen
//! under the bucket's lock while another thread owns the lock, whose unlock is a `Release` of its
//! own.
//!
//! # Sources
//!
//! The two bits: Amanieu d'Antras' parking_lot; this is its fair unlock, used for every unlock.
//! Handoff and convoys: Mike Blasgen, Jim Gray, Mike Mitoma and Tom Price, "The Convoy Phenomenon".

mod api;

use core::fmt;

use crate::observe::{self, Place};
use crate::parking::Line;
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

#[cfg(feature = "arc_lock")]
pub use api::ArcFairMutexGuard;
pub use api::{FairMutex, FairMutexGuard, MappedFairMutexGuard};

const LOCKED: u8 = 1;
const WAITED: u8 = 2;

/// A mutex without data that is handed off in the order of arrival, one byte; see the
/// [module](self) for its protocol.
#[repr(C)]
pub struct RawFairMutex<P: Host> {
    state: P::AtomicU8,
    place: Place,
}

impl<P: Host> RawFairMutex<P> {
    /// Creates an unlocked mutex.
    pub fn new() -> Self {
        Self { state: AtomicInt::new(0), place: Place::new() }
    }

    fn key(&self) -> usize {
        (&raw const self.state).addr()
    }

    /// Waits until the calling thread owns the lock.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            let owner = self.lock_slow(None);
            debug_assert!(owner, "without a deadline a wait ends with the lock");
        }
    }

    /// Acquires the lock if it is free. Returns whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        // step: try lock
        self.state.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As [`lock`](Self::lock), but gives up at the deadline. Returns whether the caller owns the
    /// lock.
    #[inline]
    pub fn try_lock_until(&self, deadline: Timestamp) -> bool {
        self.try_lock() || self.lock_slow(Some(deadline))
    }

    #[cold]
    fn lock_slow(&self, deadline: Option<Timestamp>) -> bool {
        let line = Line::<P>::lock(self.key());
        // Until `WAITED` is set, an unlock changes the bits without the bucket's lock.
        // step: wait
        loop {
            if self.try_lock() {
                return true;
            }
            let waited = LOCKED | WAITED;
            let (set, relaxed) = (Ordering::Relaxed, Ordering::Relaxed);
            let found = self.state.compare_exchange(LOCKED, waited, set, relaxed);
            if found.is_ok() || found == Err(waited) {
                break;
            }
        }
        line.wait(0, deadline, |line| {
            if line.oldest().is_none() {
                // Another thread owns the lock, and its unlock will need the bucket's lock.
                self.state.store(LOCKED, Ordering::Relaxed);
            }
        })
    }

    /// Unlocks by a handoff to the thread that has waited longest, if one waits.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock, or the owner permits the unlock.
    #[inline]
    pub unsafe fn unlock(&self) {
        // step: unlock
        if self.state.compare_exchange(LOCKED, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.unlock_slow();
        }
    }

    #[cold]
    fn unlock_slow(&self) {
        let mut line = Line::<P>::lock(self.key());
        // step: hand over
        let owned = if line.take() { LOCKED } else { 0 };
        let waited = if line.oldest().is_some() { WAITED } else { 0 };
        // Release: for a thread that finds the lock free. The last access: the drop of the line
        // notifies the thread that owns the lock.
        self.state.store(owned | waited, Ordering::Release);
    }

    /// Lets the waiting threads have the lock, and then locks it again. If no thread waits, it is
    /// one load.
    ///
    /// # Safety
    ///
    /// As for [`unlock`](Self::unlock).
    pub unsafe fn bump(&self) {
        if self.state.load(Ordering::Relaxed) & WAITED != 0 {
            // SAFETY: as the caller promises.
            unsafe { self.unlock() };
            self.lock();
        }
    }

    /// Returns whether a thread owns the lock, for assertions and tests.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.state.load(Ordering::Relaxed) & LOCKED != 0
    }
}

impl<P: Host> fmt::Debug for RawFairMutex<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lock = f.debug_struct("RawFairMutex");
        observe::show_name(self, &mut lock);
        lock.field("locked", &self.is_locked()).finish()
    }
}

impl<P: Host> Default for RawFairMutex<P> {
    fn default() -> Self {
        Self::new()
    }
}
