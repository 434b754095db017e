//! The reader-writer lock: one word of 32 bits, with its waiting threads in the parking table.
//!
//! ```text
//!  31                            8     7        6      5        4         3        2          1        0
//! ┌──────────────────────────────┬────────┬───────┬──────┬─────────┬────────┬──────────┬────────┬──────┐
//! │ the number of readers        │RESERVED│BIASED │ASLEEP│IN_FLIGHT│ PARKED │UPGRADABLE│DRAINING│WRITER│
//! └──────────────────────────────┴────────┴───────┴──────┴─────────┴────────┴──────────┴────────┴──────┘
//! ```
//!
//! | bit | set | cleared |
//! |---|---|---|
//! | `WRITER` | by a writer, if neither it nor `UPGRADABLE` nor `RESERVED` is set; by the upgradable reader that upgrades | by that writer's unlock, downgrade, or when it gives up |
//! | `DRAINING` | with `WRITER`, if there are readers: the writer waits for them to leave, and only recursive readers enter | by that writer, when there are none: it is the owner from then on |
//! | `UPGRADABLE` | by an upgradable reader, beside readers, if none of these three is set | by its unlock, downgrade or upgrade |
//! | `PARKED` | under the bucket's lock, with the first thread that is linked | under the bucket's lock, with the last one |
//! | `IN_FLIGHT` | under the bucket's lock, with a thread that is woken to compete | by that thread: when it has the lock, or is linked again, or gives up; by a thread that has been parked for 20 ms or longer, in case the thread in flight gets no CPU |
//! | `RESERVED` | with `IN_FLIGHT`, for a thread that is overdue or has its turn by a fair unlock: no other writer or upgradable reader comes before it | with `IN_FLIGHT`; a turn ends after 4 ms, for the next thread that wants the lock |
//! | `ASLEEP` | under the bucket's lock, by the writer that drains, before it sleeps | by that writer |
//! | `BIASED` | by a reader, if there is neither writer nor upgradable reader, and no thread is parked | with `DRAINING`, by the writer that becomes the owner |
//!
//! ```text
//! reader   no WRITER: count + 1 ──► holds the lock ──► count - 1 ── the last one, ASLEEP ──► wakes the
//!                                                                                           writer
//!          BIASED, no WRITER: its thread's slot := address ──► holds the lock ──► slot := 0: bias.rs
//! writer   free: WRITER ──► owner ──► clears WRITER ── PARKED, not IN_FLIGHT ──► settle.rs
//!          readers: WRITER + DRAINING ──► waits for them ──► clears DRAINING ──► owner
//! else     spins for the time of a wake at most, then parks: wait.rs
//! ```
//!
//! | file | what |
//! |---|---|
//! | `shared.rs` | readers: lock and unlock |
//! | `exclusive.rs` | writers: lock, unlock, downgrade; the upgradable reader |
//! | `bias.rs` | readers that the word does not count, and how a writer makes them visible to itself |
//! | `drain.rs` | how a writer waits for readers to leave |
//! | `wait.rs` | how a thread waits for its turn |
//! | `settle.rs` | which parked threads continue next, and the wake of a writer that waits for readers |
//! | `api.rs` | what programs use: [`RwLock`] and its guards |
//!
//! # Invariants
//!
//! 1. *Exclusion.* While `WRITER` is set without `DRAINING` its owner has the lock alone: no reader
//!    is counted, and `UPGRADABLE` is clear.
//! 2. *No wake is lost.* If a thread is parked and none is in flight, then `WRITER` is set, or
//!    `UPGRADABLE` is set and no reader is among the oldest parked threads; the thread that clears
//!    that bit is responsible for the parked ones. A thread that was in flight and does not become
//!    a writer is responsible for them itself.
//! 3. *Marked while linked.* Under the lock of the bucket `PARKED` is set if and only if a thread
//!    is parked. If `RESERVED` is set, `WRITER` and `UPGRADABLE` are clear, and the thread with
//!    that turn is linked as one, except in the child of a fork.
//! 4. *Nothing is touched after the unlock.* The read-modify-write of the unlock is the last access
//!    to the word. If threads are parked, it is made under the bucket's lock, and only linked nodes
//!    are changed after it. The last reader wakes the writer that drains by the lock's address
//!    only. At worst that wakes the writer of another lock at the same address, which checks its
//!    own readers again and sleeps on.
//!
//! # Fairness
//!
//! A writer that arrives while readers hold the lock keeps later readers out: it waits only for the
//! readers of that moment. Between writers, and between a writer that unlocks and waiting readers,
//! barging is allowed: an unlock wakes one parked thread, the oldest, to compete, and if it is a
//! reader, some of the readers that parked next. If that thread becomes a reader, it lets the
//! parked threads continue in the same way. Once the oldest has been parked for a millisecond, its
//! wake reserves the lock for it, at most once in a millisecond: until it runs, only readers
//! acquire the lock. So a parked thread waits only for the threads that parked before it, a
//! millisecond and one section for each.
//!
//! The lock is never handed to a thread that sleeps: that thread may be stopped, or get no CPU, and
//! the lock would be kept for it. A reserved turn ends. Its thread is linked for that time, so that
//! others find out when it was woken.
//!
//! A recursive read enters while a writer waits for readers, so that a thread that holds the lock
//! cannot deadlock with itself.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` of the unlock. All changes of the word
//! are read-modify-writes, so the release sequence of an unlock continues through later changes by
//! other threads: a writer that reads a count of 0 has synchronized with the unlocks of all
//! readers.
//!
//! A load before an exchange is `Relaxed`, because the exchange checks its value, and so is an
//! exchange that fails. A load that finds no `PARKED` is `Relaxed`: a thread that has parked since
//! then has read what the caller wrote before, and relies on the next unlock.
//!
//! # Sources
//!
//! A writer that sets its bit first and then waits for readers: Amanieu d'Antras' parking_lot, and
//! before it Björn Brandenburg and James Anderson, "Spin-Based Reader-Writer Synchronization for
//! Multiprocessor Real-Time Systems" (phase-fair locks: readers and writers take turns). One thread
//! in flight: this crate's [mutex](crate::mutex). Readers that write no shared memory: Dave Dice
//! and Alex Kogan, "BRAVO: Biased Locking for Reader-Writer Locks".

mod api;
mod bias;
mod drain;
mod exclusive;
mod recursive;
mod settle;
mod shared;
mod wait;

use core::fmt;
use core::marker::PhantomData;

use crate::observe::{self, Place};
use crate::platform::{AtomicInt, Host, Ordering};

#[cfg(feature = "arc_lock")]
pub use api::{ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard};
pub use api::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};
pub use recursive::ReadRecursive;
#[doc(hidden)]
pub use shared::last_reader_left;

const WRITER: u32 = 1;
const DRAINING: u32 = 1 << 1;
const UPGRADABLE: u32 = 1 << 2;
const PARKED: u32 = 1 << 3;
const IN_FLIGHT: u32 = 1 << 4;
const ASLEEP: u32 = 1 << 5;
const BIASED: u32 = 1 << 6;
const RESERVED: u32 = 1 << 7;
/// The marks of a thread in flight, which it clears when it acquires the lock. It has the second
/// one if its turn is reserved.
const MARKS: u32 = IN_FLIGHT | RESERVED;
/// One reader.
const ONE: u32 = 1 << 8;
/// The bits of the count.
const READERS: u32 = !(ONE - 1);
/// The maximum number of readers, which only forgotten guards can reach. It is half of the largest
/// count, so that there is room for upgradable readers that are downgraded. No thread begins to
/// wait while the count is that high, so the excess is at most the number of threads.
const MOST_READERS: u32 = 1 << 31;

/// A reader is counted at once if none of these bits is set.
const NOT_AT_ONCE: u32 = WRITER | BIASED | MOST_READERS;

/// What the header for C and C++ inlines: a writer's word, a reader, the bits with which no reader
/// is counted at once, the one with which readers may not be counted, and those in which the last
/// reader finds itself and a writer that sleeps.
#[doc(hidden)]
pub const INLINED: [u32; 5] = [WRITER, ONE, NOT_AT_ONCE, BIASED, READERS | ASLEEP];

/// A reader-writer lock without data, four bytes; see the [module](self) for its protocol.
///
/// Programs use it as [`RwLock`]. Its own methods serve locks that are built on it, and platforms
/// other than [`Native`](crate::platform::Native).
#[repr(C)]
pub struct RawRwLock<P: Host> {
    state: P::AtomicU32,
    place: Place,
}

/// A read lock that is held. It records how the lock was acquired, which the unlock needs.
///
/// If it is forgotten, the lock stays read-locked.
#[must_use = "a read lock stays held until it is unlocked with this"]
pub struct Shared<P: Host> {
    /// The slot of a visible reader; `None` if the word counts it.
    slot: Option<&'static P::AtomicUsize>,
    /// It must not be sent to another thread.
    thread: PhantomData<*mut ()>,
}

impl<P: Host> Shared<P> {
    /// Creates a read lock that the word counts.
    #[inline(always)]
    fn counted() -> Self {
        Self { slot: None, thread: PhantomData }
    }

    /// Creates a read lock by a slot.
    #[inline(always)]
    fn visible(slot: &'static P::AtomicUsize) -> Self {
        Self { slot: Some(slot), thread: PhantomData }
    }
}

// SAFETY: a shared reference to it gives access to nothing.
unsafe impl<P: Host> Sync for Shared<P> {}

impl<P: Host> fmt::Debug for Shared<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// How a thread wants the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
enum Want {
    Read,
    /// A read by a thread that may have a read lock already.
    Recursive,
    Upgradable,
    Write,
}

impl Want {
    /// Returns the word after this acquisition, if `state` allows it. `DRAINING` is set if the
    /// writer must wait for readers.
    #[inline(always)]
    fn acquire(self, state: u32) -> Option<u32> {
        match self {
            Self::Read => (state & (WRITER | MOST_READERS) == 0).then(|| state + ONE),
            Self::Recursive => (state & (WRITER | DRAINING) != WRITER && state & MOST_READERS == 0)
                .then(|| state + ONE),
            // Also not if a downgrade could not count it.
            Self::Upgradable => (state & (RESERVED | WRITER | UPGRADABLE | MOST_READERS) == 0)
                .then_some(state | UPGRADABLE),
            Self::Write => {
                (state & (RESERVED | WRITER | UPGRADABLE) == 0).then(|| with_writer(state))
            }
        }
    }
}

/// Returns the word with a writer, which drains if there are readers.
#[inline(always)]
fn with_writer(state: u32) -> u32 {
    state | WRITER | if state & (READERS | BIASED) == 0 { 0 } else { DRAINING }
}

impl<P: Host> RawRwLock<P> {
    /// Creates an unlocked lock.
    pub fn new() -> Self {
        Self { state: AtomicInt::new(0), place: Place::new() }
    }

    /// Returns the address that names this lock in the parking table.
    #[inline(always)]
    fn address(&self) -> usize {
        (&raw const self.state).addr()
    }

    /// Returns whether a thread holds the lock in any way, for assertions and tests.
    #[inline]
    pub fn is_locked(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state & (READERS | WRITER | UPGRADABLE) != 0 || state & BIASED != 0 && self.has_visible()
    }

    /// Returns whether readers may be visible instead of counted, for tests.
    pub fn is_biased(&self) -> bool {
        self.state.load(Ordering::Relaxed) & BIASED != 0
    }

    /// Makes the lock biased if it has rested, as a read that had to wait does. For tests.
    #[cfg(feature = "internals")]
    pub fn consider_bias(&self) {
        if self.try_lock_shared_counted() {
            self.make_biased();
            // SAFETY: this is the counted read lock.
            unsafe { self.unlock_shared_counted() };
        }
    }

    /// Returns whether a writer owns the lock, for assertions and tests.
    #[inline]
    pub fn is_locked_exclusive(&self) -> bool {
        self.state.load(Ordering::Relaxed) & (WRITER | DRAINING) == WRITER
    }
}

impl<P: Host> fmt::Debug for RawRwLock<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lock = f.debug_struct("RawRwLock");
        observe::show_name(self, &mut lock);
        lock.field("locked", &self.is_locked())
            .field("exclusive", &self.is_locked_exclusive())
            .field("biased", &self.is_biased())
            .finish()
    }
}

impl<P: Host> Default for RawRwLock<P> {
    fn default() -> Self {
        Self::new()
    }
}
