//! parking_lot's reader-writer lock.
//!
//! Source: the crate `parking_lot` 0.13, `raw_rwlock.rs`.
//!
//! Teaches: a writer first sets the bit that keeps arriving readers out, and then waits for the
//! present readers. So readers cannot keep a writer out without bound, though other writers can.
//!
//! ```text
//! word: readers | writer, or waiting for readers (8) | upgradable (4) | that writer is parked (2) | parked (1)
//! ```
//!
//! After the unlock: the word is touched, like the mutex's: it clears a mark under the lock of the
//! table's bucket.

use std::fmt;

use ondeck::platform::Native;
use parking_lot::RawRwLock as Raw;
use parking_lot::lock_api::{GuardNoSend, RawRwLock as _};

use crate::peers::is_like_new;
use crate::{CondvarKind, LockInfo, Origin, RawRwLock, Waiting};

/// `parking_lot::RawRwLock`, the inner lock of its `RwLock`.
// SAFETY, as a lock: `lock_api::RawRwLock` requires the same of its implementations as `RawRwLock`.
pub struct ParkingLotRwLock(Raw);

impl fmt::Debug for ParkingLotRwLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkingLotRwLock").field("locked", &self.0.is_locked()).finish()
    }
}

raw_rwlock! {
    unsafe impl RawRwLock<Native> for ParkingLotRwLock {
        INFO: LockInfo {
            name: "parking_lot_rwlock",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            condvar: CondvarKind::Without,
            source: "The crate parking_lot 0.13, RwLock, by Amanieu d'Antras",
            teaches: "A writer takes the bit that keeps arriving readers out, then waits for those that are in",
            ..LockInfo::USUAL
        },
        new: Self(Raw::INIT),
        // The markers that the lock returns have no size and no meaning: they are dropped here, and
        // others are made at the unlock.
        read: |this, ()| { let GuardNoSend { .. } = this.0.lock_shared(); },
        try_read: |this, ()| this.0.try_lock_shared().is_some(),
        // SAFETY: the calling thread is a reader; see `read` about the marker.
        unlock_read: |this, ()| unsafe { this.0.unlock_shared(GuardNoSend::new()) },
        write: |this, ()| { let GuardNoSend { .. } = this.0.lock_exclusive(); },
        try_write: |this, ()| this.0.try_lock_exclusive().is_some(),
        // SAFETY: the calling thread is the writer; see `read` about the marker.
        unlock_write: |this, ()| unsafe { this.0.unlock_exclusive(GuardNoSend::new()) },
        is_idle: |this| {
            const { assert!(size_of::<Raw>() == size_of::<usize>()) };
            let new = Raw::INIT;
            // SAFETY: one atomic word, so there is no room for padding.
            unsafe { is_like_new(&mut this.0, &new) }
        },
    }
}
