//! The one-byte mutex: an uncontended lock and unlock are one atomic read-modify-write together.
//!
//! ```text
//! the mutex      0 free · 1 locked. Set by test-and-set, cleared by the owner's plain store.
//! the table      by the mutex's address: the unlock mode, the lock's record, its parked threads
//!                (see `parking`)
//!
//! lock           test-and-set ── was 0 ──► owner
//!                     │ was 1
//!                     ▼
//! lock_slow      the lock has no poller, or one that lost its CPU ──► poller: polls the lock
//!                there is a poller ──► stays for a moment, in case it leaves
//!                otherwise ──► linked: near for a while (reads its own node), then parked (asleep)
//!
//! unlock         is an owner of the bucket asked for its lock, and this one? ── yes ──► hands it over
//!                     │ no
//!                     ▼
//!                store 0; light fence; does the unlock mode concern this lock? ── no ──► done
//!                     │ yes: a full fence, unless the record needs none
//!                     ▼
//! look           a poller, or a woken thread in flight; or no parked thread ──► done
//!                else, under the bucket's lock: a near thread becomes the poller; or the newest
//!                parked thread is woken to compete; or the oldest, once it has waited for 1 ms, is
//!                woken to compete, and the next time handed the lock
//! ```
//!
//! | file | what |
//! |---|---|
//! | `lock.rs` | the way of a thread that wants the lock, from its first attempt to its sleep |
//! | `pause.rs` | the time between two attempts of a poller |
//! | `slice.rs` | for how long a parked thread sleeps at a time |
//! | `withdraw.rs` | how a thread ends its wait although no other thread has told it to |
//! | `for_condvar.rs` | what a condition variable does with the mutex of its waiters |
//! | `unlock.rs` | the way of a thread that unlocks, from its store to the wake of another |
//! | `api.rs` | what programs use: [`Mutex`] and its guards |
//! | `inlined.rs` | the rest of a lock or unlock whose beginning was compiled elsewhere: the C header's |
//! | `misuse.rs` | what a debug build tells |
//! | `watched.rs` | what the detection of deadlocks is told |
//!
//! # Which threads may be awake
//!
//! * **The poller** is the one thread that polls the lock's cache line. It runs: a thread that finds
//!   that the poller has not polled for a few microseconds takes its place.
//! * **In flight** is a thread that was woken and has not run yet, at most one. While there is one, or a
//!   poller, no unlock wakes another. It makes no running thread park: such a thread polls meanwhile.
//! * **Near** are a few running threads, no more than there are further CPUs, which read a line of their
//!   own, their node, for half the time that a wake takes. An unlock makes one the poller by a store.
//! * **Parked** are all others.
//!
//! # Invariants
//!
//! The source and the specification cite them by number.
//!
//! 1. *Exclusion.* The byte is 1 from an acquisition to the store that ends it, or the owner hands it
//!    on as it is.
//! 2. *No wake is lost.* While a thread is parked for a free lock, there is a poller, or a thread in
//!    flight, or a thread that is about to look: an unlock before its look, a thread that parks before
//!    its last look, a thread that gives up before its own.
//! 3. *A mark is an obligation.* An unlock that sees a poller or a thread in flight does nothing. That
//!    thread then owns the lock in the end, so that its own unlock looks; or it is counted as parked
//!    before it takes its mark away, and looks at the lock after that; or it looks as an unlock does. A
//!    thread that takes the place of a poller, or of a thread in flight, takes its obligation. A poller that
//!    owns the lock leaves its mark, and says that its turn is over; `parking/record/marks.rs` tells why no mark
//!    is brought back by that.
//! 4. *Counted while linked.* The record's count of parked threads is that of the linked nodes, and is
//!    raised before a mark is taken away.
//! 5. *A node lives while it is linked,* and until its thread has been told otherwise, last of all.
//! 6. *Nothing is touched after the unlock.* After the store that clears the byte an unlock uses its
//!    address to compare. What it dereferences is the mutex of a linked node, under the bucket's lock.
//! 7. *A record that a thread relies on stays its lock's:* one with a mark or a linked thread. The mark of a poller may
//!    be overlooked if another lost its CPU while it left; then no unlock relies on it any more, and if
//!    the poller finds its mark gone it looks when it gives up. A record that is only
//!    pinned goes if all others of the bucket are in use and a thread finds another lock taken: a pin saves
//!    heavy fences, and nothing depends on it.
//!
//! Why (2) holds although an unlock has no fence is told in `parking/publish.rs`.
//!
//! # Bounded unfairness
//!
//! Barging is allowed, and the newest parked thread is woken first, for its caches. Once the oldest has
//! waited for a millisecond, an unlock wakes it to compete, one thread in the time of 20 wakes, which counts
//! as a millisecond if it is longer: while it wakes, others use the lock. If it does not get the lock, it goes
//! back to its place by age, and the next time it is handed the lock: an unlock acquires the lock on its
//! behalf, or, if another thread locked first, requests that the next owner hands it over instead of clearing
//! the byte. Only then does the lock rest while a thread wakes.
//!
//! A thread of a real-time scheduling class comes before all others: it is woken beside a poller or a
//! thread in flight, by each unlock, and no lock is handed to another while it is parked. Once it has
//! waited for a millisecond, and competed in vain, it is handed the lock.
//!
//! The poller looks after overdue threads, at each of its polls. Where there is none, each unlock does;
//! beside a thread in flight a sample of them.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` store that cleared the byte, or, when the
//! lock is handed over, with the `Release` store of the node's status.
//!
//! # Sources
//!
//! One awake waiter: Rhys Hiltner's and Michael Pratt's work on Go's runtime mutex ("runtime: lock2
//! scaling", golang/go issue 68578), and before it the designated waker of Abseil and nsync. The
//! queue outside of the lock: WebKit's `WTF::ParkingLot` by Filip Pizlo and Amanieu d'Antras'
//! parking_lot. A poller that is replaced when it lost its CPU: Bijun He, William Scherer and Michael
//! Scott, "Preemption Adaptivity in Time-Published Queue-Based Spin Locks". Threads that wait near, on
//! lines of their own: the Linux kernel's optimistic spin queue. The fences: Dave Dice, Hui Huang and
//! Mingyao Yang, "Asymmetric Dekker Synchronization". Few active threads and rare promotion: Dave Dice,
//! "Malthusian Locks".

mod api;
mod for_condvar;
mod inlined;
mod lock;
mod misuse;
mod pause;
pub(crate) mod recorded;
mod slice;
mod unlock;
#[cfg(feature = "deadlock_detection")]
pub(crate) mod watched;
mod withdraw;

use core::fmt;

use crate::platform::{AtomicInt, Host, Ordering};

#[cfg(feature = "arc_lock")]
pub use api::ArcMutexGuard;
pub(crate) use api::deadline;
pub use api::{MappedMutexGuard, Mutex, MutexGuard};
pub(crate) use lock::stay_near;
pub(crate) use slice::Slice;
pub(crate) use unlock::{choose, handoff_due, is_due_again, most_urgent};

/// A mutex without data, one byte; see the [module](self) for its protocol.
///
/// Programs use it as [`Mutex`]. Its own methods are for locks built of it and for
/// platforms other than [`Native`](crate::platform::Native).
#[repr(transparent)]
pub struct RawMutex<P: Host> {
    locked: P::AtomicU8,
}

impl<P: Host> RawMutex<P> {
    /// An unlocked mutex.
    pub fn new() -> Self {
        Self { locked: AtomicInt::new(0) }
    }

    /// The name of this mutex in the parking table.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.byte().addr()
    }

    /// The byte, for threads that find this mutex through a linked node.
    #[inline(always)]
    pub(crate) fn byte(&self) -> *const P::AtomicU8 {
        &raw const self.locked
    }

    /// Whether a thread owns the lock, for assertions and tests.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.locked.load(Ordering::Relaxed) != 0
    }
}

impl<P: Host> fmt::Debug for RawMutex<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMutex").field("locked", &self.is_locked()).finish()
    }
}

impl<P: Host> Default for RawMutex<P> {
    fn default() -> Self {
        Self::new()
    }
}
