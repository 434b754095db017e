//! The table for locks of others: park at a key, unpark those that are there, move them to another.
//!
//! The contract in full:
//!
//! * A key is the address of something that the caller's lock owns, so that no two locks use the same
//!   key at the same time. Keys are in a space of their own: a mutex or a condition variable of this
//!   crate may be at the same address.
//! * [`park`] calls `validate` under the lock of the key's bucket, and parks only if it says so.
//!   [`unpark`] and [`requeue`] call theirs under the same lock. So if a thread changes the state word
//!   before it calls `unpark`, either the other's `validate` sees the change or `unpark` finds the
//!   parked thread: the bucket's lock orders them, no fence is needed.
//! * Each call is one step: what `then` is told happens, and a thread that comes later is not woken by
//!   an earlier call.
//! * Closures run with a bucket locked: they must be short, must not park, unpark, lock a [`Mutex`]
//!   or panic.
//! * Threads are woken in the order in which they parked. None is woken but by `unpark`, `requeue` or
//!   its deadline: there are no spurious returns.
//! * Neither the caller's lock nor its memory is needed after `unpark` has found the last thread: a key
//!   is only compared.
//! * No call allocates. Each costs one bucket's lock (about two atomic read-modify-writes), `requeue`
//!   two, and `unpark` one system call for each thread that it wakes.
//!
//! [`Mutex`]: crate::Mutex
//!
//! Source: WebKit's `WTF::ParkingLot`, and parking_lot_core, whose `validate` and callbacks under
//! the lock these are.

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
    /// It parked, and was woken by [`unpark`] or [`requeue`].
    Woken,
    /// It did not park, because `validate` said no.
    Invalid,
    /// The deadline passed before it was woken.
    TimedOut,
}

/// What a [`requeue`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requeued {
    /// Threads that it woke.
    pub woken: usize,
    /// Threads that are now parked at the other key.
    pub moved: usize,
}

/// Parks at `key` if `validate` agrees, until woken or until the deadline.
///
/// `before_sleep` runs after the thread can be found by others and before it sleeps, without the
/// bucket's lock: the place to unlock something.
///
/// # Safety
///
/// The key is an address that the caller controls: no other code parks or unparks there meanwhile that
/// is not part of the same lock.
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

/// As [`park`], with a token that threads which unpark it see; returns also the one that it was given by such
/// a thread. If the deadline passed, `timed_out` is called under the bucket's lock, with the key at which the
/// thread was parked by then, and whether no other is parked there.
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
    // SAFETY: it is new, and unlinked before this function returns: by the thread that wakes this one,
    // or below.
    unsafe { guard.link(Kind::Key, &node) };
    drop(guard);
    // A panic would leave the node linked and its stack gone.
    let abort = AbortOnDrop;
    before_sleep();
    core::mem::forget(abort);
    let Err(guard) = node.sleep(Kind::Key, deadline, None, |_| true) else {
        return (Parked::Woken, node.wants());
    };
    // It may have been moved.
    let key = node.address();
    timed_out(key, guard.newest(Kind::Key, key).is_none());
    (Parked::TimedOut, 0)
}

/// Wakes at most `most` threads that are parked at `key`, in the order in which they parked; says how
/// many.
///
/// `then` is called before they are woken, with their number and whether others remain, under the
/// bucket's lock: the place to change the state word by what remains.
///
/// # Safety
///
/// As for [`park`]. A thread that is woken goes on as if the caller's lock had told it to.
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

/// If `validate` agrees: wakes at most `wake` threads that are parked at `from`, and parks at most
/// `move_most` of the others at `to` instead, without waking them.
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
        // SAFETY: it is linked there, and here before either lock is released.
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

/// Threads that were unlinked and wait to be told: a list through their nodes, which stay while they
/// are `CHOSEN`. So any number is chosen in one step, and woken without the bucket's lock.
pub(crate) struct Chosen<P: Host> {
    first: *const Node<P>,
    last: *const Node<P>,
    /// What they will be told.
    status: u32,
}

impl<P: Host> Chosen<P> {
    /// None so far, which will be told to go on.
    pub(crate) fn new() -> Self {
        Self::told(status::DONE)
    }

    /// None so far, which will be told `status`.
    pub(crate) fn told(status: u32) -> Self {
        Self { first: ptr::null(), last: ptr::null(), status }
    }

    /// Takes the `count` oldest threads of a queue, none of which is near, and which will be told `status`.
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
            // SAFETY: it is linked, and its thread waits for what `wake` tells it.
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
    /// The node is not linked any more, its thread is not near, and does not leave while it is `CHOSEN`.
    pub(crate) unsafe fn push(&mut self, node: &Node<P>) {
        node.newer.store(ptr::null_mut(), Ordering::Relaxed);
        node.set_status(status::CHOSEN);
        let node = ptr::from_ref(node);
        // SAFETY: the last one is live until it is told, because its thread waits for that.
        match unsafe { self.last.as_ref() } {
            Some(last) => last.newer.store(node.cast_mut(), Ordering::Relaxed),
            None => self.first = node,
        }
        self.last = node;
    }

    /// Gives them all a token, before they are told to go on.
    pub(super) fn give(&self, token: usize) {
        let mut next = self.first;
        // SAFETY: they are live until they are told.
        while let Some(node) = unsafe { next.as_ref() } {
            node.set_wants(token);
            next = node.newer.load(Ordering::Relaxed);
        }
    }

    /// Tells them all.
    pub(crate) fn wake(self) {
        let mut next = self.first;
        // SAFETY: they are live until they are told; what comes next was read before.
        while let Some(node) = unsafe { next.as_ref() } {
            next = node.newer.load(Ordering::Relaxed);
            // spec: Condvar!TellChosen
            let word = node.tell(self.status);
            // spec: Condvar!WakeChosen
            P::futex_wake(word, 1);
        }
    }
}

/// Ends the process when it is dropped: while a closure unwinds.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        panic!("ondeck: a closure of `park` panicked");
    }
}
