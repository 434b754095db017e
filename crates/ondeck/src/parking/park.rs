//! The table for locks of others: sleep on an address, wake by it, move from one to another.
//!
//! The contract in full:
//!
//! * A key is the address of something that the caller's lock owns, and that no [`Mutex`] or
//!   [`Condvar`] of this crate is at: use the address of your own state word.
//! * [`park`] calls `validate` under the lock of the key's bucket, and sleeps only if it says so.
//!   [`unpark`] and [`requeue`] call theirs under the same lock. So if a waker changes the state
//!   word before it calls `unpark`, either the parker's `validate` sees the change or the waker finds
//!   the parker: the bucket's lock orders them, no fence is needed.
//! * Closures run with a bucket locked: they must be short, must not park, unpark, lock a [`Mutex`]
//!   or panic.
//! * Waking goes in the order of parking. Nothing is woken but by `unpark`, `requeue` or its
//!   deadline: there are no spurious returns.
//! * Neither the caller's lock nor its memory is needed after `unpark` has found the last sleeper: a
//!   key is only compared.
//! * No call allocates. Each costs one bucket's lock (about two atomic read-modify-writes), `requeue`
//!   two, and `unpark` one system call for each thread it wakes.
//!
//! [`Mutex`]: crate::Mutex
//! [`Condvar`]: crate::Condvar
//!
//! Source: WebKit's `WTF::ParkingLot`, and parking_lot_core, whose `validate` and callbacks under
//! the lock these are.

use core::ptr;

use super::{Node, Pair, status};
use crate::platform::{FutexWait, Host, Timestamp};

/// How a [`park`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a thread that was not woken must not go on as if it were"]
pub enum Parked {
    /// It slept, and was woken by [`unpark`] or [`requeue`].
    Woken,
    /// It did not sleep, because `validate` said no.
    Invalid,
    /// The deadline passed before anybody woke it.
    TimedOut,
}

/// What a [`requeue`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requeued {
    /// Threads that it woke.
    pub woken: usize,
    /// Threads that now sleep at the other key.
    pub moved: usize,
}

/// Sleeps at `key` if `validate` agrees, until woken or until the deadline.
///
/// `before_sleep` runs after the thread can be found by others and before it sleeps, without the
/// bucket's lock: the place to unlock something.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use ondeck::parking::{self, Parked};
/// use ondeck::platform::Linux;
///
/// static OPEN: AtomicU32 = AtomicU32::new(0);
/// let key = (&raw const OPEN).addr();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         OPEN.store(1, Ordering::Release);
///         parking::unpark::<Linux>(key, usize::MAX, |_, _| ());
///     });
///     let closed = || OPEN.load(Ordering::Acquire) == 0;
///     let parked = parking::park::<Linux>(key, closed, || (), None);
///     assert!(matches!(parked, Parked::Woken | Parked::Invalid));
/// });
/// ```
pub fn park<P: Host>(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    deadline: Option<Timestamp>,
) -> Parked {
    let node = Node::<P>::new(key, ptr::null(), 0);
    let guard = P::bucket(key).lock();
    if !validate() {
        return Parked::Invalid;
    }
    // SAFETY: it is new, and taken out before this function returns: by whoever wakes it, or below.
    unsafe { guard.link(&node) };
    drop(guard);
    // A panic would leave the node linked and its stack gone.
    let abort = AbortOnDrop;
    before_sleep();
    core::mem::forget(abort);
    while node.status() == status::PARKED {
        if P::futex_wait(node.word(), status::PARKED, deadline) == FutexWait::TimedOut {
            return if withdraw(&node) { Parked::TimedOut } else { Parked::Woken };
        }
    }
    Parked::Woken
}

/// Takes the caller's node out, wherever it was moved; false if it was woken before.
fn withdraw<P: Host>(node: &Node<P>) -> bool {
    loop {
        let key = node.address();
        let guard = P::bucket(key).lock();
        if node.status() != status::PARKED {
            return false;
        }
        // It is moved under the locks of both buckets.
        if node.address() == key {
            // SAFETY: who has not been woken is linked, in the bucket of its address.
            unsafe { guard.unlink(node) };
            return true;
        }
    }
}

/// Wakes at most `most` threads that sleep at `key`, in the order in which they came; says how many.
///
/// `then` is called before they are woken, with their number and whether others remain, under the
/// bucket's lock: the place to change the state word by what remains.
pub fn unpark<P: Host>(key: usize, most: usize, then: impl FnOnce(usize, bool)) -> usize {
    let mut guard = P::bucket(key).lock();
    let asleep = guard.count(key);
    let mut left = asleep.min(most);
    then(left, asleep > most);
    let mut woken = 0;
    loop {
        let mut words = [ptr::null(); BATCH];
        let mut batch = 0;
        while batch < BATCH.min(left)
            && let Some(oldest) = guard.oldest(key)
        {
            // SAFETY: it is linked, and waiters at keys of others are never counted as parked.
            words[batch] = unsafe { guard.release(oldest, status::OWNER) };
            batch += 1;
        }
        drop(guard);
        for &word in &words[..batch] {
            P::futex_wake(word, 1);
        }
        woken += batch;
        left -= batch;
        if batch < BATCH || left == 0 {
            return woken;
        }
        guard = P::bucket(key).lock();
    }
}

/// Threads taken out under one locking of the bucket, to be woken after it: their nodes may be gone
/// by then, so their addresses are kept here.
const BATCH: usize = 16;

/// If `validate` agrees: wakes at most `wake` threads that sleep at `from`, and lets at most
/// `move_most` of the others sleep at `to` instead, without waking them.
///
/// `validate` is called under the locks of both keys' buckets.
pub fn requeue<P: Host>(
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
    let stay = locks.first().count(from);
    let woken = stay.min(wake);
    let moved = (stay - woken).min(move_most);
    // The first stay where they are, to be woken below.
    for _ in 0..moved {
        let Some(node) = locks.first().oldest_but(from, woken) else { break };
        // SAFETY: it is linked there, and here before either lock is released.
        unsafe {
            locks.first().unlink(node);
            node.readdress(to, 0);
            locks.second().link(node);
        }
    }
    drop(locks);
    Requeued { woken: unpark::<P>(from, woken, |_, _| ()), moved }
}

/// Ends the process when it is dropped: while a closure unwinds.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        panic!("ondeck: a closure of `park` panicked");
    }
}
