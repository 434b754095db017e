//! What a thread keeps to itself: when it makes its next record, and its waits that are not recorded yet.
//!
//! # What is recorded
//!
//! A record writes cache lines that other threads write, some 100 ns; a stack takes some microseconds. So
//! that the cost is bounded however often a lock is contended:
//!
//! * Of a thread's contended acquisitions one in `period` is recorded, and counts for `period` of them.
//!   Which one is random. The period is 1 while they are rare, doubles if records come closer than
//!   [`CLOSE`], and is halved if they are far apart.
//! * A wait in which the thread parks is recorded always, for itself alone, from then on in the lock's
//!   account: parking costs much more than a record does. So is a wait of [`LONG`] that only polled, after
//!   it. So the tail is whole, and the longest wait is the longest one.
//! * A record has a stack with a probability of its time divided by `mean`, 1 at most, and then the stack
//!   counts for its time divided by that probability. The mean grows while stacks cost more than 1/64 of
//!   the thread's time.
//!
//! Both numbers depend on earlier events only. So each sum is right on average, whatever the numbers are.
//!
//! While threads are parked, an unlock is recorded if one of them asks for it: if it came or parked during the
//! hold. Of the others one in a few of each thread is: in 1 if they are [`CLOSE`] apart, in up to
//! [`LONGEST_RUN`] if the thread unlocks as often as it can; see also `lease.rs`. So threads with long holds are recorded with
//! each, others cost little. What this gets wrong: a thread with a long hold now and then among short ones,
//! during which no other thread came or parked; the blame for it goes to one of the thread's short holds.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};
use core::{mem, ptr};

use crate::layout::File;
use crate::slot::leased;
use crate::{clock, lease, slot};

/// Nanoseconds between two records of a thread below which its period is doubled.
const CLOSE: u64 = 8_000;
/// Nanoseconds of a wait that is recorded always, although its thread did not park.
const LONG: u64 = 64_000;
/// The least mean of waited nanoseconds between two stacks.
const MEAN: u64 = 2_000;
/// A stack's cost times this is the time in which a thread takes at most one, on average.
const SHARE: u64 = 64;
/// The most acquisitions that one record counts for.
const LONGEST_PERIOD: u32 = 4_096;

/// An acquisition that is recorded when the thread unlocks.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Which file the wait began in: see [`address_of`].
    pub file: usize,
    pub lock: usize,
    pub arrived: u64,
    pub acquired: u64,
    /// For how many threads it counts; 0 if it was not chosen.
    pub weight: u32,
    /// Whether the lock's account has it.
    pub is_in_account: bool,
    pub has_parked: bool,
}

/// Unlocks that one record stands for on average, at most: of a thread that does nothing else, records are then
/// some microseconds apart.
const LONGEST_RUN: u32 = 1_024;

/// A thread's unlocks of a lock since the last one that was its turn to be recorded, without the one that is now.
#[derive(Clone, Copy)]
pub struct Passed {
    pub unlocks: u64,
    /// Since that one.
    pub ticks: u64,
}

/// What an unlock is to do that was not asked for by name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    Recorded,
    Unrecorded,
    /// No thread waited at the last record: the word can be cleared.
    Forgotten,
}

/// The wait that a thread is in.
#[derive(Clone, Copy, Debug)]
pub struct Current {
    /// 0 if there is none.
    pub lock: usize,
    /// Which file it is recorded in: see [`address_of`].
    pub file: usize,
    pub kind: u32,
    /// When it began, in ticks.
    pub arrived: u64,
    /// For how many threads it counts in the lock's account; 0 if it is not there.
    pub weight: u32,
    pub has_parked: bool,
    /// The lock's words, null if it has none. The lock is there as long as a thread waits for it.
    pub request: *const AtomicU32,
    pub acquisitions: *const AtomicU64,
    /// What the lock's count of acquisitions was when the thread last read it, and when.
    pub turn: u64,
    pub turn_since: u64,
}

impl Current {
    pub const NONE: Self = Self {
        lock: 0,
        file: 0,
        kind: 0,
        arrived: 0,
        weight: 0,
        has_parked: false,
        request: ptr::null(),
        acquisitions: ptr::null(),
        turn: 0,
        turn_since: 0,
    };
}

/// Locks that a thread has at the same time, and had to wait for; more are recorded at once.
const PENDING: usize = 4;

/// What a file is known by. No mapping of one is ever unmapped, and the child of a fork has those of its
/// parent, so it is no other file's.
pub fn address_of(file: &File) -> usize {
    ptr::from_ref(file).addr()
}

pub struct Local {
    /// Which file all this belongs to.
    file: usize,
    pub index: u32,
    /// Acquisitions until the next record.
    skip: u32,
    period: u32,
    /// The period that `skip` was chosen for.
    weight: u32,
    last_event: u64,
    random: u64,
    mean: u64,
    last_stack: u64,
    last_created: u64,
    created_cost: u64,
    /// The wait that the thread is in.
    pub current: Current,
    /// The lock of the last recorded unlock, when that was, whether threads waited then.
    ran: usize,
    ran_at: u64,
    ran_alone: bool,
    /// Unlocks of that lock until the next record, and since the last one; of how many one is recorded.
    run_left: u32,
    run_passed: u32,
    run_length: u32,
    pending: [Pending; PENDING],
    count: usize,
    /// Acquisitions whose moment is known, the last one first.
    stamps: [Stamp; PENDING],
}

/// A thread has acquired a lock for which other threads wait.
#[derive(Clone, Copy)]
struct Stamp {
    lock: usize,
    /// As the lock's count of acquisitions has it; 0 if it has none.
    turn: u64,
    acquired: u64,
}

/// The memory of a thread. Zeros are that of a thread that was never here.
#[repr(C, align(8))]
pub struct Slot {
    /// Set while the thread is in the recorder: a handler of a signal, or the unwinder, that locks
    /// meanwhile is not recorded.
    busy: AtomicBool,
    local: UnsafeCell<Local>,
}

const _: () = assert!(size_of::<Slot>() + slot::REST <= slot::SIZE && align_of::<Slot>() == 8);

impl Slot {
    /// Calls `action`, unless the thread is in here already.
    #[inline]
    fn enter<T>(action: impl FnOnce(&mut Local) -> T) -> Option<T> {
        // SAFETY: the calling thread's own, which is there while the thread is, and zeros at first.
        let slot: &Self = unsafe { &*slot::address() };
        // Relaxed, in two steps: no other thread knows of it.
        if slot.busy.load(Ordering::Relaxed) {
            return None;
        }
        slot.busy.store(true, Ordering::Relaxed);
        // The compiler may not move the accesses in between to where a handler of a signal finds the flag
        // unset, nor leave the flag unset because this thread alone writes it.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: no other reference: `busy` was false.
        let result = action(unsafe { &mut *slot.local.get() });
        compiler_fence(Ordering::SeqCst);
        slot.busy.store(false, Ordering::Relaxed);
        Some(result)
    }
}

/// Calls `action` with what the calling thread keeps for this file; not if the thread is in the recorder
/// already.
#[inline]
pub fn of<T>(file: &File, action: impl FnOnce(&mut Local) -> T) -> Option<T> {
    Slot::enter(|local| {
        if local.file != address_of(file) {
            local.begin(file);
        }
        action(local)
    })
}

/// Takes what the calling thread has kept of its acquisition of this lock.
pub fn take(lock: usize) -> Option<Pending> {
    Slot::enter(|local| local.take(lock)).flatten()
}

/// The calling thread has acquired this lock, and threads may wait for it: when that was, unless its unlock is not going
/// to be recorded. `now` is the moment, if it is known already.
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

/// The calling thread is about to unlock, and other threads may wait.
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
        // This unlock, and those that pass from now on.
        let granted = lease.map_or(0, |lease| lease::take(lease, local.run_left - 1));
        local.run_left -= 1 + granted;
        local.run_passed += 1;
        Pass::Unrecorded
    })
    .unwrap_or(Pass::Unrecorded)
}

/// The calling thread's wait for this lock is over, and `outer` is the one around it again. `None` if it was
/// not in that wait.
pub fn leave(lock: usize, outer: Current) -> Option<Current> {
    Slot::enter(|local| {
        let is_it = local.current.lock == lock;
        is_it.then(|| mem::replace(&mut local.current, outer))
    })
    .flatten()
}

impl Local {
    /// The thread is new, or it is the child of a fork, or a new recording has begun.
    #[cold]
    fn begin(&mut self, file: &File) {
        self.file = address_of(file);
        self.index = file.header.threads.fetch_add(1, Ordering::Relaxed);
        (self.skip, self.period, self.weight) = (1, 1, 1);
        (self.last_event, self.last_stack, self.last_created) = (0, 0, 0);
        self.mean = clock::ticks_in(MEAN);
        self.current = Current::NONE;
        // What the thread had locked before is not recorded: the child of a fork may never unlock it.
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

    /// The thread found a lock taken at `now`: for how many such it is recorded, 0 for none.
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

    /// Whether a wait of `ticks` is recorded although it was not chosen.
    #[inline]
    pub fn is_long(ticks: u64) -> bool {
        ticks >= clock::ticks_in(LONG)
    }

    /// Keeps an acquisition until its unlock; gives it back if there is no room.
    pub fn keep(&mut self, pending: Pending) -> Result<(), Pending> {
        if self.count == PENDING {
            return Err(pending);
        }
        self.pending[self.count] = pending;
        self.count += 1;
        Ok(())
    }

    /// Takes what was kept of the thread's acquisition of this lock.
    pub fn take(&mut self, lock: usize) -> Option<Pending> {
        let index = self.pending[..self.count].iter().position(|pending| pending.lock == lock)?;
        self.count -= 1;
        self.pending.swap(index, self.count);
        Some(self.pending[self.count])
    }

    /// Takes what was last noted of an acquisition of this lock.
    fn forget(&mut self, lock: usize) -> Option<Stamp> {
        let stamp = self.stamps.iter_mut().find(|stamp| stamp.lock == lock)?;
        let taken = *stamp;
        stamp.lock = 0;
        Some(taken)
    }

    /// For a record that stands for `ticks` in all: what its stack stands for, if one is to be taken.
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

    /// A stack was taken from `start` to `end`.
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

    /// The thread's unlocks of this lock since the last one that was its turn.
    pub fn passed(&self, lock: usize, now: u64) -> Passed {
        if self.ran != lock {
            return Passed { unlocks: 0, ticks: 0 };
        }
        let unlocks = u64::from(self.run_passed) + u64::from(leased().load(Ordering::Relaxed));
        Passed { unlocks, ticks: now.saturating_sub(self.ran_at) }
    }

    /// It is the turn of an unlock at `now` to be recorded; others wait or not. Says which ones it stands for besides.
    pub fn run(&mut self, lock: usize, now: u64, others_wait: bool) -> Passed {
        let passed = self.passed(lock, now);
        let since = now.saturating_sub(self.ran_at);
        let close = clock::ticks_in(CLOSE);
        // Shorter by steps, because a run may be long by chance; at once where holds are long.
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

    /// Whether to take the stack of a lock's initialization: all while they are rare.
    pub fn may_note_creation(&self, now: u64) -> bool {
        now.wrapping_sub(self.last_created) >= self.created_cost.saturating_mul(SHARE)
    }

    /// It was taken from `start` to `end`.
    pub fn noted_creation(&mut self, start: u64, end: u64) {
        self.last_created = end;
        self.created_cost = end.wrapping_sub(start);
    }
}
