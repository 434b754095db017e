//! A bucket of the parking table: its lock, the records of its contended locks, its queues.
//!
//! ```text
//!  lock       guards the queues, which locks have records, and the bucket's unlock mode
//!  queues ──► [newest] ⇄ [node] ⇄ [oldest]      one queue for each lock, condition variable or key
//!                │
//!                ▼
//!             [newest] ⇄ ...
//!  series     how many times a queue of a condition variable here has begun
//!  watches    whether waiters of condition variables here are notified soon
//!  records    of some contended locks: what their unlocks read without the bucket's lock
//!  shared     the record of all others
//! ```
//!
//! A lock without a record of its own works, but no thread polls for it, and each of its unlocks that
//! finds a thread parked at any lock that shares its record takes the bucket's lock.

use core::ptr;

use super::lock;
use super::node::Node;
use super::record::{Record, SHARED};
use super::unlock_mode::{ASKED, LOOK, SKIP, SOME};
use super::watches::Watches;
use crate::platform::{AtomicInt, AtomicPointer, Host, Ordering};

/// Locks of one bucket that have records of their own. With a hundred contended locks in a table of
/// 1,024 buckets, a third one falls into the same bucket in one program of six.
const RECORDS: usize = 2;

/// Waiting threads of the locks, condition variables and keys whose addresses fall together.
#[derive(Debug)]
#[repr(align(128))]
pub struct Bucket<P: Host> {
    lock: P::AtomicU32,
    pub(crate) watches: Watches<P>,
    pub(super) queues: P::AtomicPtr<Node<P>>,
    pub(super) series: P::AtomicUsize,
    records: [Record<P>; RECORDS],
    shared: Record<P>,
}

impl Bucket<crate::platform::Native> {
    /// An empty bucket, for the static table of the real machine. All zeros, so that the table
    /// costs nothing in the program's file, and can be wiped.
    #[allow(clippy::declare_interior_mutable_const, reason = "a template to fill an array with")]
    pub(crate) const EMPTY: Self = {
        use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
        Self {
            lock: AtomicU32::new(0),
            watches: Watches::EMPTY,
            queues: AtomicPtr::new(ptr::null_mut()),
            series: AtomicUsize::new(0),
            records: [Record::EMPTY; RECORDS],
            shared: Record::EMPTY,
        }
    };
}

impl<P: Host> Bucket<P> {
    /// An empty bucket.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lock: AtomicInt::new(0),
            watches: Watches::new(),
            queues: AtomicPointer::new(ptr::null_mut()),
            series: AtomicInt::new(0),
            records: core::array::from_fn(|_| Record::new()),
            shared: Record::new(),
        }
    }

    /// The record that the lock at `address` has of its own.
    ///
    /// Without the bucket's lock it may go to another lock at any time, but not while it has a mark of
    /// the caller's.
    #[inline]
    pub(crate) fn own_record(&self, address: usize) -> Option<&Record<P>> {
        self.records.iter().find(|record| record.is_of(address))
    }

    /// The record that an unlock of the lock at `address` looks at.
    #[inline]
    pub(crate) fn record(&self, address: usize) -> Option<&Record<P>> {
        self.own_record(address).or_else(|| Some(&self.shared).filter(|shared| shared.is_shared()))
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

    fn all_records(&self) -> impl Iterator<Item = &Record<P>> {
        self.records.iter().chain([&self.shared])
    }

    /// Whether no thread waits here: for tests.
    #[doc(hidden)]
    pub fn is_at_rest(&self) -> bool {
        self.lock.load(Ordering::Relaxed) == 0
            && self.queues.load(Ordering::Relaxed).is_null()
            && self.all_records().all(Record::is_at_rest)
    }
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

#[allow(clippy::unused_self, reason = "that there is a guard says that the bucket's lock is held")]
impl<'a, P: Host> Guard<'a, P> {
    /// The bucket that this holds.
    pub(crate) fn bucket(&self) -> &'a Bucket<P> {
        self.bucket
    }

    /// The record of the lock at `address`, which gets one if it has none; the shared one if no other
    /// can be had, or if threads of this lock are counted there.
    pub(crate) fn claim(&self, address: usize) -> &'a Record<P> {
        self.claim_of(address, Record::is_quiet)
    }

    /// As [`claim`](Self::claim), for a thread that found the lock taken. It also takes a record that
    /// waiters of condition variables have only pinned: they may sleep for ever, and other locks of the
    /// bucket are not to pay for that. A notification of such a waiter may then make a heavy fence.
    pub(crate) fn claim_contended(&self, address: usize) -> &'a Record<P> {
        let record = self.claim(address);
        if record.is_shared() { self.claim_of(address, Record::is_idle) } else { record }
    }

    fn claim_of(&self, address: usize, may_go: fn(&Record<P>) -> bool) -> &'a Record<P> {
        let bucket = self.bucket;
        if let Some(record) = bucket.own_record(address) {
            return record;
        }
        let shared = &bucket.shared;
        let light = P::unlock_mode(address).load(Ordering::Relaxed) != LOOK;
        let counted_there = || self.newest(super::Kind::Lock, address).is_some();
        if !(shared.is_shared() && shared.has_parked() && counted_there()) {
            let free = bucket.records.iter().find(|record| record.is_of(0));
            let other =
                || bucket.records.iter().find(|record| self.take_from_its_lock(record, may_go));
            if let Some(record) = free.or_else(other) {
                record.give_to(address, light);
                // What was taken away may have been armed.
                self.set_mode(P::unlock_mode(address));
                return record;
            }
        }
        if !shared.is_shared() {
            shared.give_to(SHARED, light);
        }
        shared
    }

    /// Counts a linked thread that waits for the lock at `address`, which has this record, and will be
    /// overdue at `due`. From now on unlocks look there.
    pub(crate) fn count(&self, record: &Record<P>, node: &Node<P>, due: usize) {
        let now = P::ticks() as usize;
        record.set_last_parked_at(now);
        record.count_parked(node, due, now);
        self.arm(record, node.address());
    }

    /// Counts a thread no more that was linked for the lock that has this record.
    pub(crate) fn uncount(&self, record: &Record<P>, node: &Node<P>) {
        if record.uncount_parked(node) {
            self.set_mode(P::unlock_mode(node.address()));
        }
    }

    fn arm(&self, record: &Record<P>, address: usize) {
        if !record.is_armed() {
            // No unlock has looked here so far. If a thread that gave up has made this record fenced,
            // that says nothing of them: the next thread that parks owes a heavy fence.
            if !record.is_light() {
                record.step_back();
            }
            record.arm();
            self.set_mode(P::unlock_mode(address));
        }
    }

    /// Pins a lock's own record for the waiter of a condition variable whose node this is: it stays that
    /// lock's, and its unlocks have full fences.
    pub(crate) fn pin(&self, record: &Record<P>, node: &Node<P>) {
        record.set_pins(record.pins() + 1);
        self.arm(record, node.mutex().addr());
        node.pin.store(ptr::from_ref(record).cast_mut(), Ordering::Relaxed);
    }

    /// Takes back what [`pin`](Self::pin) did for this node, if it did, under the lock of the same
    /// bucket.
    pub(crate) fn unpin(&self, node: &Node<P>) {
        let record = node.pin.swap(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: a record of the table, which is never freed.
        let Some(record) = (unsafe { record.as_ref() }) else { return };
        // It may have gone to another lock, and even come back: then other waiters have pinned it since.
        // One pin too few makes a notification cost more, no worse.
        if record.is_of(node.mutex().addr()) {
            record.set_pins(record.pins().saturating_sub(1));
        }
    }

    /// Takes their records from all locks that no thread waits for; `mode` is the bucket's unlock mode.
    pub(super) fn take_quiet_records(&self, mode: &P::AtomicUsize) {
        for record in self.bucket.all_records() {
            // spec: Mutex!TakeQuiet
            if !record.is_of(0) {
                self.take_from_its_lock(record, Record::is_quiet);
            }
        }
        self.set_mode(mode);
    }

    /// Takes a record from its lock, if it may go.
    ///
    /// That lock's waiters may be counted in the shared record next, where they would make a full fence
    /// only, if that is fenced. But some unlocks are on their way that have no fence, because the
    /// record was light: the shared one steps back.
    fn take_from_its_lock(&self, record: &Record<P>, may_go: fn(&Record<P>) -> bool) -> bool {
        let taken = may_go(record) && record.take_away();
        let shared = &self.bucket.shared;
        if taken && shared.is_shared() && !shared.is_light() {
            // spec: Mutex!EvictStepsBack
            shared.step_back();
        }
        taken
    }

    /// Sets the unlock mode by the records that there are.
    pub(crate) fn set_mode(&self, mode: &P::AtomicUsize) {
        if mode.load(Ordering::Relaxed) != LOOK {
            // Release: see `unlock_mode`. An unlock that does less because of this sees all records.
            mode.store(self.mode_by_records(), Ordering::Release);
        }
    }

    /// The unlock mode that suits the records that there are.
    pub(super) fn mode_by_records(&self) -> usize {
        if self.bucket.all_records().any(Record::is_requested) {
            ASKED
        } else if self.bucket.all_records().any(Record::is_armed) {
            SOME
        } else {
            SKIP
        }
    }
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
