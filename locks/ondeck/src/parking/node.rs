//! One waiting thread: a node on its own stack, linked into a queue of its bucket.

use core::cell::Cell;
use core::ptr;

use super::Host;
use super::has_come;
use super::unlock_mode::Request;
use crate::machine::{AtomicInt, AtomicPointer, Ordering, UNKNOWN_CPU};

/// The status of a waiting thread. It is the futex word that a parked thread sleeps on.
///
/// At a mutex, a thread is linked once, in the order of arrival, until it owns the lock or gives
/// up:
///
/// ```text
///             no heir, or one that lost its CPU
///   (linked) ───────────────────────────────────► HEIR ◄────────────────┐
///      │                                           │ │ asleep: an unlock │ it runs, and finds the lock taken
///      │ there is an heir        another takes the │ └──────────────┐    │
///      ▼                         role              ▼                ▼    │
///   PARKED ◄─────────────────────────────────────(role)           WOKEN ─┘
///      │    an unlock with a debt, or the heir for the oldest       ▲
///      └────────────────────────────────────────────────────────────┘
///   HEIR ──► OFFERED: an owner offers it the lock ──► PARKED: it did not run for a turn, and another thread has its place
/// ```
///
/// At a condition variable: the thread itself changes `NEAR → PARKED`. A notification unlinks a
/// waiter, and changes `NEAR → COMPETE`; it moves a parked one to its mutex. Other locks use
/// `PARKED`, `TOGETHER`, `CHOSEN`, `DONE`, `IN_FLIGHT` and `COMPETE`.
///
/// All changes except `CHOSEN → …` and `NEAR → …` are made under the bucket's lock. `COMPETE`,
/// `IN_FLIGHT`, and the `DONE` of a key are stored after the node has been unlinked, as the last
/// access: once the thread can see the value it may leave, and its stack may be gone.
pub(crate) mod status {
    /// Linked, asleep or about to be.
    pub(crate) const PARKED: u32 = 0;
    /// Linked at a condition variable and running: reads its own status for a while before it
    /// parks.
    pub(crate) const NEAR: u32 = 1;
    /// Linked at a mutex: watches it, and sleeps only in naps or with a request placed.
    pub(crate) const HEIR: u32 = 2;
    /// Linked at a mutex: woken to compete for the lock. It has no role before it runs.
    pub(crate) const WOKEN: u32 = 3;
    /// Woken to compete for a reader-writer lock, and marked as in flight. Unlinked, unless its
    /// turn is reserved.
    pub(crate) const IN_FLIGHT: u32 = 4;
    /// Unlinked: must compete for the lock, without a mark.
    pub(crate) const COMPETE: u32 = 5;
    /// Unlinked: its key was unparked, or it was notified and wants no mutex of this crate.
    pub(crate) const DONE: u32 = 6;
    /// Unlinked: chosen by an unpark of its key or by a reader-writer lock, and about to be
    /// notified of that.
    pub(crate) const CHOSEN: u32 = 7;
    /// Linked at a key, asleep or about to be: on the word of its bucket, with all others of its
    /// queue.
    pub(crate) const TOGETHER: u32 = 8;
    /// Linked at a mutex, as its heir: the lock is kept for the thread, which becomes the owner
    /// when it runs. If it does not for a turn, another thread takes its place.
    pub(crate) const OFFERED: u32 = 9;
}

/// The kind of object that a thread waits for. Objects of different kinds never match, even at the
/// same address: an address may be a lock's now, and a condition variable's or a user's key a
/// moment later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// A [`RawMutex`](crate::mutex::RawMutex).
    Lock,
    /// A [`RawCondvar`](crate::condvar::RawCondvar).
    Condvar,
    /// A key of [`park`](super::park).
    Key,
    /// A [`Line`](super::Line). It is separate from keys: an `unpark` at the address of a lock
    /// would notify its threads, and not wake those that sleep together.
    Line,
    /// A [`RawRwLock`](crate::rwlock::RawRwLock): a thread that wants it.
    RwLock,
    /// A [`RawRwLock`](crate::rwlock::RawRwLock): the writer that waits for readers to leave.
    Readers,
    /// A [`RawRwLock`](crate::rwlock::RawRwLock): a thread that was woken to compete, and whose
    /// turn is reserved.
    Turn,
}

/// A waiting thread.
///
/// All atomic fields but the status are `Relaxed`. The lock of the bucket orders the accesses to a
/// linked node; the thread itself writes before it links the node, and reads after it has read its
/// last status. An heir writes `rests_until` without that lock: an older value makes another thread
/// the heir too early or too late, and no thread the owner.
///
/// Every byte belongs to a cell: functions that notify a thread hold a reference to its node, which
/// may be gone before they return. Rust's rules allow that only for memory that is shared and
/// mutable, and so not for padding.
#[derive(Debug)]
pub(crate) struct Node<P: Host> {
    pub(super) status: P::AtomicU32,
    /// A [`Kind`]. It and the address change when the thread is moved to another queue, under the
    /// locks of both buckets.
    kind: P::AtomicU32,
    address: P::AtomicUsize,
    /// The byte of the mutex that a waiter of a lock or a condition variable wants. It is null for
    /// others, and for a waiter of a condition variable whose lock is not of this crate. An unlock
    /// dereferences this pointer and no other: a linked node proves that its mutex is live.
    mutex: Cell<*const P::AtomicU8>,
    /// When the node was first linked, in ticks; before that, when its thread began to wait. For a
    /// waiter of a condition variable: when it was notified.
    pub(crate) since: P::AtomicUsize,
    /// When the thread was woken, in ticks; before that, when its thread began to wait.
    pub(crate) woken: P::AtomicUsize,
    /// The CPU on which the thread last ran before it parked, with its NUMA node: it will most
    /// likely run there again. After a wake, the waker's.
    pub(crate) place: P::AtomicU32,
    /// The thread's real-time priority; 0 for an ordinary scheduling class.
    pub(crate) priority: P::AtomicU32,
    /// For an heir: until when it leaves the lock alone, in ticks, or until when the lock is kept
    /// for it. An heir that neither watches nor takes the lock within the time of a wake after that
    /// has lost its CPU.
    pub(crate) rests_until: P::AtomicUsize,
    /// On the newest node of a mutex's queue: its request to unlocks.
    pub(super) request: Cell<Option<Request>>,
    /// On the newest node of a queue: when its oldest may be overdue, in ticks. At a mutex: when
    /// the heir must wake the oldest. At a reader-writer lock: until when no further turn is
    /// reserved.
    due: Cell<usize>,
    /// On the newest node of a semaphore's queue: the number of free permits for which no thread
    /// was woken.
    pub(super) spare: Cell<usize>,
    /// On the newest node of a mutex's queue: the heir, or null.
    pub(super) heir: Cell<*const Node<P>>,
    /// On the newest node of a mutex's queue: the thread that was woken last, or null once it has
    /// run.
    pub(super) woken_last: Cell<*const Node<P>>,
    /// At a condition variable: the number of the series in which the node was linked, or 0 if it
    /// was taken off alone. See [`Guard::link_in_series`](super::Guard::link_in_series). At a
    /// reader-writer lock: what its thread wants. At a key: the token of its thread, then the token
    /// of the thread that unparks it.
    pub(super) series: P::AtomicUsize,
    /// Links of the queue; relaxed, because the bucket's lock orders them. The queue is circular:
    /// the newest's `newer` is the oldest, and the oldest's `older` is the newest. `older` is null
    /// until the node is first linked.
    pub(super) newer: P::AtomicPtr<Node<P>>,
    pub(super) older: P::AtomicPtr<Node<P>>,
    /// On the newest node of a queue: the newest node of the bucket's next queue.
    pub(super) next_queue: P::AtomicPtr<Node<P>>,
}

impl<P: Host> Node<P> {
    /// Whether cells cover each byte, on a machine whose atomics are as large as their values.
    pub(crate) const HAS_NO_PADDING: bool =
        size_of::<Self>() == 4 * size_of::<u32>() + 14 * size_of::<usize>();

    /// Creates the node of a thread that begins to wait at `now` for the object at `address`, and
    /// that wants `mutex`.
    pub(crate) fn new(kind: Kind, address: usize, mutex: *const P::AtomicU8, now: usize) -> Self {
        Self {
            status: AtomicInt::new(status::PARKED),
            kind: AtomicInt::new(kind as u32),
            address: AtomicInt::new(address),
            mutex: Cell::new(mutex),
            since: AtomicInt::new(now),
            woken: AtomicInt::new(now),
            place: AtomicInt::new(0),
            priority: AtomicInt::new(0),
            rests_until: AtomicInt::new(0),
            request: Cell::new(None),
            due: Cell::new(0),
            spare: Cell::new(usize::MAX),
            heir: Cell::new(ptr::null()),
            woken_last: Cell::new(ptr::null()),
            series: AtomicInt::new(0),
            newer: AtomicPointer::new(ptr::null_mut()),
            older: AtomicPointer::new(ptr::null_mut()),
            next_queue: AtomicPointer::new(ptr::null_mut()),
        }
    }

    /// Returns the byte of the mutex that the thread wants. It never changes.
    pub(crate) fn mutex(&self) -> *const P::AtomicU8 {
        self.mutex.get()
    }

    /// Returns the address of the object that the thread waits for.
    pub(crate) fn address(&self) -> usize {
        self.address.load(Ordering::Relaxed)
    }

    /// Returns whether the thread waits for this object. Call it under the lock of its bucket.
    pub(crate) fn waits_for(&self, kind: Kind, address: usize) -> bool {
        self.address() == address && self.kind.load(Ordering::Relaxed) == kind as u32
    }

    /// Returns whether the node has ever been linked. Only its own thread calls this, while the
    /// node is not linked.
    pub(crate) fn was_linked(&self) -> bool {
        // Not `newer`, which may be null again in a chosen node.
        !self.older.load(Ordering::Relaxed).is_null()
    }

    /// Makes the thread wait for another object since `now`. The node is unlinked, and both buckets
    /// are locked.
    pub(crate) fn readdress(&self, kind: Kind, address: usize, now: usize) {
        self.set_kind(kind);
        self.address.store(address, Ordering::Relaxed);
        self.since.store(now, Ordering::Relaxed);
    }

    /// Makes the thread wait for its object in another way. The node is unlinked, and the bucket is
    /// locked.
    pub(crate) fn set_kind(&self, kind: Kind) {
        self.kind.store(kind as u32, Ordering::Relaxed);
    }

    /// On the newest node of a queue: returns whether its oldest may be overdue.
    pub(crate) fn may_be_due(&self, now: usize) -> bool {
        has_come(now, self.due.get())
    }

    /// On the newest node of a queue: returns when its oldest may be overdue.
    pub(crate) fn due(&self) -> usize {
        self.due.get()
    }

    /// On the newest node of a mutex's queue: returns the heir. Valid while the lock of its bucket
    /// is held.
    pub(crate) fn heir(&self) -> Option<&Self> {
        // SAFETY: an heir is linked, and linked nodes are live while the bucket's lock is held.
        unsafe { self.heir.get().as_ref() }
    }

    /// On the newest node of a mutex's queue: makes a linked node the heir, or clears the role.
    pub(crate) fn set_heir(&self, heir: Option<&Self>) {
        self.heir.set(heir.map_or(ptr::null(), ptr::from_ref));
    }

    /// On the newest node of a mutex's queue: returns the thread that was woken last and has not
    /// run. Valid while the lock of its bucket is held.
    pub(crate) fn woken_last(&self) -> Option<&Self> {
        // SAFETY: as for `heir`: a woken thread's node is linked until it has run.
        unsafe { self.woken_last.get().as_ref() }
    }

    /// On the newest node of a mutex's queue: records the linked node that was woken last, or none.
    pub(crate) fn set_woken_last(&self, woken: Option<&Self>) {
        self.woken_last.set(woken.map_or(ptr::null(), ptr::from_ref));
    }

    /// On the newest node of a mutex's queue: returns its request to unlocks.
    pub(crate) fn request(&self) -> Option<Request> {
        self.request.get()
    }

    /// On the newest node of a queue: sets when to look for an overdue thread again.
    pub(crate) fn set_due(&self, due: usize) {
        self.due.set(due);
    }

    /// Gives the newest node of a queue what the newest until now has kept for the whole queue.
    pub(super) fn give_queue_to(&self, newest: &Self) {
        newest.due.set(self.due.get());
        newest.spare.set(self.spare.get());
        newest.heir.set(self.heir.get());
        newest.woken_last.set(self.woken_last.get());
        newest.request.set(self.request.get());
    }

    /// At a condition variable: returns the number of its series.
    pub(crate) fn series(&self) -> usize {
        self.series.load(Ordering::Relaxed)
    }

    /// At a reader-writer lock: returns what its thread wants.
    pub(crate) fn wants(&self) -> usize {
        self.series.load(Ordering::Relaxed)
    }

    /// Sets what its thread wants of a reader-writer lock, before the node is linked.
    pub(crate) fn set_wants(&self, wants: usize) {
        self.series.store(wants, Ordering::Relaxed);
    }

    /// Records how long the caller's wake took, as the caller is about to run. A wake on the
    /// waker's own CPU is not recorded: the caller has taken the waker's place, so its time is the
    /// time of a context switch.
    pub(crate) fn note_wake(&self, now: usize) {
        if !self.is_here() {
            P::note_wake(now.wrapping_sub(self.woken.load(Ordering::Relaxed)));
        }
    }

    /// Returns whether the caller runs on the CPU where its thread ran last, or, once it was woken,
    /// where its waker ran. False on a machine that does not report where a thread runs.
    pub(crate) fn is_here(&self) -> bool {
        let here = place::<P>();
        is_known(here) && self.place.load(Ordering::Relaxed) == here
    }

    /// Records that the caller is about to wake the thread. Call it under the lock of the bucket.
    pub(crate) fn set_woken(&self, now: usize) {
        self.woken.store(now, Ordering::Relaxed);
        self.place.store(place::<P>(), Ordering::Relaxed);
    }

    /// Returns the current status.
    ///
    /// Acquire: a thread that was unparked, or handed a reader-writer lock, sees the stores that
    /// came before.
    #[inline]
    pub(crate) fn status(&self) -> u32 {
        self.status.load(Ordering::Acquire)
    }

    /// Sets the status of a node that no other thread may change: one that is not linked, or one
    /// whose bucket the caller has locked.
    pub(crate) fn set_status(&self, status: u32) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// Stores the thread's new status. The node is unlinked, or linked at a mutex and changed under
    /// the lock of its bucket. Afterwards the caller wakes the thread by the returned address.
    pub(crate) fn tell(&self, status: u32) -> *const P::AtomicU32 {
        let word = &raw const self.status;
        // Release: a new owner sees the stores of the old one's section. This is the last access:
        // after it the node may be gone.
        self.status.store(status, Ordering::Release);
        word
    }

    /// Changes the status from `NEAR` to `status`. Returns false if it was no longer `NEAR`. The
    /// thread itself and its notifier may do so at the same time.
    ///
    /// Release: a thread that sees the change sees all earlier changes of the node. So Acquire on
    /// failure.
    pub(crate) fn leave_near(&self, status: u32) -> bool {
        let (release, acquire) = (Ordering::Release, Ordering::Acquire);
        self.status.compare_exchange(status::NEAR, status, release, acquire).is_ok()
    }

    /// After the node was taken off its condition variable: returns the next one that was taken
    /// with it, or null.
    pub(crate) fn next_taken(&self) -> *const Self {
        self.newer.load(Ordering::Relaxed)
    }

    /// Returns whether no other node is linked in the queue of the caller's own: a hint, without the
    /// bucket's lock.
    pub(crate) fn is_alone(&self) -> bool {
        ptr::eq(self.newer.load(Ordering::Relaxed), self)
    }

    /// Returns the word that the thread sleeps on.
    pub(crate) fn word(&self) -> &P::AtomicU32 {
        &self.status
    }
}

/// Returns where the caller runs, as a hint: numbers that do not fit lose their highest bits.
///
/// ```text
///   31 ─ NUMA node ─ 26 | 25 ─ last-level cache ─ 16 | 15 ─ CPU ─ 0
/// ```
pub(crate) fn place<P: Host>() -> u32 {
    let cache = P::cache() as u32 & ((1 << (NODE_SHIFT - CACHE_SHIFT)) - 1);
    (P::node() as u32) << NODE_SHIFT | cache << CACHE_SHIFT | P::cpu() & CPU
}

const CPU: u32 = (1 << CACHE_SHIFT) - 1;
const CACHE_SHIFT: u32 = 16;
const NODE_SHIFT: u32 = 26;

/// Whether the machine says where the caller runs.
pub(crate) fn is_known(place: u32) -> bool {
    place & CPU != UNKNOWN_CPU & CPU
}

/// How near two places are to each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// They share a last-level cache.
    Cache,
    /// They share a NUMA node.
    Node,
    /// Neither.
    Far,
}

impl Distance {
    pub(crate) fn between(one: u32, other: u32) -> Self {
        match one ^ other {
            difference if difference < 1 << CACHE_SHIFT => Self::Cache,
            difference if difference < 1 << NODE_SHIFT => Self::Node,
            _ => Self::Far,
        }
    }
}
