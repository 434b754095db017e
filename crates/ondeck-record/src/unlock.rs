//! An unlock that is recorded: the thread's own wait before it, and the blame for those of others.
//!
//! # Blame
//!
//! An owner is charged with the time that all waiting threads together waited during its hold; see the
//! account of [`Lock`]. When its hold began is known if it had waited itself, or if a thread that parked
//! found the same hold for a while. What passed between the unlock that was recorded last and that moment is
//! to blame on owners that were not recorded: it is kept as the lock's `rest`, and charged to the next owner
//! whose hold was short. Long holds are recorded each, as far as `thread.rs` can, so these owners stand for
//! others like them.

use core::sync::atomic::Ordering;

use probe::probe;

use crate::layout::{File, Lock};
use crate::thread::{self, Local, Pass, Pending};
use crate::words::{RECORD, Words};
use crate::{clock, samples, state, table};

/// Nanoseconds of a hold that is short.
const SHORT: u64 = 4_000;

/// What an unlock has to record once it is done.
#[derive(Debug)]
#[must_use]
pub struct Held {
    lock: usize,
    kind: u32,
    pending: Option<Pending>,
    /// The lock's count of acquisitions; 0 if it has none.
    turn: u64,
    /// What the owner is charged with, if that was asked before the unlock.
    charged: Option<Charged>,
}

/// An owner's account, closed at a moment.
#[derive(Clone, Copy, Debug)]
struct Charged {
    now: u64,
    /// As of [`blame_for`], if other threads wait.
    blame: Option<(u64, u64)>,
}

/// The calling thread owns the lock, found its word [`request`](Words::request) not to be 0, and is about to
/// unlock. Some nanoseconds, within the critical section. `None` if this unlock is not recorded.
#[inline(never)]
pub fn before_unlock(lock: usize, kind: u32, words: Words<'_>) -> Option<Held> {
    // Relaxed: a request that comes now is for this hold or the next.
    let request = words.request.load(Ordering::Relaxed);
    let pending = if request & RECORD == 0 {
        match thread::pass(lock, words.lease) {
            Pass::Unrecorded => return None,
            Pass::Forgotten if !is_wanted(lock) => {
                // If a thread parks just now, it asks again when it parks again, or the next one does.
                words.request.store(0, Ordering::Relaxed);
                return None;
            }
            Pass::Forgotten | Pass::Recorded => None,
        }
    } else {
        words.request.fetch_and(!RECORD, Ordering::Relaxed);
        thread::take(lock)
    };
    let turn = words.acquisitions.load(Ordering::Relaxed);
    Some(Held { lock, kind, pending, turn, charged: None })
}

/// Whether recorded threads wait for the lock: since the caller's last unlock, after which none did.
#[cold]
fn is_wanted(lock: usize) -> bool {
    let entry = state::file().and_then(|file| table::find(file, lock));
    entry.is_some_and(|entry| entry.waiting.load(Ordering::Relaxed) != 0)
}

/// The calling thread owns a lock without words, and is about to unlock; threads may be parked. `None` if this
/// unlock is not recorded.
///
/// A lock without words has no count that would tell later which owner a wait is to blame on. So the owner is
/// charged now: after the unlock the next owner may be faster. That is a look at the lock's entry, and, if a thread
/// has asked for a record, some nanoseconds more.
pub fn before_plain_unlock(lock: usize, kind: u32) -> Option<Held> {
    let file = state::file()?;
    let entry = table::find(file, lock)?;
    let request = entry.request.load(Ordering::Relaxed);
    if request == 0 {
        return None;
    }
    if request & RECORD == 0 {
        match thread::pass(lock, None) {
            Pass::Unrecorded => return None,
            Pass::Forgotten if entry.waiting.load(Ordering::Relaxed) == 0 => {
                entry.request.store(0, Ordering::Relaxed);
                return None;
            }
            Pass::Forgotten | Pass::Recorded => {}
        }
    } else {
        entry.request.fetch_and(!RECORD, Ordering::Relaxed);
    }
    let charged = thread::of(file, |local| charge(entry, local, lock, 0, None, clock::ticks()));
    Some(Held { lock, kind, pending: None, turn: 0, charged: Some(charged?) })
}

/// Closes the account of the owner that unlocks at `now`; see [`blame_for`].
fn charge(
    entry: &Lock,
    local: &mut Local,
    lock: usize,
    turn: u64,
    acquired: Option<u64>,
    now: u64,
) -> Charged {
    let others_wait = entry.waiting.load(Ordering::Relaxed) != 0;
    let run = local.run(lock, now, others_wait);
    Charged { now, blame: others_wait.then(|| blame_for(entry, turn, acquired, now, run)) }
}

/// Corrects the account for a wait whose unlock was not seen.
pub fn settle(file: &'static File, stale: &Pending) {
    if let Some(entry) = table::find(file, stale.lock)
        && stale.is_in_account
        && stale.file == thread::address_of(file)
    {
        table::leave(entry, stale.acquired, stale.weight);
    }
}

impl Held {
    /// A wait that is recorded before its unlock.
    pub(crate) fn of_wait(lock: usize, kind: u32, pending: Pending) -> Self {
        Self { lock, kind, pending: Some(pending), turn: 0, charged: None }
    }

    /// The lock is unlocked. Its memory is not touched.
    #[inline(never)]
    pub fn after(self) {
        probe!(ondeck, release, self.lock);
        if let Some(file) = state::file() {
            self.record(file);
        }
    }

    pub(crate) fn record(self, file: &'static File) {
        thread::of(file, |local| self.record_by(file, local));
    }

    fn record_by(self, file: &'static File, local: &mut Local) {
        let now = self.charged.map_or_else(clock::ticks, |charged| charged.now);
        let begin = clock::ticks();
        let Some((entry, _)) = table::lock(file, self.lock, self.kind, self.turn) else { return };
        table::took_part(entry, local.index);
        if self.turn != 0 {
            entry.acquisitions.store(self.turn, Ordering::Relaxed);
        }
        // An unlock of what was locked before this recording, or before the fork, has no account here.
        let pending = self.pending.filter(|pending| pending.file == thread::address_of(file));
        let waited = pending.and_then(|pending| wait_of(entry, &pending));
        // A thread that waited and has no count is recorded when it locks, not when it unlocks.
        let is_unlock = pending.is_none() || self.turn != 0;
        let charged = self.charged.or_else(|| {
            let acquired = pending.map(|pending| pending.acquired);
            is_unlock.then(|| charge(entry, local, self.lock, self.turn, acquired, now))
        });
        let blame = charged.and_then(|charged| charged.blame);
        let stack = samples::add(file, local, entry, waited, blame);
        let all = clock::ticks().wrapping_sub(begin);
        entry.event_ticks.fetch_add(all.saturating_sub(stack), Ordering::Relaxed);
    }
}

/// Counts a wait that is over; its ticks, and for how many it counts.
fn wait_of(entry: &Lock, pending: &Pending) -> Option<(u64, u32)> {
    if pending.is_in_account {
        table::leave(entry, pending.acquired, pending.weight);
    }
    let ticks = pending.acquired.saturating_sub(pending.arrived);
    let is_whole = pending.has_parked || Local::is_long(ticks);
    let weight = if is_whole { 1 } else { pending.weight };
    (weight != 0).then(|| {
        table::waited(entry, ticks, weight);
        (ticks, weight)
    })
}

/// Charges the owner that unlocked at `now`, and had the lock from `acquired` on if that is known; says with
/// what, and how long it held the lock.
/// It is the last of `run` unlocks of the thread.
fn blame_for(entry: &Lock, turn: u64, acquired: Option<u64>, now: u64, run: u64) -> (u64, u64) {
    let told = || {
        let is_told = turn != 0 && entry.turn.load(Ordering::Acquire) == turn;
        is_told.then(|| entry.turn_since.load(Ordering::Relaxed))
    };
    let known = acquired.or_else(told);
    let last = entry.since.swap(now, Ordering::Relaxed);
    let begin = known.unwrap_or(last).max(last.min(now));
    let begin = acquired.unwrap_or(begin);
    let held = now.saturating_sub(begin) / if known.is_none() { run } else { 1 };
    table::held(entry, held);
    let total = table::charge(entry, now);
    if held < clock::ticks_in(SHORT) {
        return (total + entry.rest.swap(0, Ordering::Relaxed), held);
    }
    if known.is_none() {
        return (total, held);
    }
    let own = total.min(entry.waiting.load(Ordering::Relaxed).saturating_mul(held));
    entry.rest.fetch_add(total - own, Ordering::Relaxed);
    (own, held)
}
