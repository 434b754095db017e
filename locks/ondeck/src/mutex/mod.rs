//! The one-byte mutex: an uncontended pair costs one atomic read-modify-write.
//!
//! ```text
//! the mutex      0 free · 1 locked. Set by test-and-set, cleared by the owner's plain store.
//! the table      by the mutex's address: the unlock mode, the queue of its waiting threads, and its
//!                history (see `parking`)
//!
//! lock           test-and-set ── was 0 ──► owner
//!                     │ was 1
//!                     ▼
//! lock_slow      tries again for 2 µs, ever more rarely ── free ──► owner
//!                     │
//!                     ▼ linked, oldest first, until it is the owner
//!      ┌─────► HEIR    there is no other: watches the lock ── its turn ──► OFFERED ──► owner
//!      │       PARKED  asleep until another thread wakes it
//!      └────── WOKEN   runs again: tries the lock, and takes the role from the heir
//!
//! unlock         store 0; is the unlock mode 0, as almost always? ── yes ──► done
//!                     │ no
//!                     ▼
//! look           does it name this mutex? ── no ──► done
//!                DEBT    this owner left parked threads without an heir ──► wakes the oldest
//!                WAKE    the heir sleeps ──► wakes it
//!                OFFER   the heir is overdue ──► offers it the lock, before the store
//! ```
//!
//! # The policy
//!
//! *Waiters do not disturb the owner.* The data that a mutex protects moves with the mutex: a
//! change of owner costs the line of the lock and each line that the section touches, 0.1 to 25 µs.
//! Two CPUs are often two threads of one core, and a thread that polls takes half of that core.
//!
//! 1. At most one waiting thread is the *heir*. It watches the lock, naps, or sleeps with a request
//!    placed. All others are parked.
//! 2. A thread that finds the lock taken tries again for some 2 µs, ever more rarely. Then it
//!    becomes the heir if there is none, and parks otherwise. Where such attempts fail, they become
//!    rare.
//! 3. A lock is *captured* if its owner locks it over and over, with hardly a gap
//!    (`parking/history.rs`). Its owner has it for a *turn* of a quarter millisecond. The heir naps
//!    meanwhile. At the end of the turn it asks for the lock, and the owner's next unlock offers
//!    it.
//! 4. The displaced owner of a captured lock is linked as the newest, and becomes the heir. Before
//!    it naps, it wakes the oldest, which has the next turn. That thread takes the role when it
//!    runs. After a turn the displaced owner looks whether it does: a kernel may have put it behind
//!    the owner, on a busy CPU.
//! 5. The heir of any other lock polls for as long as a wake takes, ever more rarely. Then it
//!    places a request in the unlock mode, and sleeps.
//! 6. An heir that was woken and found the lock taken again requests the lock itself. An unlock
//!    *offers* it: the byte stays 1, and the heir is the owner once it runs. If it does not run for
//!    a turn, another waiting thread takes its place.
//! 7. A new owner that leaves parked threads without an heir notes a debt in the unlock mode. Its
//!    own unlock wakes the oldest, unless another thread has become the heir.
//! 8. A woken thread has no role until it runs. It tries the lock. If it fails, it takes the role
//!    from the heir, unless the heir sleeps with a request.
//! 9. Once a turn, a thread that arrives does not become the heir, but leaves that to the oldest.
//!
//! A thread of a real-time scheduling class is linked before all of lower priority, and takes the
//! role from them.
//!
//! `docs/waiting.md` reports the gain from each rule, and lists the ideas that were left out
//! because they gained nothing.
//!
//! | file | what |
//! |---|---|
//! | `lock.rs` | the path of a thread that wants the lock: its attempt, its wait, its sleep |
//! | `waiting.rs` | what that thread knows about its wait |
//! | `heir.rs` | the heir: nap, poll, request |
//! | `roles.rs` | which thread is the heir, which was woken, which one looks after the parked ones |
//! | `unlock.rs` | the path of a thread that unlocks |
//! | `for_condvar.rs` | a waiter that a notification has moved to its mutex |
//! | `api.rs` | what programs use: [`Mutex`] and its guards |
//! | `inlined.rs` | the slow paths of a lock or unlock for the C header |
//!
//! # Invariants
//!
//! The source and the specification cite them by number.
//!
//! 1. *Exclusion.* The byte is 1 from an acquisition until the store that ends it, or until the
//!    owner offers the lock, which leaves the byte at 1. At most one linked thread is `OFFERED`:
//!    the heir. It becomes the owner under the lock of the bucket, and under that lock its offer
//!    passes to another thread if it does not run.
//! 2. *No wake is lost.* Under the lock of the bucket: while a thread is parked, another thread is
//!    responsible: the heir, a woken thread that has not run, or an owner with a debt. The role
//!    ends only under that lock: the thread unlinks itself, after it has acquired the lock or
//!    passed its deadline, and if parked threads remain it leaves a debt or wakes the oldest.
//! 3. *An heir that sleeps for long is seen.* Between its request and its last attempt it makes a
//!    heavy fence; an unlock reads the request after its store (`heir.rs`). An owner's debt needs
//!    no fence: its own unlock reads it.
//! 4. *Nothing is touched after the unlock.* After the store that clears the byte, an unlock only
//!    compares the byte's address, changes linked nodes under the bucket's lock, and follows the
//!    pointer of the linked heir to its mutex.
//! 5. *A node lives while it is linked.* A thread links its own node once and unlinks it once; only
//!    a notification links another thread's node. A function that changes a node does so under the
//!    bucket's lock, and afterwards uses only the node's address.
//! 6. *The unlock mode has an entry for each mutex with a request, and the newest node of its queue
//!    has the request.*
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire`. They pair with the `Release` store that cleared the byte. If the
//! lock is offered, the lock of the bucket orders the old owner's section before the new one's: the
//! offer is made and taken under it.
//!
//! The loads of the unlock mode are `Relaxed`: a pair of fences orders those that a parked thread
//! relies on. So are all fields of nodes but the status (`parking/node.rs`).
//!
//! # Sources
//!
//! At most one awake waiter: Rhys Hiltner's and Michael Pratt's work on Go's runtime mutex
//! ("runtime: lock2 scaling", golang/go issue 68578), and before it the designated waker of Abseil
//! and nsync. The queue outside of the lock: WebKit's `WTF::ParkingLot` by Filip Pizlo and Amanieu
//! d'Antras' parking_lot. A poller that is replaced after it lost its CPU: Bijun He, William
//! Scherer and Michael Scott, "Preemption Adaptivity in Time-Published Queue-Based Spin Locks". The
//! fence: Dave Dice, Hui Huang and Mingyao Yang, "Asymmetric Dekker Synchronization". Few active
//! threads and rare promotion: Dave Dice, "Malthusian Locks".

mod api;
mod for_condvar;
mod heir;
#[cfg(feature = "internals")]
mod inlined;
mod lock;
pub(crate) mod roles;
mod unlock;
mod waiting;

use core::fmt;

use crate::observe::{self, Kind, Observed, Place};
use crate::platform::{AtomicInt, Host, Ordering};

#[cfg(feature = "arc_lock")]
pub use api::ArcMutexGuard;
pub use api::{MappedMutexGuard, Mutex, MutexGuard};
pub(crate) use api::{deadline, through_lock_api};

/// A mutex without data, one byte; see the [module](self) for its protocol.
///
/// Programs use it as [`Mutex`]. Its own methods serve locks that are built on it, and platforms
/// other than [`Native`](crate::platform::Native).
#[repr(C)]
pub struct RawMutex<P: Host> {
    locked: P::AtomicU8,
    place: Place,
}

impl<P: Host> RawMutex<P> {
    /// Creates an unlocked mutex.
    pub fn new() -> Self {
        Self { locked: AtomicInt::new(0), place: Place::new() }
    }

    /// Returns the address that names this mutex in the parking table.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.byte().addr()
    }

    /// Returns the byte, for threads that find this mutex through a linked node.
    #[inline(always)]
    pub(crate) fn byte(&self) -> *const P::AtomicU8 {
        &raw const self.locked
    }

    /// Returns whether a thread owns the lock, for assertions and tests.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.locked.load(Ordering::Relaxed) != 0
    }
}

impl<P: Host> Observed for RawMutex<P> {
    type Platform = P;
    const KIND: Kind = Kind::Mutex;

    fn name(&self) -> usize {
        self.address()
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn is_held(&self) -> bool {
        self.is_locked()
    }

    #[inline]
    fn may_be_awaited(&self) -> bool {
        self.may_be_awaited()
    }
}

impl<P: Host> fmt::Debug for RawMutex<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lock = f.debug_struct("RawMutex");
        observe::show_name(self, &mut lock);
        lock.field("locked", &self.is_locked()).finish()
    }
}

impl<P: Host> Default for RawMutex<P> {
    fn default() -> Self {
        Self::new()
    }
}
