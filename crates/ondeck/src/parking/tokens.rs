//! The table for locks of others, with tokens: a parked thread brings one along, and a thread that unparks
//! chooses by them and gives another one back.
//!
//! It is [`park`] and its like, with that contract, for locks whose waiters differ: readers and
//! writers in one queue, say. A token is a number that means something to the caller's lock only.
//!
//! Source: parking_lot_core, whose interface this is but for the types.

use super::Host;
use super::node::Kind;
use super::pair::Pair;
use super::park::{self, Chosen, Parked};
use crate::machine::Timestamp;

/// What becomes of a parked thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It is unparked.
    Unpark,
    /// It stays.
    Skip,
    /// It stays, and so do all that parked later.
    Stop,
}

/// What an unpark did, or is about to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unparked {
    /// Threads that it woke.
    pub woken: usize,
    /// Threads that are now parked at the other key.
    pub moved: usize,
    /// Whether threads are still parked at the first key.
    pub others: bool,
}

/// What a [`requeue`] is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requeue {
    /// How many threads are woken at most, the oldest first.
    pub wake: usize,
    /// How many of the others are moved at most.
    pub move_most: usize,
}

/// Parks at `key` with `token`, if `validate` agrees, until unparked or until the deadline. Returns also the
/// token of the thread that unparked it; else 0.
///
/// `timed_out` is called if the deadline has passed, under the bucket's lock: with the key at which the
/// thread was parked, to which it may have been moved, and whether no other thread is parked there.
///
/// # Safety
///
/// As for [`park`].
///
/// # Panics
///
/// A panic of `before_sleep` aborts the process.
pub unsafe fn park<P: Host>(
    key: usize,
    token: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    timed_out: impl FnOnce(usize, bool),
    deadline: Option<Timestamp>,
) -> (Parked, usize) {
    // SAFETY: as the caller promises.
    unsafe { park::park_with::<P>(key, token, validate, before_sleep, timed_out, deadline) }
}

/// Unparks the threads at `key` that `choose` chooses by their tokens, in the order in which they parked.
///
/// `then` is called before they are woken, under the bucket's lock, and returns the token that each of them
/// is given.
///
/// # Safety
///
/// As for [`unpark`](super::unpark).
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
                // SAFETY: it is linked, and its thread waits for what `wake` tells it. The iterator has read
                // the next one before.
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

/// Unparks threads at `from` and moves others to `to`, as many as `validate` says; it may say none.
///
/// `validate` and then `then` are called under the locks of both keys' buckets; `then` returns the token of
/// the threads that are woken. If `validate` says nothing, or the keys are the same, `then` is not called.
///
/// # Safety
///
/// As for [`requeue`](super::requeue).
pub unsafe fn requeue<P: Host>(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> Option<Requeue>,
    then: impl FnOnce(Unparked) -> usize,
) -> Unparked {
    let locks = Pair::<P>::lock(P::bucket(from), P::bucket(to));
    let mut done = Unparked::default();
    let Some(what) = validate().filter(|_| from != to) else { return done };
    let mut chosen = Chosen::new();
    while let Some(node) = locks.first().oldest(Kind::Key, from) {
        // SAFETY: it is linked there. Its thread waits for what `wake` tells it, or it is linked at the other
        // key before either lock is released.
        unsafe {
            if done.woken < what.wake {
                locks.first().unlink(Kind::Key, node);
                chosen.push(node);
                done.woken += 1;
            } else if done.moved < what.move_most {
                locks.first().unlink(Kind::Key, node);
                node.readdress(Kind::Key, to, 0);
                locks.second().link(Kind::Key, node);
                done.moved += 1;
            } else {
                done.others = true;
                break;
            }
        }
    }
    chosen.give(then(done));
    drop(locks);
    chosen.wake();
    done
}
