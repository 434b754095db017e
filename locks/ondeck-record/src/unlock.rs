//! A recorded unlock: the thread's own wait before it, and the blame for the waits of others.
//!
//! # Blame
//!
//! The total time of all waiting threads since the previous record (see the account of [`Lock`])
//! has two parts:
//!
//! ```text
//! record before                          acquired                  unlock, recorded
//!      │      free, or held by others       │          the hold           │
//!      └────────────────────────────────────┴─────────────────────────────┘
//!                    rest                           the owner's
//! ```
//!
//! An owner is charged with its hold times the number of threads that wait at its end. The
//! remainder is kept as the lock's `rest`. If a thread locks repeatedly, one unlock in a few is
//! recorded; it represents those before it, and takes their part out of the rest. So the rest is
//! the time in which no owner held the lock: a woken thread was not running yet, or a parked thread
//! was not woken.
//!
//! The hold began when its owner stopped waiting, or at the time that the owner noted because
//! threads were parked. Otherwise no thread waited at its beginning, and the first thread that
//! found the lock held supplies a time since which it has been held.
//!
//! The time of the unlock is read before it, because an unlock may wake a thread and lose its CPU
//! to it. For the same reason a hold that is not known to be short is charged before its unlock:
//! after it the next owner may record first, and no thread would be waiting.

use core::sync::atomic::Ordering;

use probe::probe;

use crate::layout::{File, Lock};
use crate::thread::{self, Local, Pass, Passed, Pending};
use crate::words::{RECORD, Words};
use crate::{clock, samples, state, table};

/// Nanoseconds of a short hold: charging it before the unlock would lengthen it by some percent.
const SHORT: u64 = 4_000;

/// The record that an unlock has to make after it.
#[derive(Debug)]
#[must_use]
pub struct Held {
    lock: usize,
    kind: u32,
    pending: Option<Pending>,
    /// The lock's count of acquisitions; 0 if it has none.
    turn: u64,
    hold: Option<Hold>,
    /// The amount charged before the unlock.
    account: Option<Account>,
}

/// A hold with a recorded unlock.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// When it began, if the owner knows that.
    acquired: Option<u64>,
    released: u64,
    /// Whether a thread asked for this record. Records of long holds are requested more often than
    /// records of short ones, so a requested record represents only itself.
    is_asked: bool,
}

/// The amounts that a record adds to the lock's samples.
#[derive(Clone, Copy, Debug)]
struct Account {
    /// The ticks of the owner's own wait, and the number of waits for which it counts.
    waited: Option<(u64, u32)>,
    /// The ticks that it is charged with, and for which it held the lock, if other threads wait.
    blame: Option<(u64, u64)>,
}

/// Called when the thread owns the lock, has found its word [`request`](Words::request) not to be
/// 0, and is about to unlock. Takes some 50 ns within the critical section, and more if that is not
/// known to be short. Returns `None` if this unlock is not recorded.
#[inline(never)]
pub fn before_unlock(lock: usize, kind: u32, words: Words<'_>) -> Option<Held> {
    // Relaxed: a request that arrives now is for this hold or the next.
    let request = words.request.load(Ordering::Relaxed);
    let is_asked = request & RECORD != 0;
    let pending = if is_asked {
        words.request.fetch_and(!RECORD, Ordering::Relaxed);
        thread::take(lock)
    } else {
        match thread::pass(lock, words.lease) {
            Pass::Unrecorded => return None,
            Pass::Forgotten if !is_wanted(lock) => {
                // If a thread parks just now, it asks again when it parks again, or the next thread
                // asks.
                words.request.store(0, Ordering::Relaxed);
                return None;
            }
            Pass::Forgotten | Pass::Recorded => None,
        }
    };
    let turn = words.acquisitions.load(Ordering::Relaxed);
    let stamp = thread::take_stamp(lock, turn);
    let acquired = pending.map(|pending| pending.acquired).or(stamp);
    let released = clock::ticks();
    let hold = Some(Hold { acquired, released, is_asked });
    let mut record = Held { lock, kind, pending, turn, hold, account: None };
    let is_short = |from: u64| released.saturating_sub(from) < clock::ticks_in(SHORT);
    if !acquired.is_some_and(is_short)
        && let Some(file) = state::file()
        && let Some(entry) = table::find(file, lock)
    {
        record.account = thread::of(file, |local| record.settle(file, entry, local));
    }
    Some(record)
}

/// Returns whether recorded threads wait for the lock, given that none waited after the caller's
/// last unlock.
#[cold]
fn is_wanted(lock: usize) -> bool {
    let entry = state::file().and_then(|file| table::find(file, lock));
    entry.is_some_and(|entry| entry.waiting.load(Ordering::Relaxed) != 0)
}

/// Called when the thread owns a lock without words and is about to unlock; threads may be parked.
/// Returns `None` if this unlock is not recorded.
///
/// A lock without words has no count that would later identify the owner to blame for a wait. So
/// the owner is charged now: after the unlock the next owner may record first. This costs a read of
/// the lock's entry, and some nanoseconds more if a thread has asked for a record.
pub fn before_plain_unlock(lock: usize, kind: u32) -> Option<Held> {
    let file = state::file()?;
    let entry = table::find(file, lock)?;
    let request = entry.request.load(Ordering::Relaxed);
    if request == 0 {
        return None;
    }
    let is_asked = request & RECORD != 0;
    if is_asked {
        entry.request.fetch_and(!RECORD, Ordering::Relaxed);
    } else {
        match thread::pass(lock, None) {
            Pass::Unrecorded => return None,
            Pass::Forgotten if entry.waiting.load(Ordering::Relaxed) == 0 => {
                entry.request.store(0, Ordering::Relaxed);
                return None;
            }
            Pass::Forgotten | Pass::Recorded => {}
        }
    }
    let acquired = thread::take_stamp(lock, 0);
    let hold = Some(Hold { acquired, released: clock::ticks(), is_asked });
    let mut record = Held { lock, kind, pending: None, turn: 0, hold, account: None };
    record.account = Some(thread::of(file, |local| record.settle(file, entry, local))?);
    Some(record)
}

/// Corrects the account for a wait whose unlock was not recorded.
pub fn settle(file: &'static File, stale: &Pending) {
    if let Some(entry) = table::find(file, stale.lock)
        && stale.is_in_account
        && stale.file == thread::address_of(file)
    {
        table::leave(entry, stale.acquired, stale.weight);
    }
}

impl Held {
    /// Creates the record of a wait before its unlock.
    pub(crate) fn of_wait(lock: usize, kind: u32, pending: Pending) -> Self {
        Self { lock, kind, pending: Some(pending), turn: 0, hold: None, account: None }
    }

    /// Called after the unlock. Does not access the lock's memory.
    #[inline(never)]
    pub fn after(self) {
        probe!(ondeck, release, self.lock);
        if let Some(file) = state::file() {
            self.record(file);
        }
    }

    #[inline(never)]
    pub(crate) fn record(self, file: &'static File) {
        let here = 0_u8;
        let base = (&raw const here).addr();
        thread::of(file, |local| self.record_by(file, local, base));
    }

    fn record_by(self, file: &'static File, local: &mut Local, base: usize) {
        let begin = clock::ticks();
        let Some((entry, _)) = table::lock(file, self.lock, self.kind, self.turn) else { return };
        table::took_part(entry, local.index);
        if self.turn != 0 {
            entry.acquisitions.store(self.turn, Ordering::Relaxed);
        }
        let account = self.account.unwrap_or_else(|| self.settle(file, entry, local));
        let stack = samples::add(file, local, entry, account.waited, account.blame, base);
        let all = clock::ticks().wrapping_sub(begin);
        entry.event_ticks.fetch_add(all.saturating_sub(stack), Ordering::Relaxed);
    }

    /// Closes the accounts of the owner's wait and of its hold.
    fn settle(&self, file: &'static File, entry: &Lock, local: &mut Local) -> Account {
        // A lock that was locked before this recording, or before the fork, has no account here.
        let pending = self.pending.filter(|pending| pending.file == thread::address_of(file));
        let waited = pending.and_then(|pending| wait_of(entry, &pending));
        let blame = self.hold.and_then(|hold| {
            let waiting = entry.waiting.load(Ordering::Relaxed);
            let passed = if hold.is_asked {
                local.passed(self.lock, hold.released)
            } else {
                local.run(self.lock, hold.released, waiting != 0)
            };
            blame_for(entry, waiting, self.turn, &hold, passed)
        });
        Account { waited, blame }
    }
}

/// Counts a finished wait. Returns its ticks, and the number of waits for which it counts.
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

/// Charges an owner for the `waiting` threads. Returns the charge and the time for which it held
/// the lock, unless no thread waits.
fn blame_for(
    entry: &Lock,
    waiting: u64,
    turn: u64,
    owner: &Hold,
    passed: Passed,
) -> Option<(u64, u64)> {
    let now = owner.released;
    let last = entry.since.swap(now, Ordering::Relaxed).min(now);
    let told = || {
        let is_told = turn != 0 && entry.turn.load(Ordering::Acquire) == turn;
        is_told.then(|| entry.turn_since.load(Ordering::Relaxed))
    };
    let known = owner.acquired.or_else(told);
    let begin = match known {
        // Without a count, a time before the previous record may belong to an earlier hold.
        Some(known) if turn == 0 => known.max(last),
        Some(known) => known,
        None => last,
    };
    let held = now.saturating_sub(begin);
    let total = table::charge(entry, now);
    let own = total.min(waiting.saturating_mul(held));
    let stands_for = if known.is_none() || owner.is_asked {
        0
    } else {
        held.saturating_mul(passed.unlocks).min(passed.ticks.saturating_sub(held))
    };
    let others = table::out_of_rest(entry, total - own, waiting.saturating_mul(stands_for));
    if waiting == 0 {
        return None;
    }
    // If its beginning is unknown, it is one of the holds since the last record.
    let held = if known.is_none() { held / (passed.unlocks + 1) } else { held };
    table::held(entry, held);
    Some((own + others, held))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;

    use super::*;

    fn empty() -> Box<Lock> {
        // SAFETY: all fields are atomics, for which zeros are valid.
        unsafe { Box::new_zeroed().assume_init() }
    }

    /// A hold until 200, or the end of `since`.
    fn hold(acquired: Option<u64>, released: u64, is_asked: bool) -> Hold {
        Hold { acquired, released, is_asked }
    }

    fn passed(unlocks: u64, ticks: u64) -> Passed {
        Passed { unlocks, ticks }
    }

    #[test]
    fn an_owner_is_charged_with_its_hold_for_each_waiting_thread_and_the_rest_is_kept() {
        let lock = empty();
        table::arrive(&lock, 100, 1);
        table::arrive(&lock, 140, 1);
        // From 100 to 150 and from 140 to 150 another had it.
        let blame = blame_for(&lock, 2, 5, &hold(Some(150), 200, true), passed(0, 0));
        assert_eq!(blame, Some((100, 50)));
        assert_eq!(lock.rest.load(Ordering::Relaxed), 60);
        // It locks again at 230, and was the owner in between for as long, three times.
        let blame = blame_for(&lock, 2, 9, &hold(Some(230), 240, false), passed(3, 200));
        assert_eq!(blame, Some((20 + 60, 10)), "2 * 30 of the 2 * 30 ticks in between");
        assert_eq!(lock.rest.load(Ordering::Relaxed), 60);
        // More than was kept cannot be taken, nor more than the time that has passed.
        let blame = blame_for(&lock, 2, 12, &hold(Some(250), 260, false), passed(9, 20));
        assert_eq!(blame, Some((20 + 20, 10)));
        let held = [&lock.holds, &lock.hold_ticks, &lock.hold_longest, &lock.events];
        assert_eq!(held.map(|it| it.load(Ordering::Relaxed)), [3, 70, 50, 3]);
        let times = lock.hold_times.iter().map(|it| it.load(Ordering::Relaxed)).sum::<u64>();
        assert_eq!(times, 3);
    }

    #[test]
    fn a_hold_whose_beginning_is_unknown_is_one_of_those_since_the_last_record() {
        let lock = empty();
        table::arrive(&lock, 100, 1);
        let blame = blame_for(&lock, 1, 0, &hold(None, 400, false), passed(2, 500));
        assert_eq!(blame, Some((300, 100)), "of three holds");
        // The first thread that found it held has said since when.
        lock.turn.store(7, Ordering::Relaxed);
        lock.turn_since.store(420, Ordering::Relaxed);
        let blame = blame_for(&lock, 1, 7, &hold(None, 450, true), passed(0, 0));
        assert_eq!(blame, Some((30, 30)));
        assert_eq!(lock.rest.load(Ordering::Relaxed), 20);
        // Without a count, no time before the last record is this hold's.
        let blame = blame_for(&lock, 1, 0, &hold(Some(410), 460, true), passed(0, 0));
        assert_eq!(blame, Some((10, 10)));
    }

    #[test]
    fn an_owner_at_whose_end_no_thread_waits_is_charged_with_nothing() {
        let lock = empty();
        table::arrive(&lock, 100, 1);
        table::leave(&lock, 130, 1);
        assert_eq!(blame_for(&lock, 0, 3, &hold(Some(120), 200, true), passed(0, 0)), None);
        assert_eq!(lock.rest.load(Ordering::Relaxed), 30);
        assert_eq!(lock.holds.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_wait_counts_for_those_it_was_chosen_for_unless_it_was_long_or_parked() {
        clock::rate();
        let wait = |ticks, has_parked| {
            let lock = empty();
            table::arrive(&lock, 100, 8);
            let (arrived, acquired, weight) = (100, 100 + ticks, 8);
            let (file, is_in_account) = (0, true);
            let pending =
                Pending { file, lock: 1, arrived, acquired, weight, is_in_account, has_parked };
            let counted = wait_of(&lock, &pending);
            assert_eq!(lock.waiting.load(Ordering::Relaxed), 0);
            let sum = [&lock.waits, &lock.wait_ticks].map(|it| it.load(Ordering::Relaxed));
            (counted, sum)
        };
        assert_eq!(wait(200, false), (Some((200, 8)), [8, 1_600]));
        assert_eq!(wait(200, true), (Some((200, 1)), [1, 200]));
        let long = clock::ticks_in(1_000_000);
        assert_eq!(wait(long, false), (Some((long, 1)), [1, long]));
    }
}
