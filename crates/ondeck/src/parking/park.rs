//! The table for locks of other crates: park at a key, unpark the threads at a key, move them to another key.
//!
//! The contract in full:
//!
//! * A key is the address of something that the caller's lock owns, so that no two locks use the same key at the same time.
//!   Keys have their own space: a mutex or a condition variable of this crate may be at the same address.
//! * [`park`] calls `validate` under the lock of the key's bucket, and parks only if it returns true. [`unpark`] and
//!   [`requeue`] call their closures under the same lock. So if a thread changes the state word before it calls `unpark`,
//!   either the other thread's `validate` sees the change or `unpark` finds the parked thread: the bucket's lock orders
//!   them, and no fence is needed.
//! * Each call is one step: the counts that `then` receives are exact, and a thread that comes later is not woken by an
//!   earlier call.
//! * Closures run with a bucket locked: they must be short, and must not park, unpark, lock a [`Mutex`] or panic.
//! * Threads are woken in the order in which they parked. A thread returns only after `unpark`, `requeue` or its deadline:
//!   there are no spurious returns.
//! * After `unpark` has found the last thread, neither the caller's lock nor its memory is needed: a key is only compared.
//! * No call allocates. Each costs one bucket's lock (about two atomic read-modify-writes), `requeue`
//!   two, and `unpark` one system call for each thread that it wakes.
//!
//! [`Mutex`]: crate::Mutex
//!
//! Source: WebKit's `WTF::ParkingLot`, and parking_lot_core with its `validate` and its callbacks under the lock.

use core::ptr;

use super::Host;
use super::bucket::Guard;
use super::node::{Kind, Node, status};
use super::pair::Pair;
use crate::machine::{AtomicPointer, Ordering, Timestamp};

/// How a [`park`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a thread that was not woken must not go on as if it were"]
pub enum Parked {
    /// The thread parked, and was woken by [`unpark`] or [`requeue`].
    Woken,
    /// The thread did not park, because `validate` returned false.
    Invalid,
    /// The deadline passed before the thread was woken.
    TimedOut,
}

/// The result of a [`requeue`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requeued {
    /// The number of threads that were woken.
    pub woken: usize,
    /// The number of threads that are now parked at the other key.
    pub moved: usize,
}

/// Parks at `key` if `validate` returns true, until the thread is woken or the deadline passes.
///
/// `before_sleep` runs once other threads can find this one and before it sleeps, without the bucket's lock: unlock
/// something there if needed.
///
/// # Safety
///
/// The key is an address that the caller controls: until this returns, only code of the same lock parks or unparks there.
///
/// # Panics
///
/// A panic of `before_sleep` aborts the process.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use ondeck::parking::{self, Parked};
/// use ondeck::platform::Native;
///
/// static OPEN: AtomicU32 = AtomicU32::new(0);
/// let key = (&raw const OPEN).addr();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         OPEN.store(1, Ordering::Release);
///         // SAFETY: nothing else uses the address of `OPEN` as a key.
///         unsafe { parking::unpark::<Native>(key, usize::MAX, |_, _| ()) };
///     });
///     let closed = || OPEN.load(Ordering::Acquire) == 0;
///     // SAFETY: as above.
///     let parked = unsafe { parking::park::<Native>(key, closed, || (), None) };
///     assert!(matches!(parked, Parked::Woken | Parked::Invalid));
/// });
/// ```
pub unsafe fn park<P: Host>(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    deadline: Option<Timestamp>,
) -> Parked {
    // SAFETY: as the caller promises.
    unsafe { park_with::<P>(key, 0, validate, before_sleep, |_, _| (), deadline).0 }
}

/// As [`park`], with a token that unparking threads see. Also returns the token that such a thread gave. If the deadline
/// passed, calls `timed_out` under the bucket's lock, with the key at which the thread was parked last, and whether no other
/// thread is parked there.
///
/// # Safety
///
/// As for [`park`].
pub(super) unsafe fn park_with<P: Host>(
    key: usize,
    token: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    timed_out: impl FnOnce(usize, bool),
    deadline: Option<Timestamp>,
) -> (Parked, usize) {
    let node = Node::<P>::new(Kind::Key, key, ptr::null(), 0);
    node.set_wants(token);
    let guard = P::bucket(key).lock();
    if !validate() {
        return (Parked::Invalid, 0);
    }
    // SAFETY: it is new, and unlinked before this function returns, by the thread that wakes this one or below.
    unsafe { guard.link(Kind::Key, &node) };
    drop(guard);
    // A panic would leave the node linked after its stack is gone.
    let abort = AbortOnDrop;
    before_sleep();
    core::mem::forget(abort);
    let Err(guard) = node.sleep(Kind::Key, deadline, None, |_, _| true) else {
        return (Parked::Woken, node.wants());
    };
    // The node may have been moved.
    let key = node.address();
    timed_out(key, guard.newest(Kind::Key, key).is_none());
    (Parked::TimedOut, 0)
}

/// Wakes at most `most` threads that are parked at `key`, in the order in which they parked. Returns the number of threads
/// woken.
///
/// `then` is called before they are woken, under the bucket's lock, with their number and whether others remain: update the
/// state word there.
///
/// # Safety
///
/// As for [`park`]. A woken thread continues as if the caller's lock had permitted it to.
pub unsafe fn unpark<P: Host>(key: usize, most: usize, then: impl FnOnce(usize, bool)) -> usize {
    let guard = P::bucket(key).lock();
    // Not all of them: there may be thousands.
    let enough = most.saturating_add(1);
    let parked = guard.oldest_first(Kind::Key, key).take(enough).count();
    let count = parked.min(most);
    then(count, parked > most);
    let chosen = Chosen::take(&guard, Kind::Key, key, count, status::DONE);
    drop(guard);
    chosen.wake();
    count
}

/// If `validate` returns true, wakes at most `wake` threads that are parked at `from`, and parks at most `move_most` of the
/// others at `to` instead, without waking them.
///
/// `validate` is called under the locks of both keys' buckets.
///
/// # Safety
///
/// As for [`park`], for both keys.
pub unsafe fn requeue<P: Host>(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> bool,
    wake: usize,
    move_most: usize,
) -> Requeued {
    let locks = Pair::<P>::lock(P::bucket(from), P::bucket(to));
    if !validate() || from == to {
        return Requeued::default();
    }
    let woken = locks.first().oldest_first(Kind::Key, from).take(wake).count();
    let chosen = Chosen::take(locks.first(), Kind::Key, from, woken, status::DONE);
    let mut moved = 0;
    while moved < move_most
        && let Some(node) = locks.first().oldest(Kind::Key, from)
    {
        // SAFETY: it is linked there, and is linked here before either bucket is unlocked.
        unsafe {
            locks.first().unlink(Kind::Key, node);
            node.readdress(Kind::Key, to, 0);
            locks.second().link(Kind::Key, node);
        }
        moved += 1;
    }
    drop(locks);
    chosen.wake();
    Requeued { woken, moved }
}

/// Threads that were unlinked and wait for their notification: a list through their nodes, which stay while they are
/// `CHOSEN`. So any number of threads is chosen in one step, and woken without the bucket's lock.
pub(crate) struct Chosen<P: Host> {
    first: *const Node<P>,
    last: *const Node<P>,
    /// The status that they will receive.
    status: u32,
}

impl<P: Host> Chosen<P> {
    /// Creates an empty list; its threads will be notified to continue.
    pub(crate) fn new() -> Self {
        Self::told(status::DONE)
    }

    /// Creates an empty list; its threads will receive `status`.
    pub(crate) fn told(status: u32) -> Self {
        Self { first: ptr::null(), last: ptr::null(), status }
    }

    /// Takes the `count` oldest threads of a queue, none of which is near. They will receive `status`.
    pub(crate) fn take(
        guard: &Guard<'_, P>,
        kind: Kind,
        address: usize,
        count: usize,
        status: u32,
    ) -> Self {
        let mut chosen = Self::told(status);
        for _ in 0..count {
            let Some(node) = guard.oldest(kind, address) else { break };
            // SAFETY: it is linked, and its thread waits until `wake` notifies it.
            unsafe {
                guard.unlink(kind, node);
                chosen.push(node);
            }
        }
        chosen
    }

    /// Adds a thread, under the lock of the bucket in which it was linked.
    ///
    /// # Safety
    ///
    /// The node is no longer linked, and its thread is not near, and does not leave while the node is `CHOSEN`.
    pub(crate) unsafe fn push(&mut self, node: &Node<P>) {
        node.newer.store(ptr::null_mut(), Ordering::Relaxed);
        node.set_status(status::CHOSEN);
        let node = ptr::from_ref(node);
        // SAFETY: the last node is live until it is notified, because its thread waits for that.
        match unsafe { self.last.as_ref() } {
            Some(last) => last.newer.store(node.cast_mut(), Ordering::Relaxed),
            None => self.first = node,
        }
        self.last = node;
    }

    /// Gives all of them a token, before they are notified.
    pub(super) fn give(&self, token: usize) {
        let mut next = self.first;
        // SAFETY: the nodes are live until they are notified.
        while let Some(node) = unsafe { next.as_ref() } {
            node.set_wants(token);
            next = node.newer.load(Ordering::Relaxed);
        }
    }

    /// Notifies all of them.
    pub(crate) fn wake(self) {
        let mut next = self.first;
        // SAFETY: the nodes are live until they are notified; the next one is read before that.
        while let Some(node) = unsafe { next.as_ref() } {
            next = node.newer.load(Ordering::Relaxed);
            // step: tell chosen
            let word = node.tell(self.status);
            // step: wake chosen
            P::futex_wake(word, 1);
        }
    }
}

/// Aborts the process when it is dropped, which happens if a closure unwinds.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        panic!("ondeck: a closure of `park` panicked");
    }
}
