//! Why no wake is lost although an unlock has no fence: how a thread that is about to park, and the
//! unlocks of its lock, make sure that one of them sees the other.
//!
//! It is Dekker's pattern. A thread that parks first counts itself in the lock's record, then looks at
//! the lock once more; an unlock first clears the lock, then looks at the record. If neither saw the
//! other, the thread would sleep beside a free lock. So between the two steps each side needs a full
//! fence, or one of them a heavy fence (Dave Dice, Hui Huang and Mingyao Yang, "Asymmetric Dekker
//! Synchronization").
//!
//! ```text
//!             a lock gets a record             a thread parks soon          heavy
//!                                              after another                fence
//!   (none) ────────────────────────► LIGHT ────────────────────► NOT_YET ─────────► FENCED
//!     ▲                               │ ▲                                             │
//!     │                               │ └───── many unlocks, and no thread parks ─────┘
//!     └── eight times as many, and ───┘
//!         no thread waits
//! ```
//!
//! | record | an unlock | a thread that parks |
//! |---|---|---|
//! | none | nothing | makes one |
//! | `LIGHT` | looks at the record | heavy fence; but `NOT_YET` first, unless many unlocks came between |
//! | `NOT_YET` | full fence, looks at the record | heavy fence, then makes it `FENCED` |
//! | `FENCED` | full fence, looks at the record | full fence |
//!
//! A step to the left needs no fence: an unlock that still reads the older word does more than needed,
//! and one that reads `LIGHT` sees every thread that was counted before. A step to the right is followed
//! by a heavy fence before the thread that takes it sleeps: an unlock that read the older word has had
//! its clearing store made visible by it. Until that fence is over, every other thread that parks makes
//! one, too; the generation in the word tells a fence that began before the last step from one that
//! began after it. The heavy fence is made without the bucket's lock.
//!
//! A lock whose waiters only poll stays `LIGHT`, and makes no fence at all.
//!
//! An unlock asks behind its store which record the lock has and how that is, and then makes the fence, if it
//! owes one: what it reads before that fence only says whether to make it.
//!
//! In a bucket whose unlock mode is `LOOK` every unlock has a full fence, and every thread that parks. When `LOOK` is
//! left, threads may be parked that have made no heavy fence. Their records are `NOT_YET`, so that unlocks make
//! full fences beside them; and an unlock that reads another mode sees those records, by acquire and release.
//!
//! If the kernel refuses heavy fences all of a sudden, steps to the right are still taken, and no fence
//! follows. Then the thread that parks looks at its lock again every few milliseconds: the store that
//! it missed becomes visible in finite time.

use super::bucket::{Bucket, Guard};
use super::has_come;
use super::record::{Record, fence};
use super::unlock_mode::LOOK;
use crate::platform::{AtomicInt, Host, Ordering};

/// The fence that a thread owes between counting itself and looking at its lock for the last time.
#[derive(Clone, Copy)]
#[must_use = "without the fence a wake may be lost"]
pub(crate) enum Publication {
    /// A full one.
    Full,
    /// A heavy one; with what the record's pairing of fences was before it.
    Heavy(u32),
}

#[allow(clippy::unused_self, reason = "that there is a guard says that the bucket's lock is held")]
impl<P: Host> Guard<'_, P> {
    /// What the caller has just written to `record`, that of the lock at `address`, is to be seen by
    /// the unlocks to come. Says which fence that takes.
    pub(crate) fn publish(&self, record: &Record<P>, address: usize) -> Publication {
        let mode = P::unlock_mode(address);
        let releases = record.take_releases();
        // spec: Mutex!Publish
        if !P::fences_are_asymmetric() {
            mode.store(LOOK, Ordering::Relaxed);
            if record.is_light() {
                record.step_back();
            }
        }
        if mode.load(Ordering::Relaxed) == LOOK {
            return Publication::Full;
        }
        match record.fence() & fence::KIND {
            fence::FENCED => Publication::Full,
            fence::LIGHT => {
                // If threads park rarely, the heavy fence costs less than those of all unlocks.
                if record.pins() != 0 || releases < payback::<P>() || !P::may_relax() {
                    record.step_back();
                }
                Publication::Heavy(record.fence())
            }
            _ => Publication::Heavy(record.fence()),
        }
    }
}

impl Publication {
    /// Makes the fence. Costs some microseconds of every running thread of the process if it is a
    /// heavy one: best without the bucket's lock.
    pub(crate) fn complete<P: Host>(self, record: &Record<P>) {
        match self {
            // spec: Mutex!Fence
            Self::Full => P::fence(Ordering::SeqCst),
            // spec: Mutex!Heavy
            // spec: Mutex!HeavyWait
            Self::Heavy(seen) => {
                P::heavy_fence();
                if seen & fence::KIND == fence::NOT_YET && P::fences_are_asymmetric() {
                    record.heavy_fence_made(seen);
                }
            }
        }
    }
}

/// Lets unlocks of the lock at `address` do less from now on, if they may: `releases` of them have
/// looked at its record since a thread parked.
pub(crate) fn relax<P: Host>(bucket: &Bucket<P>, address: usize, releases: u32) {
    let mode = P::unlock_mode(address);
    // The first unlocks of a bucket look only because nothing is known yet.
    let unknown = mode.load(Ordering::Relaxed) == LOOK;
    if unknown && !P::fences_are_asymmetric() || !unknown && releases < payback::<P>() {
        return;
    }
    // spec: Mutex!RelaxLock
    // A thread that holds the bucket's lock parks, or does the same as this.
    let Some(guard) = bucket.try_lock() else { return };
    // spec: Mutex!Relax
    if unknown {
        return guard.know(mode);
    }
    if !P::may_relax() {
        return;
    }
    if releases >= payback::<P>().saturating_mul(SKIP_AFTER) {
        guard.take_quiet_records(mode);
    } else if let Some(record) = bucket.own_record(address) {
        guard.lighten(record);
    }
}

/// The same for the poller of the lock at `address`, by time: unlocks that see a poller count nothing.
pub(crate) fn relax_by_time<P: Host>(
    bucket: &Bucket<P>,
    record: &Record<P>,
    address: usize,
    now: usize,
) {
    /// So many times the cost of a heavy fence has gone by without one: they take at most a fifth of the
    /// time of threads that park. Full fences take half of the time of unlocks as fast as can be.
    const PAYBACK: usize = 4;
    let mode = P::unlock_mode(address);
    if mode.load(Ordering::Relaxed) == LOOK && P::fences_are_asymmetric() {
        // The lock was contended from the first.
        // spec: Mutex!PollerKnows
        if let Some(guard) = bucket.try_lock() {
            guard.know(mode);
        }
        return;
    }
    let rest = P::heavy_cost_ticks().max(P::ticks_in(2_000)) * PAYBACK;
    let is_fenced = record.fence() & fence::KIND == fence::FENCED && record.pins() == 0;
    // Asked for last, because the whole process has few permissions.
    if !is_fenced || !has_come(now, record.last_parked_at().wrapping_add(rest)) || !P::may_relax() {
        return;
    }
    // spec: Mutex!PollerRelaxLock
    let Some(guard) = bucket.try_lock() else { return };
    // spec: Mutex!PollerRelax
    guard.lighten(record);
}

#[allow(clippy::unused_self, reason = "that there is a guard says that the bucket's lock is held")]
impl<P: Host> Guard<'_, P> {
    /// Nothing was known of the bucket so far: lets its unlocks do what its records ask for.
    ///
    /// Release: an unlock that leaves out its fence because of this sees the records of all threads which have parked
    /// with a full fence only.
    fn know(&self, mode: &P::AtomicUsize) {
        // Asked again, because heavy fences may have been refused since.
        if P::fences_are_asymmetric() {
            mode.store(self.mode_by_records(), Ordering::Release);
        }
    }

    /// Lets the unlocks of the lock that has this record do without fences, if no waiter of a condition
    /// variable relies on them.
    pub(super) fn lighten(&self, record: &Record<P>) {
        if record.fence() & fence::KIND == fence::FENCED && record.pins() == 0 {
            record.set_fence(record.fence() & !fence::KIND | fence::LIGHT);
        }
    }
}

/// How many times the unlocks that pay for one heavy fence have to find no thread before they look no
/// more. A prototype that stopped looking after 64 spent four fifths of its time in heavy fences; after
/// 20,000 none that could be measured.
const SKIP_AFTER: u32 = 8;

/// How many full fences of unlocks cost as much as one heavy fence.
///
/// A full fence is about a sixteenth of what a cache line takes from one CPU to another: 2.3 of 35 ns
/// on one machine, 9 of 130 ns on another.
fn payback<P: Host>() -> u32 {
    const FEWEST: usize = 1_000;
    const MOST: usize = 50_000;
    let fence = (P::transfer_ticks() / 16).max(1);
    P::spins((P::heavy_cost_ticks() / fence).clamp(FEWEST, MOST) as u32)
}
