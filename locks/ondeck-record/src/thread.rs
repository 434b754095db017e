//! The thread-local state of the recorder: when the thread makes its next record, and its waits
//! that are not recorded yet.
//!
//! # What is recorded
//!
//! A record writes cache lines that other threads also write, some 100 ns; a stack takes some
//! microseconds. The following rules bound the cost, however often a lock is contended:
//!
//! * One in `period` of a thread's contended acquisitions, chosen at random, is recorded and counts
//!   for `period` of them. The period is 1 while they are rare. It doubles if records come closer
//!   than [`CLOSE`], and is halved if they are far apart.
//! * A wait in which the thread parks is always recorded, counts for itself alone, and is in the
//!   lock's account from then on: parking costs much more than a record. A wait of [`LONG`] that
//!   only polled is also recorded, after its end. So the tail is complete, and the longest recorded
//!   wait is the longest wait.
//! * A record has a stack with a probability of its time divided by `mean`, at most 1, and the
//!   stack then counts for its time divided by that probability. The mean grows while stacks cost
//!   more than 1/64 of the thread's time.
//!
//! Both numbers depend only on earlier events. So each sum is right on average for any value of
//! them.
//!
//! While threads are parked, an unlock is recorded if one of them asks for it, because it arrived
//! or parked during the hold. One in a few of each thread's other unlocks is recorded: each of them
//! if they are [`CLOSE`] apart, and one in up to [`LONGEST_RUN`] if the thread unlocks as often as
//! it can; see also `lease.rs`. So each long hold is recorded, and short ones cost little. The
//! known error: if a thread has an occasional long hold among short ones, during which no other
//! thread arrived or parked, one of the thread's short holds gets the blame.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};
use core::{mem, ptr};

use crate::layout::File;
use crate::slot::leased;
use crate::{clock, lease, slot};

/// Nanoseconds between two records of a thread below which its period is doubled.
const CLOSE: u64 = 8_000;
/// Nanoseconds of a wait that is always recorded, although its thread did not park.
const LONG: u64 = 64_000;
/// The least mean of waited nanoseconds between two stacks.
const MEAN: u64 = 2_000;
/// On average, a thread records at most one stack in this number times the cost of a stack.
const SHARE: u64 = 64;
/// The most acquisitions for which one record counts.
const LONGEST_PERIOD: u32 = 4_096;

/// An acquisition that is recorded when the thread unlocks.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// The file in which the wait began: see [`address_of`].
    pub file: usize,
    pub lock: usize,
    pub arrived: u64,
    pub acquired: u64,
    /// The number of threads for which it counts; 0 if it was not chosen.
    pub weight: u32,
    /// Whether it is in the lock's account.
    pub is_in_account: bool,
    pub has_parked: bool,
}

/// The largest average number of unlocks that one record represents: records of a thread that does
/// nothing else are then some microseconds apart.
const LONGEST_RUN: u32 = 1_024;

/// A thread's unlocks of a lock since the last recorded turn, without the current one.
#[derive(Clone, Copy)]
pub struct Passed {
    pub unlocks: u64,
    /// Ticks since that turn.
    pub ticks: u64,
}

/// The task of an unlock without a request for its record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    Recorded,
    Unrecorded,
    /// Clear the word, because no thread waited at the last record.
    Forgotten,
}

/// The wait that a thread is in.
#[derive(Clone, Copy, Debug)]
pub struct Current {
    /// 0 if there is none.
    pub lock: usize,
    /// The file in which it is recorded: see [`address_of`].
    pub file: usize,
    pub kind: u32,
    /// The lock's; empty if it has none.
    pub name: &'static CStr,
    /// When it began, in ticks.
    pub arrived: u64,
    /// The number of threads for which it counts in the lock's account; 0 if it is not there.
    pub weight: u32,
    pub has_parked: bool,
    /// The lock's words, null if it has none. The lock lives as long as a thread waits for it.
    pub request: *const AtomicU32,
    pub acquisitions: *const AtomicU64,
    /// The lock's count of acquisitions when the thread last read it, and the time of that reading.
    pub turn: u64,
    pub turn_since: u64,
}

impl Current {
    pub const NONE: Self = Self {
        lock: 0,
        file: 0,
        kind: 0,
        name: c"",
        arrived: 0,
        weight: 0,
        has_parked: false,
        request: ptr::null(),
        acquisitions: ptr::null(),
        turn: 0,
        turn_since: 0,
    };
}

/// The most locks that a thread holds at the same time after waiting for them; any more are
/// recorded immediately.
const PENDING: usize = 4;

/// Returns the address that identifies a file. It is unique, because no file is ever unmapped and
/// the child of a fork has the mappings of its parent.
pub fn address_of(file: &File) -> usize {
    ptr::from_ref(file).addr()
}

pub struct Local {
    /// The file to which all of this belongs.
    file: usize,
    pub index: u32,
    /// Acquisitions until the next record.
    skip: u32,
    period: u32,
    /// The period for which `skip` was chosen.
    weight: u32,
    last_event: u64,
    random: u64,
    mean: u64,
    last_stack: u64,
    /// Stacks of initializations, and of call sites outside of bursts.
    pub creations: Rare,
    pub sites: Rare,
    /// The wait that the thread is in.
    pub current: Current,
    /// The lock of the last recorded unlock, its time, and whether threads waited then.
    ran: usize,
    ran_at: u64,
    ran_alone: bool,
    /// Unlocks of that lock until the next record and since the last one, and the number of unlocks
    /// of which one is recorded.
    run_left: u32,
    run_passed: u32,
    run_length: u32,
    pending: [Pending; PENDING],
    count: usize,
    /// Acquisitions with known times, the last one first.
    stamps: [Stamp; PENDING],
}

/// An acquisition of a lock for which other threads wait.
#[derive(Clone, Copy)]
struct Stamp {
    lock: usize,
    /// The lock's count of acquisitions; 0 if it has none.
    turn: u64,
    acquired: u64,
}

/// The memory of a thread. All zeros before the thread first used the recorder.
#[repr(C, align(8))]
pub struct Slot {
    /// Set while the thread is in the recorder, so that locks taken by a signal handler or by the
    /// unwinder are not recorded.
    busy: AtomicBool,
    local: UnsafeCell<Local>,
}

const _: () = assert!(size_of::<Slot>() + slot::REST <= slot::SIZE && align_of::<Slot>() == 8);

impl Slot {
    /// Calls `action`, unless the thread is already in the recorder.
    #[inline]
    fn enter<T>(action: impl FnOnce(&mut Local) -> T) -> Option<T> {
        // SAFETY: the memory belongs to the calling thread, lives as long as the thread, and is
        // zeros at first.
        let slot: &Self = unsafe { &*slot::address() };
        // Relaxed, in two steps: no other thread accesses it.
        if slot.busy.load(Ordering::Relaxed) {
            return None;
        }
        slot.busy.store(true, Ordering::Relaxed);
        // The compiler must not move the accesses in between to a place where a signal handler
        // finds the flag unset, nor remove the store because only this thread writes the flag.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: there is no other reference, because `busy` was false.
        let result = action(unsafe { &mut *slot.local.get() });
        compiler_fence(Ordering::SeqCst);
        slot.busy.store(false, Ordering::Relaxed);
        Some(result)
    }
}

/// Calls `action` with the calling thread's state for this file, unless the thread is already in
/// the recorder.
#[inline]
pub fn of<T>(file: &File, action: impl FnOnce(&mut Local) -> T) -> Option<T> {
    Slot::enter(|local| {
        if local.file != address_of(file) {
            local.begin(file);
        }
        action(local)
    })
}

/// Takes the calling thread's kept acquisition of this lock.
pub fn take(lock: usize) -> Option<Pending> {
    Slot::enter(|local| local.take(lock)).flatten()
}

/// Notes the time at which the calling thread acquired this lock, for which threads may wait,
/// unless its unlock will not be recorded. `now` is that time, if it is already known.
pub fn stamp(lock: usize, turn: u64, now: Option<u64>) {
    Slot::enter(|local| {
        let passes = local.ran == lock && !local.ran_alone && local.run_left != 0;
        if now.is_some() || !passes {
            let acquired = now.unwrap_or_else(clock::ticks);
            local.stamps.rotate_right(1);
            local.stamps[0] = Stamp { lock, turn, acquired };
        }
    });
}

/// Takes the moment at which the calling thread acquired this lock, if it was noted.
pub fn take_stamp(lock: usize, turn: u64) -> Option<u64> {
    Slot::enter(|local| {
        let stamp = local.forget(lock)?;
        (stamp.turn == turn).then_some(stamp.acquired)
    })
    .flatten()
}

/// Called when the thread is about to unlock, and other threads may wait.
pub fn pass(lock: usize, lease: Option<&AtomicU32>) -> Pass {
    Slot::enter(|local| {
        if local.ran != lock {
            return Pass::Recorded;
        }
        if local.ran_alone {
            local.ran = 0;
            return Pass::Forgotten;
        }
        if local.run_left == 0 {
            return Pass::Recorded;
        }
        local.forget(lock);
        // This unlock, and those that bypass the recorder from now on.
        let granted = lease.map_or(0, |lease| lease::take(lease, local.run_left - 1));
        local.run_left -= 1 + granted;
        local.run_passed += 1;
        Pass::Unrecorded
    })
    .unwrap_or(Pass::Unrecorded)
}

/// Ends the calling thread's wait for this lock, and restores the outer wait `outer`. Returns
/// `None` if the thread was not in that wait.
pub fn leave(lock: usize, outer: Current) -> Option<Current> {
    Slot::enter(|local| {
        let is_it = local.current.lock == lock;
        is_it.then(|| mem::replace(&mut local.current, outer))
    })
    .flatten()
}

impl Local {
    /// Resets the state if the thread is new, or is in the child of a fork, or if a new recording
    /// has begun.
    #[cold]
    fn begin(&mut self, file: &File) {
        self.file = address_of(file);
        self.index = file.header.threads.fetch_add(1, Ordering::Relaxed);
        (self.skip, self.period, self.weight) = (1, 1, 1);
        (self.last_event, self.last_stack) = (0, 0);
        (self.creations.last, self.sites.last) = (0, 0);
        self.mean = clock::ticks_in(MEAN);
        self.current = Current::NONE;
        // Locks that the thread already holds are not recorded: the child of a fork may never
        // unlock them.
        self.count = 0;
        self.ran = 0;
        let own = core::ptr::from_ref(self).addr() as u64;
        self.random = (own ^ clock::ticks()).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }

    /// Marsaglia's xorshift with Vigna's multiplication (xorshift64*).
    fn random(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Records that the thread found a lock held at `now`. Returns the number of such events for
    /// which this one is recorded; 0 if it is not recorded.
    #[inline]
    pub fn next(&mut self, now: u64) -> u32 {
        self.skip -= 1;
        if self.skip == 0 { self.chosen(now) } else { 0 }
    }

    fn chosen(&mut self, now: u64) -> u32 {
        let weight = self.weight;
        let passed = now.wrapping_sub(self.last_event);
        self.last_event = now;
        let close = clock::ticks_in(CLOSE);
        if passed < close {
            self.period = (self.period * 2).min(LONGEST_PERIOD);
        } else if passed > close * 4 {
            self.period = (self.period / 2).max(1);
        }
        self.weight = self.period;
        // Uniform from 1 to twice the period less 1: its mean is the period.
        let choices = u64::from(2 * self.period - 1);
        self.skip = 1 + (((self.random() >> 32) * choices) >> 32) as u32;
        weight
    }

    /// Returns whether a wait of `ticks` is recorded although it was not chosen.
    #[inline]
    pub fn is_long(ticks: u64) -> bool {
        ticks >= clock::ticks_in(LONG)
    }

    /// Keeps an acquisition until its unlock; returns it if there is no room.
    pub fn keep(&mut self, pending: Pending) -> Result<(), Pending> {
        if self.count == PENDING {
            return Err(pending);
        }
        self.pending[self.count] = pending;
        self.count += 1;
        Ok(())
    }

    /// Takes the thread's kept acquisition of this lock.
    pub fn take(&mut self, lock: usize) -> Option<Pending> {
        let index = self.pending[..self.count].iter().position(|pending| pending.lock == lock)?;
        self.count -= 1;
        self.pending.swap(index, self.count);
        Some(self.pending[self.count])
    }

    /// Takes the last noted acquisition of this lock.
    fn forget(&mut self, lock: usize) -> Option<Stamp> {
        let stamp = self.stamps.iter_mut().find(|stamp| stamp.lock == lock)?;
        let taken = *stamp;
        stamp.lock = 0;
        Some(taken)
    }

    /// Returns the ticks for which a stack counts in a record that stands for `ticks` in total, if
    /// a stack should be recorded.
    pub fn stack_for(&mut self, ticks: u64) -> Option<u64> {
        if ticks == 0 {
            return None;
        }
        if ticks >= self.mean {
            return Some(ticks);
        }
        let mean = self.mean;
        let chosen = (u128::from(self.random()) * u128::from(mean)) >> 64;
        ((chosen as u64) < ticks).then_some(mean)
    }

    /// Accounts for a stack that was recorded from `start` to `end`.
    pub fn took_stack(&mut self, start: u64, end: u64) {
        let cost = end.wrapping_sub(start);
        let passed = start.wrapping_sub(self.last_stack);
        self.last_stack = end;
        if passed < cost.saturating_mul(SHARE) {
            self.mean = self.mean.saturating_mul(2).min(1 << 40);
        } else if passed > cost.saturating_mul(SHARE * 4) {
            self.mean = (self.mean / 2).max(clock::ticks_in(MEAN));
        }
    }

    /// Returns the thread's unlocks of this lock since its last turn.
    pub fn passed(&self, lock: usize, now: u64) -> Passed {
        if self.ran != lock {
            return Passed { unlocks: 0, ticks: 0 };
        }
        let unlocks = u64::from(self.run_passed) + u64::from(leased().load(Ordering::Relaxed));
        Passed { unlocks, ticks: now.saturating_sub(self.ran_at) }
    }

    /// Records that an unlock at `now` has its turn, and whether others wait. Returns the other
    /// unlocks that it represents.
    pub fn run(&mut self, lock: usize, now: u64, others_wait: bool) -> Passed {
        let passed = self.passed(lock, now);
        let since = now.saturating_sub(self.ran_at);
        let close = clock::ticks_in(CLOSE);
        // Shortens gradually, because a run may be long by chance; immediately if holds are long.
        self.run_length = if self.ran != lock || since > close * 4 {
            1
        } else if since > close {
            (self.run_length / 2).max(1)
        } else if since < close / 2 {
            (self.run_length * 2).clamp(1, LONGEST_RUN)
        } else {
            self.run_length.max(1)
        };
        (self.ran, self.ran_at, self.ran_alone) = (lock, now, !others_wait);
        self.run_passed = 0;
        leased().store(0, Ordering::Relaxed);
        let choices = u64::from(2 * self.run_length - 1);
        self.run_left = (((self.random() >> 32) * choices) >> 32) as u32;
        passed
    }
}

/// Stacks that are all taken while they are rare.
pub struct Rare {
    /// When the last one was taken, in ticks, and how long that took.
    last: u64,
    cost: u64,
}

impl Rare {
    /// Returns the stack that `take` takes, unless the last one was taken just now.
    pub fn take(&mut self, take: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let start = clock::ticks();
        if start.wrapping_sub(self.last) < self.cost.saturating_mul(SHARE) {
            return None;
        }
        let taken = take();
        self.last = clock::ticks();
        self.cost = self.last.wrapping_sub(start);
        taken
    }
}

#[cfg(test)]
mod tests;
