//! One waiter: a node on its own stack, linked into its bucket while it waits.

use core::cell::Cell;
use core::ptr;

use crate::platform::{AtomicInt, AtomicPointer, Host, Ordering};

/// Where a linked waiter is. The futex word that it sleeps on while it is `PARKED`.
///
/// ```text
///              a release wakes it                     it acquires
///  PARKED ────────────────────────► ON_DECK ─────────────────────────► (gone)
///    │ ▲                             ▲ │
///    │ └─── it polled for too long ──┼─┘
///    │                               │
///    ├─────── it is handed the lock ─┼──► OWNER ──────────────────────► (gone)
///    ▲                               │
///  WATCHING ─── it is notified ──────┘
/// ```
///
/// Written under the bucket's lock, but for `WATCHING`, which its waiter and others leave by a
/// compare-exchange. Whoever takes a node out of the list stores the new status last: as soon as
/// the waiter can see it, it may leave, and its stack be gone.
pub(crate) mod status {
    /// Linked, asleep or about to be.
    pub(crate) const PARKED: u32 = 0;
    /// Not linked: awake, and marked so in the bucket.
    pub(crate) const ON_DECK: u32 = 1;
    /// Linked at a condition variable, awake, looking at its own status for a moment before it
    /// sleeps.
    pub(crate) const WATCHING: u32 = 3;
    /// Not linked: what it waited for is its own.
    pub(crate) const OWNER: u32 = 2;
}

/// A waiter.
///
/// Every field is a cell: functions that tell a waiter to go hold a reference to its node, which may
/// be gone before they return. Rust's rules allow that of memory that is shared and mutable only.
#[derive(Debug)]
pub(crate) struct Node<P: Host> {
    /// What it waits for. Changes when it is moved from a condition variable to its mutex; under
    /// the locks of both buckets.
    address: P::AtomicUsize,
    /// The byte of the mutex that a waiter of a condition variable needs next; null for others.
    mutex: Cell<*const P::AtomicU8>,
    /// When it began to wait, in ticks.
    pub(crate) since: P::AtomicUsize,
    /// Where it last ran before it slept: where it will most likely run again.
    pub(crate) cpu: P::AtomicU32,
    pub(super) status: P::AtomicU32,
    /// Links of the bucket's list; relaxed, because the bucket's lock orders them.
    pub(super) newer: P::AtomicPtr<Node<P>>,
    pub(super) older: P::AtomicPtr<Node<P>>,
}

impl<P: Host> Node<P> {
    pub(crate) fn new(address: usize, mutex: *const P::AtomicU8, since: usize) -> Self {
        Self {
            address: AtomicInt::new(address),
            mutex: Cell::new(mutex),
            since: AtomicInt::new(since),
            cpu: AtomicInt::new(0),
            status: AtomicInt::new(status::PARKED),
            newer: AtomicPointer::new(ptr::null_mut()),
            older: AtomicPointer::new(ptr::null_mut()),
        }
    }

    /// The byte of the mutex that a waiter of a condition variable needs next. Never changes.
    pub(crate) fn mutex(&self) -> *const P::AtomicU8 {
        self.mutex.get()
    }

    pub(crate) fn address(&self) -> usize {
        self.address.load(Ordering::Relaxed)
    }

    /// Makes it a waiter for something else, since `now`.
    pub(crate) fn readdress(&self, address: usize, now: usize) {
        self.address.store(address, Ordering::Relaxed);
        self.since.store(now, Ordering::Relaxed);
    }

    /// Acquire: an owner sees what the one who handed it the lock did before.
    pub(crate) fn status(&self) -> u32 {
        self.status.load(Ordering::Acquire)
    }

    /// Leaves `WATCHING`; false if another was faster.
    ///
    /// Acquire if it was not: as for [`status`](Self::status). Release: whoever sees the change
    /// sees what was done to the node before, though that may be the last of it.
    pub(crate) fn stop_watching(&self, status: u32) -> bool {
        self.status
            .compare_exchange(status::WATCHING, status, Ordering::Release, Ordering::Acquire)
            .is_ok()
    }

    /// The word that the waiter sleeps on.
    pub(crate) fn word(&self) -> &P::AtomicU32 {
        &self.status
    }
}
