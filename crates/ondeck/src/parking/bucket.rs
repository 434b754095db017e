//! A bucket of the parking table: its list of waiters, and what others may know without its lock.
//!
//! ```text
//!  on_deck    address of the lock that has an awake waiter here, or 0
//!             0 → a  by compare-exchange: an arriving waiter for itself, or a release that wakes
//!             a → 0  by that waiter, when it owns the lock or goes to sleep
//!  parked     how many nodes of locks are linked (waiters of condition variables do not count)
//!  due        when the next handover may be due, in ticks; a lower bound
//!  releases   how many looked at this bucket since somebody parked
//!  parks      how often somebody parked
//!  taken      when a waiter last became the owner without sleeping, in ticks
//!  calls      how often an owner that goes away for long has told the waiter on deck
//!  demand     low half of the address of the lock that is to be handed over, or 0; see `attention`
//!  lock       guards the list
//!  newest ─► [node] ─► [node] ─► [node] ◄─ oldest       (any locks of this bucket)
//! ```
//!
//! With two contended locks in one bucket there is one mark for both. The mark names one of them,
//! so it is never taken for the other's; the other one does without an awake waiter: its arrivals
//! sleep at once and its releases hand over.

use core::ptr;

use super::lock;
use super::node::Node;
use crate::platform::{AtomicInt, AtomicPointer, Host, Ordering};

/// Waiters of the locks whose addresses fall together. A cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub struct Bucket<P: Host> {
    on_deck: P::AtomicUsize,
    taken: P::AtomicUsize,
    due: P::AtomicUsize,
    parked: P::AtomicU32,
    releases: P::AtomicU32,
    parks: P::AtomicU32,
    calls: P::AtomicU32,
    demand: P::AtomicU32,
    lock: P::AtomicU32,
    newest: P::AtomicPtr<Node<P>>,
    oldest: P::AtomicPtr<Node<P>>,
}

const _: () = assert!(size_of::<Bucket<crate::platform::Linux>>() == 64);

impl Bucket<crate::platform::Linux> {
    /// An empty bucket, for the static table of the real machine. All zeros, so that the table
    /// costs nothing in the program's file, and can be wiped.
    #[allow(clippy::declare_interior_mutable_const, reason = "a template to fill an array with")]
    pub(crate) const EMPTY: Self = {
        use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
        Self {
            on_deck: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            due: AtomicUsize::new(0),
            parked: AtomicU32::new(0),
            releases: AtomicU32::new(0),
            parks: AtomicU32::new(0),
            calls: AtomicU32::new(0),
            demand: AtomicU32::new(0),
            lock: AtomicU32::new(0),
            newest: AtomicPtr::new(ptr::null_mut()),
            oldest: AtomicPtr::new(ptr::null_mut()),
        }
    };
}

impl<P: Host> Bucket<P> {
    /// An empty bucket.
    #[must_use]
    pub fn new() -> Self {
        Self {
            on_deck: AtomicInt::new(0),
            taken: AtomicInt::new(0),
            due: AtomicInt::new(0),
            parked: AtomicInt::new(0),
            releases: AtomicInt::new(0),
            parks: AtomicInt::new(0),
            calls: AtomicInt::new(0),
            demand: AtomicInt::new(0),
            lock: AtomicInt::new(0),
            newest: AtomicPointer::new(ptr::null_mut()),
            oldest: AtomicPointer::new(ptr::null_mut()),
        }
    }

    /// Whether the lock at `address` has an awake waiter.
    ///
    /// Acquire, with the release in [`clear_on_deck`](Self::clear_on_deck): who sees that a waiter
    /// went off deck sees it counted as parked, if that is where it went.
    #[inline]
    pub(crate) fn is_on_deck(&self, address: usize) -> bool {
        self.on_deck.load(Ordering::Acquire) == address
    }

    /// Marks that the lock at `address` has an awake waiter, if no lock of this bucket has one.
    ///
    /// Acquire: sees when the last one took its lock.
    #[inline]
    pub(crate) fn set_on_deck(&self, address: usize) -> Result<usize, usize> {
        self.on_deck.compare_exchange(0, address, Ordering::Acquire, Ordering::Relaxed)
    }

    /// Takes the caller's own mark away.
    #[inline]
    pub(crate) fn clear_on_deck(&self) {
        self.on_deck.store(0, Ordering::Release);
    }

    /// How often the waiter on deck was called.
    #[inline]
    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Calls the waiter on deck, if the lock at `address` has one: the caller has released that lock
    /// and will not want it soon, so there is no reason to spare it polls.
    #[inline]
    pub(crate) fn call_on_deck(&self, address: usize) {
        if self.on_deck.load(Ordering::Relaxed) == address {
            // Not a read-modify-write: two calls at once are as good as one.
            self.calls.store(self.calls().wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// When a waiter last became the owner from on deck, in ticks. A hint: of any lock here.
    pub(crate) fn taken_at(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Notes that a waiter became the owner from on deck.
    pub(crate) fn set_taken_at(&self, now: usize) {
        self.taken.store(now, Ordering::Relaxed);
    }

    /// Whether anybody sleeps in this bucket for a lock.
    #[inline]
    pub(crate) fn has_parked(&self) -> bool {
        self.parked.load(Ordering::Relaxed) != 0
    }

    /// Whether nobody ever slept in this bucket.
    pub(crate) fn never_parked(&self) -> bool {
        self.parks.load(Ordering::Relaxed) == 0
    }

    /// Counts releases that looked here; says how many there were since somebody parked.
    pub(crate) fn count_releases(&self, count: u32) -> u32 {
        // Not a read-modify-write: a count lost now and then only delays what is counted for.
        let releases = self.releases.load(Ordering::Relaxed).wrapping_add(count);
        self.releases.store(releases, Ordering::Relaxed);
        releases
    }

    /// Whether a sleeper may have waited for so long that it should be handed its lock.
    #[inline]
    pub(crate) fn may_be_due(&self, now: usize) -> bool {
        has_come(now, self.due.load(Ordering::Relaxed))
    }

    /// Waits for the bucket's lock.
    pub(crate) fn lock(&self) -> Guard<'_, P> {
        lock::acquire::<P>(&self.lock);
        Guard { bucket: self }
    }

    /// Takes the bucket's lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, P>> {
        lock::try_acquire::<P>(&self.lock).then(|| Guard { bucket: self })
    }

    /// Whether the bucket is as it was made, but for what it has counted: for tests.
    #[doc(hidden)]
    pub fn is_at_rest(&self) -> bool {
        self.on_deck.load(Ordering::Relaxed) == 0
            && self.parked.load(Ordering::Relaxed) == 0
            && self.lock.load(Ordering::Relaxed) == 0
            && self.newest.load(Ordering::Relaxed).is_null()
            && self.oldest.load(Ordering::Relaxed).is_null()
    }
}

/// Whether the moment `then` has come, on a tick counter that wraps.
pub(crate) fn has_come(now: usize, then: usize) -> bool {
    now.wrapping_sub(then).cast_signed() >= 0
}

impl<P: Host> Default for Bucket<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// The bucket's lock, held.
pub(crate) struct Guard<'a, P: Host> {
    bucket: &'a Bucket<P>,
}

impl<P: Host> Drop for Guard<'_, P> {
    fn drop(&mut self) {
        lock::release::<P>(&self.bucket.lock);
    }
}

impl<'a, P: Host> Guard<'a, P> {
    /// The bucket that this holds.
    pub(crate) fn bucket(&self) -> &'a Bucket<P> {
        self.bucket
    }

    /// Links a node as the newest of its bucket.
    ///
    /// # Safety
    ///
    /// The node is not linked, its address is of this bucket, and it stays where it is until it has
    /// been taken out.
    pub(crate) unsafe fn link(&self, node: &Node<P>) {
        // SAFETY: as the caller promises; nobody is newer.
        unsafe { self.insert(node, ptr::null_mut()) };
    }

    /// Links a node among the others by how long they have waited, so that one which comes back does
    /// not have to become the oldest again.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link).
    pub(crate) unsafe fn link_by_age(&self, node: &Node<P>) {
        let since = node.since.load(Ordering::Relaxed);
        let mut newer = self.bucket.oldest.load(Ordering::Relaxed);
        // SAFETY: linked nodes are live, and the bucket's lock is held.
        while let Some(other) = unsafe { newer.as_ref() }
            && has_come(since, other.since.load(Ordering::Relaxed))
        {
            newer = other.newer.load(Ordering::Relaxed);
        }
        // SAFETY: as the caller promises; `newer` is linked, or nobody is.
        unsafe { self.insert(node, newer) };
    }

    /// Links a node before the one that is newer than it, or as the newest.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link), and `newer` is linked here or null.
    unsafe fn insert(&self, node: &Node<P>, newer: *mut Node<P>) {
        let own = ptr::from_ref(node).cast_mut();
        // SAFETY: linked nodes are live, and the bucket's lock is held.
        let after = unsafe { newer.as_ref() }.map_or(&self.bucket.newest, |newer| &newer.older);
        let older = after.load(Ordering::Relaxed);
        // SAFETY: as above.
        let before = unsafe { older.as_ref() }.map_or(&self.bucket.oldest, |older| &older.newer);
        node.older.store(older, Ordering::Relaxed);
        node.newer.store(newer, Ordering::Relaxed);
        after.store(own, Ordering::Relaxed);
        before.store(own, Ordering::Relaxed);
    }

    /// Takes a node out of the list.
    ///
    /// # Safety
    ///
    /// The node is linked in this bucket.
    pub(crate) unsafe fn unlink(&self, node: &Node<P>) {
        let (newer, older) =
            (node.newer.load(Ordering::Relaxed), node.older.load(Ordering::Relaxed));
        // SAFETY: linked nodes are live, and the bucket's lock is held.
        match unsafe { newer.as_ref() } {
            Some(newer) => newer.older.store(older, Ordering::Relaxed),
            None => self.bucket.newest.store(older, Ordering::Relaxed),
        }
        // SAFETY: as above.
        match unsafe { older.as_ref() } {
            Some(older) => older.newer.store(newer, Ordering::Relaxed),
            None => self.bucket.oldest.store(newer, Ordering::Relaxed),
        }
    }

    /// Counts a linked node as one that sleeps for a lock.
    pub(crate) fn count_parked(&self, node: &Node<P>, patience: usize) {
        let bucket = self.bucket;
        let parked = bucket.parked.load(Ordering::Relaxed);
        if parked == 0 {
            self.set_due(node.since.load(Ordering::Relaxed).wrapping_add(patience));
        }
        // Plain stores of what only the lock's holder writes. The count is read without the lock;
        // what orders it is a fence, see `RawMutex`.
        bucket.parked.store(parked + 1, Ordering::Relaxed);
        bucket.parks.store(bucket.parks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Takes back what [`count_parked`](Self::count_parked) did.
    pub(crate) fn uncount_parked(&self) {
        let parked = &self.bucket.parked;
        parked.store(parked.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// How many releases looked here since somebody parked; counts anew from 0.
    pub(crate) fn take_releases(&self) -> u32 {
        let releases = self.bucket.releases.load(Ordering::Relaxed);
        self.bucket.releases.store(0, Ordering::Relaxed);
        releases
    }

    /// Sets when to look for a handover again.
    pub(crate) fn set_due(&self, due: usize) {
        self.bucket.due.store(due, Ordering::Relaxed);
    }

    /// Notes that the lock at `address` is to be handed over; 0 for none.
    pub(crate) fn set_demand(&self, address: usize) {
        self.bucket.demand.store(address as u32, Ordering::Relaxed);
    }

    /// The oldest waiter for what is to be handed over, if anybody waits for that.
    pub(crate) fn demanded(&self) -> Option<&Node<P>> {
        let demand = self.bucket.demand.load(Ordering::Relaxed);
        // Addresses that are alike in their low halves only make a lock that is handed over in vain.
        self.all_oldest_first().find(|node| demand != 0 && node.address() as u32 == demand)
    }

    /// Takes a sleeper out of the list and tells it what it is now; the caller wakes it afterwards,
    /// by the address that this returns.
    ///
    /// # Safety
    ///
    /// The node is linked in this bucket, and not counted as parked.
    pub(crate) unsafe fn release(&self, node: *const Node<P>, status: u32) -> *const P::AtomicU32 {
        // SAFETY: a linked node is live while the bucket's lock is held.
        let node = unsafe { &*node };
        // SAFETY: as the caller promises.
        unsafe { self.unlink(node) };
        let word = &raw const node.status;
        // spec: Mutex!Dismiss
        // Release: a new owner sees what the old one did in its section. The last access: from
        // here on the node may be gone.
        node.status.store(status, Ordering::Release);
        word
    }

    /// The waiter at `address` that was linked last.
    pub(crate) fn newest(&self, address: usize) -> Option<&Node<P>> {
        let mut next = self.bucket.newest.load(Ordering::Relaxed).cast_const();
        // SAFETY: linked nodes are live while the bucket's lock is held.
        while let Some(node) = unsafe { next.as_ref() } {
            if node.address() == address {
                return Some(node);
            }
            next = node.older.load(Ordering::Relaxed).cast_const();
        }
        None
    }

    /// The newest waiter at `address` that last ran on another CPU than the caller, among the
    /// newest few; else the newest.
    ///
    /// The caller's CPU is busy with the caller, and kernels wake a thread where it ran last: it
    /// would wait there for a time slice while the other CPU may be idle.
    pub(crate) fn newest_elsewhere(&self, address: usize) -> Option<&Node<P>> {
        /// Each look may be a cache miss, under the bucket's lock.
        const LOOKS: usize = 4;
        let newest = self.newest(address)?;
        let here = P::cpu();
        let mut node = newest;
        for _ in 0..LOOKS {
            if node.address() == address && node.cpu.load(Ordering::Relaxed) != here {
                return Some(node);
            }
            // SAFETY: linked nodes are live while the bucket's lock is held.
            match unsafe { node.older.load(Ordering::Relaxed).as_ref() } {
                Some(older) => node = older,
                None => break,
            }
        }
        Some(newest)
    }

    /// The waiter at `address` that was linked first.
    pub(crate) fn oldest(&self, address: usize) -> Option<&Node<P>> {
        self.oldest_first(address).next()
    }

    /// The waiter at `address` that was linked first but for `skip` others.
    pub(crate) fn oldest_but(&self, address: usize, skip: usize) -> Option<&Node<P>> {
        self.oldest_first(address).nth(skip)
    }

    /// How many waiters there are at `address`.
    pub(crate) fn count(&self, address: usize) -> usize {
        self.oldest_first(address).count()
    }

    fn oldest_first(&self, address: usize) -> impl Iterator<Item = &Node<P>> {
        self.all_oldest_first().filter(move |node| node.address() == address)
    }

    /// The waiters of all locks here.
    fn all_oldest_first(&self) -> impl Iterator<Item = &Node<P>> {
        let mut next = self.bucket.oldest.load(Ordering::Relaxed).cast_const();
        core::iter::from_fn(move || {
            // SAFETY: linked nodes are live while the bucket's lock is held.
            let node = unsafe { next.as_ref() }?;
            next = node.newer.load(Ordering::Relaxed).cast_const();
            Some(node)
        })
    }
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
