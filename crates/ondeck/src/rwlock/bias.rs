//! Readers that write no word of the lock: while the lock is biased, a reader stores the lock's address into
//! a slot of its own thread's row (`parking/visible.rs`), and reads the word again.
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
//! It is Dekker's pattern: either the reader sees `WRITER`, or the writer sees the slot. The writer pays
//! for it, with a heavy fence of some microseconds. So a lock whose bias was revoked rests: it stays without
//! one for [`REST`] times what the fence and the look took, which bounds what writers lose to a part in that
//! number. Then a counted reader makes it biased again that had to wait: for a writer, or because another
//! reader changed the word at the same moment. Where neither happens, a bias would save little.
//!
//! * A slot that is taken, by the thread's read of another lock or by an earlier one of this lock, is left
//!   alone: that read is counted. A read lock knows its slot, so its unlock needs no search.
//! * A lock may be biased and have counted readers at the same time. A writer waits for both.
//! * A reader that leaves, and finds that a writer sleeps, wakes it by the lock's address only; that it
//!   stores 0 is its last access to the lock (4): the slot is not the lock's memory.
//! * Before it makes a lock biased, a reader looks whether a slot has the lock's address already. If so, it
//!   was left by a forgotten guard of a lock that was there before, and a writer would wait for it for ever.
//! * Where the kernel refuses membarrier(2), light fences are full ones, and heavy fences are their
//!   caller's alone. Where it refuses them later, a reader that was under way may have had none: a writer then
//!   waits for [`SETTLES`], a thousand times as long as any store buffer takes to drain, before it looks, and
//!   no lock is biased any more.

use core::time::Duration;

use super::settle::wake_drainer;
use super::{BIASED, PARKED, READERS, RawRwLock, Shared, UPGRADABLE, WRITER};
use crate::parking::{Bias, Row};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering};

/// How many times as long as its revocation took a lock rests.
const REST: usize = 32;

/// The shortest rest, in nanoseconds.
const LEAST_REST_NANOS: u32 = 20_000;

/// The rest of a lock whose address a slot has already, in nanoseconds. A forgotten guard leaves it there for ever, a reader that
/// comes too late for a bias for a moment. A look at all 512 rows takes some tens of microseconds.
const OCCUPIED_NANOS: u32 = 100_000_000;

/// How long a store may stay invisible to others, if no fence can be made.
///
/// Adam Morrison and Yehuda Afek, "Temporally Bounding TSO for Fence-Free Asymmetric Synchronization", rely
/// on such a bound, too. An interrupt of the CPU, which each tick of the scheduler is, drains its buffer.
const SETTLES: Duration = Duration::from_millis(50);

/// Waits for [`SETTLES`]: then other threads' stores from before are visible, and their loads from now on see
/// what the calling thread has stored.
pub(crate) fn settle_stores<P: Host>() {
    let (word, until) = (AtomicInt::new(0), P::now().after(SETTLES));
    while P::futex_wait(&word, 0, Some(until)) != FutexWait::TimedOut {}
}

impl<P: Host> RawRwLock<P> {
    /// Takes a read lock by a slot of the calling thread, if the lock is biased and the slot is free.
    #[inline(always)]
    pub(super) fn try_visible(&self) -> Option<&'static P::AtomicUsize> {
        let address = self.address();
        let slot = P::row()?.slot(address);
        // Acquire: a writer that reads what this thread stores next has synchronized with the thread that
        // stored the 0, which need not be this one.
        if slot.load(Ordering::Acquire) != 0 {
            return None;
        }
        // spec: RwLock!Publish
        // Release: see above.
        slot.store(address, Ordering::Release);
        // step: light_fence
        P::light_fence();
        // spec: RwLock!LookAgain
        // Acquire: pairs with the unlock of the last writer, and with the reader that made the lock biased.
        if self.state.load(Ordering::Acquire) & (BIASED | WRITER) == BIASED {
            return Some(slot);
        }
        retract::<P>(slot, address);
        None
    }

    /// The caller has a counted read lock, for which it has waited: makes the lock biased if that seems worth it.
    #[cold]
    #[inline(never)]
    pub(super) fn make_biased(&self) {
        const OTHERS: u32 = WRITER | UPGRADABLE | PARKED | BIASED;
        let Some(bias) = P::bias(self.address()) else { return };
        let is_quiet = self.state.load(Ordering::Relaxed) & OTHERS == 0;
        if !is_quiet || !bias.has_rested(P::ticks() as usize) || P::row().is_none() {
            return;
        }
        // Where heavy fences are system calls, the whole process has few of them.
        if P::heavy_fences_are_refused() || P::fences_are_asymmetric() && !P::may_relax() {
            return;
        }
        // No revocation can be under way or end meanwhile, because the caller is counted.
        if self.has_visible() {
            bias.rest(P::ticks() as usize, P::ticks_in(OCCUPIED_NANOS));
            return;
        }
        // spec: RwLock!Bias
        self.try_change(|state| (state & OTHERS == 0).then_some(state | BIASED));
    }

    /// Whether a visible reader of this lock is seen.
    pub(super) fn has_visible(&self) -> bool {
        !Visible::<P>::of(self.address()).have_left()
    }

    /// `WRITER` is set on the caller's behalf, and `BIASED` was set: from now on no reader becomes visible.
    /// Returns those that may be.
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
            bias.rest(now, rest.max(P::ticks_in(LEAST_REST_NANOS)));
        }
        visible
    }

    /// A read lock of the calling thread whose guard was forgotten: for `force_unlock_read`.
    ///
    /// To unlock with it is sound only if the calling thread has a read lock of this lock, and forgets each
    /// [`Shared`] of this lock: one that is kept may stand for the slot that this returns.
    ///
    /// # Panics
    ///
    /// In debug builds, if no read lock is counted and the calling thread has none: another thread's is not found.
    pub fn forgotten(&self) -> Shared<P> {
        // Relaxed: the calling thread's read keeps the bias, if it is visible. If there is none, the read is
        // counted, and what the slot has was left by a lock that was at this address before.
        let may_be_visible = self.state.load(Ordering::Relaxed) & BIASED != 0;
        let row = if may_be_visible { P::row() } else { None };
        let slot = row.map(|row| row.slot(self.address()));
        let own = slot.filter(|slot| slot.load(Ordering::Relaxed) == self.address());
        // The count would fall below 0, and the lock stay locked for ever.
        debug_assert!(
            own.is_some() || self.state.load(Ordering::Relaxed) & READERS != 0,
            "ondeck: a thread unlocks a read lock that another thread has, or none; in place of parking_lot, guards that \
             other threads drop need the feature `send_guard`"
        );
        own.map_or_else(Shared::counted, Shared::visible)
    }
}

/// Empties a slot of the calling thread, which has the lock's `address`: the reader leaves, or has not come.
/// The lock may be gone.
#[inline(always)]
pub(super) fn retract<P: Host>(slot: &P::AtomicUsize, address: usize) {
    // spec: RwLock!Retract
    // Release: a writer that reads this sees what the reader did.
    slot.store(0, Ordering::Release);
    // Pairs with the heavy fence of a writer that is about to sleep.
    P::light_fence();
    // spec: RwLock!LookForSleepingWriters
    if P::bias(address).is_some_and(Bias::has_sleeping_writers) {
        wake_drainer::<P>(address);
    }
}

/// The rows in which readers of a lock may be visible, without those at the beginning in which none was seen.
pub(super) struct Visible<P: Host> {
    address: usize,
    rows: &'static [Row<P>],
}

impl<P: Host> Visible<P> {
    fn of(address: usize) -> Self {
        Self { address, rows: P::rows() }
    }

    /// None.
    pub(super) fn none() -> Self {
        Self { address: 0, rows: &[] }
    }

    /// Whether they have all left. A reader that has left does not come back while there is a writer; one
    /// that only tries is gone in a moment.
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
