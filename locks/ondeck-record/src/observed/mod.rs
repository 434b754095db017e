//! Locks of the program itself, observed where its threads wait and wake: futexes, and the objects
//! of POSIX threads.
//!
//! Unlike a lock that calls [`begin`](crate::begin), an observed lock does not report its owner,
//! and a futex not even the lock to which it belongs. What is seen is that a thread waits at a
//! word, and that another thread wakes a thread there. The hooks are called around both.
//!
//! ```text
//! waiter   begin ── sleeps ──────────────────────── end: records the wait, and charges the chain's stacks
//!             │                                     ▲
//! the word    waiting + 1                        chain
//!                                                   │
//! waker    was woken ── has the lock ── before_wake ── wakes ── after_wake
//! ```
//!
//! # Blame
//!
//! The waker had the lock until the wake. It had it since it was woken itself, or since the last
//! wake at the same word; what lies before belongs to the chain of threads from which it got the
//! lock. A waiter charges the parts of the chain since its arrival, and what is in no part is time
//! in which the lock was free. Known errors: a thread that finds the lock free, and whose
//! acquisition is not seen, is charged from the last of these moments on; at a condition variable
//! the waker is a notifier and owns nothing. Where the chain begins later than the wait, and each
//! waiter sleeps at a word of its own, the chain of others that waited in the same place is used:
//! it may be of another lock.
//!
//! A lock may poll by sched_yield(2) before it sleeps, or instead: see `polls.rs`. A wait that only
//! spins is not seen.
//!
//! # Entries
//!
//! A futex has an entry for each place that waits there, because the reader decides by the
//! functions of the place what the word is: the lock itself, or a word of the waiting thread. An
//! object of POSIX threads has one entry.
//!
//! # Rules
//!
//! As for all of this crate: no allocation, no waiting, `errno` is kept, and a thread that is in a
//! hook already is not recorded. A hook never runs while the thread sleeps.

mod account;
mod chain;
mod polls;
mod recall;
pub mod remote;
mod words;

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::Ordering;

use chain::{Chain, Segment};
use polls::Polls;
use recall::Recall;

use crate::frames::Frames;
use crate::layout::{File, kind};
use crate::stack::Placed;
use crate::thread::{self, Local};
use crate::{clock, maps, stack, state, sys};

/// The cost of a stack before the first is measured, in nanoseconds.
const STACK: u64 = 4_000;
/// A stack is unwound if the last one is this number of times its cost ago.
const SHARE: u64 = 16;
/// It is unwound anyway for a wait or a hold of this number of times its cost.
const WORTH: u64 = 64;

/// Bytes of each thread that the observer needs: zeros at first.
pub const MEMORY: usize = 1_024;

/// The memory of a thread.
#[repr(C, align(8))]
pub struct Memory(UnsafeCell<Thread>);

const _: () = assert!(size_of::<Memory>() <= MEMORY);

struct Thread {
    /// The file to which all of this belongs.
    file: usize,
    /// When the thread was last woken, and the chain up to then.
    woken: u64,
    chain: Chain,
    /// The lock that the thread found free while others waited for it, and when.
    entered: (usize, u64),
    /// When it last woke another thread, and from where: see [`site`]; 0 if the stack is not known.
    waker_at: u64,
    waker_site: u64,
    /// The cost of the last stack, and its end.
    stack_cost: u64,
    stack_end: u64,
    /// The ticks of wakes that are in no entry yet.
    cost: u64,
    polls: Polls,
    /// The number of a new stack plus 1, whose addresses may be in no snapshot of the mappings.
    unseen: u32,
    /// The same of a new entry's word; 0 if there is none.
    unseen_word: usize,
    recall: Recall,
}

/// A thread that is about to wait.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Sleep {
    word: usize,
    /// 0 if it is not recorded.
    file: usize,
    arrived: u64,
    kind: u32,
    /// The number of its stack plus 1; 0 if it is not known.
    stack: u32,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By a wake, or because the object was free.
    Woken,
    /// At its deadline, or by a signal.
    GaveUp,
    /// The thread did not wait.
    Never,
}

/// A wake that is about to happen.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Wake {
    word: usize,
    /// The file of its segment; 0 if nothing is left to do after the wake.
    file: usize,
    at: u64,
}

impl Wake {
    /// A wake that is not recorded.
    pub const NONE: Self = Self { word: 0, file: 0, at: 0 };
}

pub use words::waiting;

impl Memory {
    /// Calls `action` with the thread's state, unless the thread is in the recorder already.
    fn enter<T>(
        &self,
        file: &'static File,
        action: impl FnOnce(&mut Thread, &Local) -> T,
    ) -> Option<T> {
        thread::of(file, |local| {
            // SAFETY: only its own thread uses the memory, and `thread::of` does not call twice at
            // a time.
            let own = unsafe { &mut *self.0.get() };
            if own.file != thread::address_of(file) {
                own.file = thread::address_of(file);
                (own.woken, own.chain, own.waker_site) = (0, Chain::EMPTY, 0);
                own.entered = (0, 0);
                (own.unseen, own.unseen_word) = (0, 0);
                own.polls.clear();
                own.recall.clear();
            }
            action(own, local)
        })
    }
}

/// Called when the thread is about to wait at `word`. `base` is the address of the innermost return
/// address of the program.
pub fn begin(memory: &Memory, word: usize, kind: u32, base: usize) -> Sleep {
    let mut sleep = Sleep { word, file: 0, arrived: 0, kind, stack: 0 };
    let Some(file) = state::file() else { return sleep };
    let arrived = clock::ticks();
    let stack = memory.enter(file, |own, _| {
        let stack = own.stack(file, base, arrived, 0);
        // A thread that is about to wait for a condition variable still has its mutex.
        if kind != kind::CONDVAR {
            own.see(file);
        }
        let polled = own.polls.before_sleep(base, arrived, &own.recall);
        own.record_polls(file);
        let arrived = polled.unwrap_or(arrived);
        (stack.unwrap_or(0), arrived)
    });
    if let Some((stack, arrived)) = stack {
        (sleep.file, sleep.arrived, sleep.stack) = (thread::address_of(file), arrived, stack);
        waiting(word).fetch_add(1, Ordering::Relaxed);
    }
    sleep
}

/// Called when the wait has ended.
pub fn end(memory: &Memory, sleep: &Sleep, how: End, base: usize) {
    if sleep.file == 0 {
        return;
    }
    waiting(sleep.word).fetch_sub(1, Ordering::Relaxed);
    if how == End::Never {
        return;
    }
    let Some(file) = state::file().filter(|file| thread::address_of(file) == sleep.file) else {
        return;
    };
    let now = clock::ticks();
    memory.enter(file, |own, local| {
        let late = |own: &mut Thread, waited| own.stack(file, base, now, waited);
        own.end(file, local.index, sleep, how, now, late);
    });
}

/// Called when the thread is about to call sched_yield(2).
pub fn before_yield(memory: &Memory, base: usize) {
    let Some(file) = state::file() else { return };
    memory.enter(file, |own, _| {
        let now = clock::ticks();
        if !own.polls.goes_on(base, now) {
            own.record_polls(file);
            let stack = own.stack(file, base, now, 0).unwrap_or(0);
            own.see(file);
            own.polls.begin(base, now, stack);
        }
    });
}

/// Called when the thread has called sched_yield(2).
pub fn after_yield(memory: &Memory) {
    let Some(file) = state::file() else { return };
    memory.enter(file, |own, _| own.polls.end(clock::ticks()));
}

/// Called when the thread has found the lock at `word` free, and threads wait for it.
pub fn acquired(memory: &Memory, word: usize) {
    let Some(file) = state::file() else { return };
    memory.enter(file, |own, _| own.entered = (word, clock::ticks()));
}

/// Called before the program installs a seccomp filter, which may end the process where the
/// recorder opens a file, and with `false` if that failed. Returns the value of the last call. The
/// mappings are copied a last time.
pub fn confine(is_confined: bool) -> bool {
    if let Some(file) = state::file().filter(|_| is_confined) {
        sys::with_errno_kept(|| maps::refresh(file));
    }
    sys::IS_CONFINED.swap(is_confined, Ordering::Relaxed)
}

/// Called when the thread is about to wake a thread at `word`, where threads wait. [`after_wake`]
/// has to follow.
pub fn before_wake(memory: &Memory, word: usize, base: usize) -> Wake {
    let Some(file) = state::file() else { return Wake::NONE };
    let now = clock::ticks();
    // SAFETY: the return address of a function that has not returned.
    let address = unsafe { ptr::with_exposed_provenance::<usize>(base).read_volatile() };
    let site = site(word, base, address);
    let is_done = memory.enter(file, |own, _| {
        let stack = |own: &mut Thread, ticks| own.stack(file, base, now, ticks);
        own.wake(file, (word, site), now, stack) != 0 && own.unseen == 0 && own.unseen_word == 0
    });
    match is_done {
        Some(false) => Wake { word, file: thread::address_of(file), at: now },
        _ => Wake::NONE,
    }
}

/// Called after the wake. Does not access the lock's memory.
pub fn after_wake(memory: &Memory, wake: &Wake, base: usize) {
    let Some(file) = state::file().filter(|file| thread::address_of(file) == wake.file) else {
        return;
    };
    memory.enter(file, |own, _| {
        if let Some(stack) = own.stack(file, base, clock::ticks(), 0) {
            words::name(wake.word, wake.file, wake.at, stack);
        }
        own.see(file);
    });
}

impl Thread {
    /// Returns the number of the thread's stack plus 1, if it is known or may be unwound now, at
    /// `now`, for a record of `ticks`.
    fn stack(&mut self, file: &'static File, base: usize, now: u64, ticks: u64) -> Option<u32> {
        if let Some(number) = self.recall.find(file, base) {
            return Some(number + 1);
        }
        if !self.may_unwind(now, ticks) {
            return None;
        }
        let mut placed = Placed::at(base);
        if !stack::take_placed(file, &mut placed) {
            return None;
        }
        let (number, is_new) = placed.frames.keep(file)?;
        self.recall.keep(number, &placed);
        self.unwound(file, now);
        if is_new {
            self.unseen = number + 1;
        }
        Some(number + 1)
    }

    fn cost_of_stack(&self) -> u64 {
        if self.stack_cost == 0 { clock::ticks_in(STACK) } else { self.stack_cost }
    }

    /// Returns whether a stack may be unwound at `now`, for a record of `ticks`.
    fn may_unwind(&self, now: u64, ticks: u64) -> bool {
        let cost = self.cost_of_stack();
        now.saturating_sub(self.stack_end) >= cost * SHARE || ticks >= cost * WORTH
    }

    /// Accounts for a stack that was unwound from `start` on.
    fn unwound(&mut self, file: &File, start: u64) {
        self.stack_end = clock::ticks();
        let took = self.stack_end.saturating_sub(start);
        // A thread that loses its CPU meanwhile is no measure.
        self.stack_cost = took.min(2 * self.cost_of_stack());
        file.header.stacks_taken.fetch_add(1, Ordering::Relaxed);
        file.header.stack_ticks.fetch_add(took, Ordering::Relaxed);
    }

    /// Copies the mappings if they lack an address of the last new stack or entry. Not for a thread
    /// that has just locked or is about to unlock: it takes some ten times as long as a stack.
    fn see(&mut self, file: &'static File) {
        let word = core::mem::take(&mut self.unseen_word);
        if word != 0 {
            sys::with_errno_kept(|| maps::see(file, word as u64));
        }
        let Some(number) = core::mem::take(&mut self.unseen).checked_sub(1) else { return };
        for address in Frames::of(file, number, usize::MAX).addresses() {
            sys::with_errno_kept(|| maps::see(file, *address));
        }
    }

    /// Enters a wake into the chain of its word, from the place of that [`site`]. Returns the
    /// number of its stack plus 1, or 0 if no stack was taken. The wake calls `stack` for that
    /// number, with the ticks that the record covers.
    fn wake(
        &mut self,
        file: &'static File,
        (word, site): (usize, u64),
        now: u64,
        stack: impl FnOnce(&mut Self, u64) -> Option<u32>,
    ) -> u32 {
        if site == self.waker_site && self.woken < self.waker_at && self.again(file, word, now) {
            return KNOWN;
        }
        let found = words::chain(word, thread::address_of(file));
        let before = found.map_or(0, |chain| chain.end());
        let mut from = self.woken.max(before);
        if self.entered.0 == word {
            from = from.max(self.entered.1);
            self.entered.0 = 0;
        }
        from = from.max(self.polls.acquired());
        self.record_polls(file);
        // A thread that wakes again and again without a stack must not unwind each time.
        let ticks = now.saturating_sub(from.max(self.waker_at));
        let stack = stack(self, ticks).unwrap_or(0);
        let mut chain = match found {
            Some(chain) if before > self.woken => chain,
            _ => self.chain,
        };
        chain.push(Segment { from, until: now, stack });
        words::store(word, thread::address_of(file), &chain);
        (self.waker_at, self.waker_site) = (now, if stack == 0 { 0 } else { site });
        self.cost += clock::ticks().saturating_sub(now);
        stack
    }

    /// Enters a wake like the thread's last one, if no other thread has had the lock in between: a
    /// thread that locks repeatedly while others sleep.
    fn again(&mut self, file: &'static File, word: usize, now: u64) -> bool {
        let is_entered = self.entered.0 == word;
        let from = if is_entered { self.entered.1 } else { 0 }.max(self.polls.acquired());
        let gap = from.saturating_sub(self.waker_at);
        if !words::extend(word, thread::address_of(file), self.waker_at, gap, now) {
            return false;
        }
        if is_entered {
            self.entered.0 = 0;
        }
        self.record_polls(file);
        self.waker_at = now;
        self.cost += clock::ticks().saturating_sub(now);
        true
    }
}

/// Returned for a wake whose stack is that of the last one.
const KNOWN: u32 = u32::MAX;

/// Returns a number, not 0, for a word and a place that wakes there: where its return address is,
/// and the address.
fn site(word: usize, base: usize, address: usize) -> u64 {
    let mixed = (word as u64).rotate_left(40) ^ (base as u64).rotate_left(20) ^ address as u64;
    mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}
