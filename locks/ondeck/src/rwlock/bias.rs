//! Readers that write no word of the lock: while the lock is biased, a reader stores the lock's
//! address into a slot of its thread's row (`parking/visible.rs`), and reads the word again.
//!
//! ```text
//! reader                                      writer
//!   slot := address                             WRITER + DRAINING
//!   light fence                                 heavy fence
//!   BIASED and no WRITER? ── yes ──► holds it   reads that slot of all rows until none has the address
//!        │ no                                   clears DRAINING and BIASED ──► owner
//!        └──► slot := 0, counted or waits
//! ```
//!
//! This is Dekker's pattern: either the reader sees `WRITER`, or the writer sees the slot. The
//! writer pays for it, with a heavy fence of some microseconds. So a lock whose bias was revoked
//! rests: it stays unbiased for [`REST`] times the duration of the fence and the scan, which bounds
//! the loss of writers to one part in that number. After that, a counted reader makes it biased
//! again if the reader had to wait: for a writer, or because another reader changed the word at the
//! same moment. Where neither happens, a bias would save little.
//!
//! * A slot that is taken, by the thread's read of another lock or by an earlier read of this lock,
//!   is not touched: the new read is counted. A read lock knows its slot, so its unlock needs no
//!   search.
//! * A lock may be biased and have counted readers at the same time. A writer waits for both.
//! * A reader that leaves, and finds that a writer sleeps, wakes it by the lock's address only. Its
//!   store of 0 is its last access for the lock (4): the slot is not part of the lock's memory.
//! * Before it makes a lock biased, a reader checks whether a slot already has the lock's address.
//!   If so, a forgotten guard of an earlier lock at that address left it there, and a writer would
//!   wait for it for ever.
//! * Where the kernel refuses membarrier(2), light fences are full ones, and heavy fences order
//!   only their callers. If it refuses them later, a reader that was under way may have had no
//!   fence. A writer then waits for [`SETTLES`], a thousand times as long as any store buffer takes
//!   to drain, before it reads the slots, and no lock is biased any more.

use core::time::Duration;

use super::settle::wake_drainer;
use super::{BIASED, PARKED, READERS, RawRwLock, Shared, UPGRADABLE, WRITER};
use crate::parking::{Bias, Row, sleep_while};
use crate::platform::{AtomicInt, Host, Ordering};

/// The rest of a lock after a revocation, as a multiple of the revocation's time.
const REST: usize = 32;

/// The shortest rest, in nanoseconds.
const LEAST_REST_NANOS: u32 = 20_000;

/// The rest of a lock whose address a slot already has, in nanoseconds. A forgotten guard leaves
/// the address there for ever; a reader that comes too late for a bias leaves it there for a
/// moment. A scan of all 512 rows takes some tens of microseconds.
const OCCUPIED_NANOS: u32 = 100_000_000;

/// The longest time for which a store may stay invisible to others, if no fence can be made.
///
/// Adam Morrison and Yehuda Afek, "Temporally Bounding TSO for Fence-Free Asymmetric
/// Synchronization", also rely on such a bound. An interrupt of the CPU, such as each tick of the
/// scheduler, drains its buffer.
const SETTLES: Duration = Duration::from_millis(50);

/// Waits for [`SETTLES`]. After that, earlier stores of other threads are visible, and later loads
/// of other threads see the earlier stores of the calling thread.
fn settle_stores<P: Host>() {
    let (word, until) = (AtomicInt::new(0), P::now().after(SETTLES));
    sleep_while::<P>(&word, 0, Some(until));
}

impl<P: Host> RawRwLock<P> {
    /// Acquires a read lock by a slot of the calling thread, if the lock is biased and the slot is
    /// free.
    #[inline(always)]
    pub(super) fn try_visible(&self) -> Option<&'static P::AtomicUsize> {
        let address = self.address();
        let slot = P::row()?.slot(address);
        // Relaxed: only threads of this row store there, and what another one did happened before
        // (`Host`).
        if slot.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // spec: RwLock!Publish
        // Release: a writer of another lock that had this slot may read this store instead of the
        // 0.
        slot.store(address, Ordering::Release);
        // step: light_fence
        P::light_fence();
        // spec: RwLock!LookAgain
        // Acquire: pairs with the unlock of the last writer, and with the reader that made the lock
        // biased.
        if self.state.load(Ordering::Acquire) & (BIASED | WRITER) == BIASED {
            return Some(slot);
        }
        retract::<P>(slot, address);
        None
    }

    /// Makes the lock biased if a bias is likely to pay. The caller has a counted read lock, for
    /// which it has waited.
    #[cold]
    #[inline(never)]
    pub(super) fn make_biased(&self) {
        const OTHERS: u32 = WRITER | UPGRADABLE | PARKED | BIASED;
        let Some(bias) = P::bias(self.address()) else { return };
        let is_quiet = self.state.load(Ordering::Relaxed) & OTHERS == 0;
        if !is_quiet || !bias.rest.is_over(P::ticks() as usize) || P::row().is_none() {
            return;
        }
        // Where heavy fences are system calls, they are rationed for the whole process.
        if P::heavy_fences_are_refused() || P::fences_are_asymmetric() && !P::may_relax() {
            return;
        }
        // No revocation is under way or ends during this, because the caller is counted.
        if self.has_visible() {
            bias.rest.begin(P::ticks() as usize, P::ticks_in(OCCUPIED_NANOS));
            return;
        }
        // spec: RwLock!Bias
        self.try_change(|state| (state & OTHERS == 0).then_some(state | BIASED));
    }

    /// Returns whether the caller sees a visible reader of this lock.
    pub(super) fn has_visible(&self) -> bool {
        !Visible::<P>::of(self.address()).have_left()
    }

    /// Revokes the bias: `WRITER` is set on the caller's behalf, and `BIASED` was set. From now on
    /// no reader becomes visible. Returns the rows of those that may be.
    pub(super) fn revoke(&self) -> Visible<P> {
        let begin = P::ticks() as usize;
        // spec: RwLock!HeavyFence
        P::heavy_fence();
        if P::heavy_fences_are_refused() {
            settle_stores::<P>();
        }
        let mut visible = Visible::of(self.address());
        visible.have_left();
        if let Some(bias) = P::bias(self.address()) {
            let now = P::ticks() as usize;
            let rest = now.wrapping_sub(begin).saturating_mul(REST);
            bias.rest.begin(now, rest.max(P::ticks_in(LEAST_REST_NANOS)));
        }
        visible
    }

    /// Returns a read lock of the calling thread whose guard was forgotten, for
    /// `force_unlock_read`.
    ///
    /// An unlock with it is sound only if the calling thread has a read lock of this lock, and
    /// forgets each [`Shared`] of this lock: one that is kept may refer to the slot that this
    /// returns.
    ///
    /// # Panics
    ///
    /// In debug builds, if no read lock is counted and the calling thread has none. A read lock of
    /// another thread is not found.
    pub fn forgotten(&self) -> Shared<P> {
        // Relaxed: if the calling thread's read is visible, it keeps the bias. If there is no bias,
        // the read is counted, and an address in the slot was left by an earlier lock at this
        // address.
        let may_be_visible = self.state.load(Ordering::Relaxed) & BIASED != 0;
        let row = if may_be_visible { P::kept_row() } else { None };
        let slot = row.map(|row| row.slot(self.address()));
        let own = slot.filter(|slot| slot.load(Ordering::Relaxed) == self.address());
        // The count would fall below 0, and the lock would stay locked for ever.
        debug_assert!(
            own.is_some() || self.state.load(Ordering::Relaxed) & READERS != 0,
            "ondeck: a thread unlocks a read lock that another thread has, or none; in place of parking_lot, guards that \
             other threads drop need the feature `send_guard`"
        );
        own.map_or_else(Shared::counted, Shared::visible)
    }
}

/// Empties a slot of the calling thread that has the lock's `address`: the reader leaves, or has
/// not entered. The lock may be gone.
#[inline(always)]
pub(super) fn retract<P: Host>(slot: &P::AtomicUsize, address: usize) {
    // spec: RwLock!Retract
    // Release: a writer that reads this sees the reader's section.
    slot.store(0, Ordering::Release);
    // Pairs with the heavy fence of a writer that is about to sleep.
    P::light_fence();
    // spec: RwLock!LookForSleepingWriters
    if P::bias(address).is_some_and(Bias::has_sleeping_writers) {
        wake_drainer::<P>(address);
    }
}

/// The rows in which readers of a lock may be visible, without the leading rows in which none was
/// seen.
pub(super) struct Visible<P: Host> {
    address: usize,
    rows: &'static [Row<P>],
}

impl<P: Host> Visible<P> {
    fn of(address: usize) -> Self {
        Self { address, rows: P::rows() }
    }

    /// Returns no rows.
    pub(super) fn none() -> Self {
        Self { address: 0, rows: &[] }
    }

    /// Returns whether all have left. A reader that has left does not come back while there is a
    /// writer; one that only tries is gone in a moment.
    pub(super) fn have_left(&mut self) -> bool {
        // spec: RwLock!Scan
        // Acquire: pairs with the stores of readers that have left.
        while let Some((row, rows)) = self.rows.split_first()
            && row.slot(self.address).load(Ordering::Acquire) != self.address
        {
            self.rows = rows;
        }
        self.rows.is_empty()
    }
}
