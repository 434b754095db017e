//! The table for locks of other crates: park at a key, unpark the threads at a key, move them to
//! another key.
//!
//! A parked thread brings a token, a number with a meaning only to the caller's lock. A thread that
//! unparks others chooses them by their tokens, and gives them a token of its own: a lock that has
//! readers and writers in one queue distinguishes them by their tokens. If a lock needs no tokens,
//! it passes 0.
//!
//! The contract in full:
//!
//! * A key is the address of something that the caller's lock owns, so that no two locks use the
//!   same key at the same time. Keys have their own space: a mutex or a condition variable of this
//!   crate may be at the same address.
//! * [`park`] calls `validate` under the lock of the key's bucket, and parks only if it returns
//!   true. [`unpark`] and [`requeue`] call their closures under the same lock. So if a thread
//!   changes the state word before it calls `unpark`, either the other thread's `validate` sees the
//!   change or `unpark` finds the parked thread: the bucket's lock orders them, and no fence is
//!   needed.
//! * Each call is one step: the counts that `then` receives are exact, and a thread that comes
//!   later is not woken by an earlier call.
//! * Closures run with a bucket locked: they must be short, and must not park, unpark, lock a
//!   [`Mutex`] or panic.
//! * Threads are woken in the order in which they parked. A thread returns only after `unpark`,
//!   `requeue` or its deadline: there are no spurious returns.
//! * After `unpark` has found the last thread, neither the caller's lock nor its memory is needed:
//!   a key is only compared.
//! * No call allocates. Each costs one bucket's lock (about two atomic read-modify-writes),
//!   `requeue` two, and `unpark` one system call for each thread that it wakes.
//!
//! [`Mutex`]: crate::Mutex
//!
//! Source: WebKit's `WTF::ParkingLot`, and parking_lot_core, which has the same interface except
//! for the types.

use core::ptr;

use super::Host;
use super::bucket::{Bucket, Guard};
use super::chosen::Chosen;
use super::node::{Kind, Node};
use crate::machine::Timestamp;

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

/// What happens to a parked thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The thread is unparked.
    Unpark,
    /// The thread stays parked.
    Skip,
    /// The thread stays parked, and so do all that parked later.
    Stop,
}

/// The result of an unpark, or the plan for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unparked {
    /// The number of threads that were woken.
    pub woken: usize,
    /// The number of threads that are now parked at the other key.
    pub moved: usize,
    /// Whether threads are still parked at the first key.
    pub others: bool,
}

/// The limits of a [`requeue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requeue {
    /// The maximum number of threads to wake, the oldest first.
    pub wake: usize,
    /// The maximum number of the others to move.
    pub move_most: usize,
}

/// Parks at `key` with `token` if `validate` returns true, until the thread is unparked or the
/// deadline passes. Also returns the token of the thread that unparked it, or 0 if none did.
///
/// `before_sleep` runs once other threads can find this one and before it sleeps, without the
/// bucket's lock: unlock something there if needed. If the deadline has passed, `timed_out` is
/// called under the bucket's lock with the key at which the thread was parked, to which it may have
/// been moved, and whether no other thread is parked there.
///
/// # Safety
///
/// The key is an address that the caller controls: until this returns, only code of the same lock
/// parks or unparks there.
///
/// # Panics
///
/// A panic of `before_sleep` aborts the process.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use ondeck::parking::{self, Choice, Parked};
/// use ondeck::platform::Native;
///
/// static OPEN: AtomicU32 = AtomicU32::new(0);
/// let key = (&raw const OPEN).addr();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         OPEN.store(1, Ordering::Release);
///         // SAFETY: nothing else uses the address of `OPEN` as a key.
///         unsafe { parking::unpark::<Native>(key, |_| Choice::Unpark, |_| 0) };
///     });
///     let closed = || OPEN.load(Ordering::Acquire) == 0;
///     // SAFETY: as above.
///     let (parked, _) = unsafe { parking::park::<Native>(key, 0, closed, || (), |_, _| (), None) };
///     assert!(matches!(parked, Parked::Woken | Parked::Invalid));
/// });
/// ```
pub unsafe fn park<P: Host>(
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
    // SAFETY: it is new, and unlinked before this function returns, by the thread that wakes this
    // one or below.
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

/// Unparks the threads at `key` that `choose` selects by their tokens, in the order in which they
/// parked.
///
/// `then` is called before they are woken, under the bucket's lock, and returns the token that each
/// of them receives.
///
/// # Safety
///
/// As for [`park`]. A woken thread continues as if the caller's lock had permitted it to.
pub unsafe fn unpark<P: Host>(
    key: usize,
    mut choose: impl FnMut(usize) -> Choice,
    then: impl FnOnce(Unparked) -> usize,
) -> Unparked {
    let guard = P::bucket(key).lock();
    let (mut done, mut chosen) = (Unparked::default(), Chosen::new());
    for node in guard.oldest_first(Kind::Key, key) {
        match choose(node.wants()) {
            Choice::Unpark => {
                // SAFETY: it is linked, and its thread waits until `wake` notifies it. The iterator
                // has already read the next one.
                unsafe {
                    guard.unlink(Kind::Key, node);
                    chosen.push(node);
                }
                done.woken += 1;
            }
            Choice::Skip => done.others = true,
            Choice::Stop => {
                done.others = true;
                break;
            }
        }
    }
    chosen.give(then(done));
    drop(guard);
    chosen.wake();
    done
}

/// Unparks threads at `from` and moves others to `to`, within the limits that `validate` returns;
/// it may return none.
///
/// `validate` and then `then` are called under the locks of both keys' buckets; `then` returns the
/// token for the woken threads. If `validate` returns `None`, or the keys are the same, `then` is
/// not called.
///
/// # Safety
///
/// As for [`park`], for both keys.
pub unsafe fn requeue<P: Host>(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> Option<Requeue>,
    then: impl FnOnce(Unparked) -> usize,
) -> Unparked {
    let (first, other) = lock_both::<P>(P::bucket(from), P::bucket(to));
    let second = other.as_ref().unwrap_or(&first);
    let mut done = Unparked::default();
    let Some(what) = validate().filter(|_| from != to) else { return done };
    let mut chosen = Chosen::new();
    while let Some(node) = first.oldest(Kind::Key, from) {
        // SAFETY: it is linked there. Its thread waits until `wake` notifies it, or it is linked at
        // the other key before either bucket is unlocked.
        unsafe {
            if done.woken < what.wake {
                first.unlink(Kind::Key, node);
                chosen.push(node);
                done.woken += 1;
            } else if done.moved < what.move_most {
                first.unlink(Kind::Key, node);
                node.readdress(Kind::Key, to, 0);
                second.link(Kind::Key, node);
                done.moved += 1;
            } else {
                done.others = true;
                break;
            }
        }
    }
    chosen.give(then(done));
    drop((first, other));
    chosen.wake();
    done
}

/// Waits for the locks of two buckets, or of one if both are the same: in the order of their
/// addresses, so that no two threads wait for each other.
fn lock_both<P: Host>(
    first: &'static Bucket<P>,
    second: &'static Bucket<P>,
) -> (Guard<'static, P>, Option<Guard<'static, P>>) {
    if ptr::eq(first, second) {
        (first.lock(), None)
    } else if ptr::from_ref(first) < ptr::from_ref(second) {
        let first = first.lock();
        (first, Some(second.lock()))
    } else {
        let second = second.lock();
        (first.lock(), Some(second))
    }
}

/// Aborts the process when it is dropped, which happens if a closure unwinds.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        panic!("ondeck: a closure of `park` panicked");
    }
}
