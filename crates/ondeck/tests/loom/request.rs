//! Handoff requests: a parked thread is overdue, and other threads always lock first.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;

use loom::thread::JoinHandle;
use ondeck::platform::{AtomicInt, Host, Ordering, Platform};

use crate::loom_platform::{Loom, Setting, asleep, join, spawn, watch};
use crate::scenario::{ASYMMETRIC, OVERDUE, Shared, explore};

/// Whether the caller sees that the owner is asked to hand the lock over. If its own unlock comes next,
/// that sees the request, too.
fn sees_request(shared: &Shared) -> bool {
    /// All unlocks of the bucket look, and an owner of its locks is asked.
    const LOOK_OR_ASKED: [usize; 2] = [0, 3];
    LOOK_OR_ASKED.contains(&Loom::unlock_mode(shared.address()).load(Ordering::Relaxed))
        && watch::sees_request(shared.address())
}

/// One thread is parked, and another arrives, twice, just when the caller unlocks the mutex. There are four
/// sections in all: a thread that has handed the lock over and locks again must not find it free.
fn one_sleeps_and_one_is_fast(shared: &'static Shared) -> [JoinHandle<()>; 2] {
    shared.lock();
    let waiter = spawn(move || shared.lock_and_count());
    while asleep() < 1 {
        Loom::yield_now();
    }
    let fast = spawn(move || {
        shared.lock_and_count();
        shared.lock_and_count();
    });
    shared.count();
    shared.unlock();
    [waiter, fast]
}

/// The caller locks again, and may lock before the parked thread does.
pub fn owners() {
    let shared = Shared::new();
    let others = one_sleeps_and_one_is_fast(shared);
    shared.lock_and_count();
    others.into_iter().for_each(join);
    // An owner that was asked after the parked thread had gone has no thread to hand the lock to.
    shared.lock_and_count();
    assert!(!sees_request(shared), "what was requested is done");
    shared.end(6);
}

#[test]
fn owners_hand_the_lock_over() {
    explore(OVERDUE, 2, owners);
}

#[test]
fn owners_hand_the_lock_over_with_light_fences() {
    explore(Setting { overdue: true, ..ASYMMETRIC }, 1, owners);
}

/// A parked thread is overdue and has competed in vain. Another thread has had the lock since the unlock's
/// store. The unlock hands the lock over, or asks that thread for it; then the caller locks again.
#[test]
fn an_owner_in_between_is_seen() {
    explore(OVERDUE, 3, || {
        let (shared, gone) = (Shared::new(), Rc::new(Cell::new(false)));
        shared.lock();
        let waiter = spawn({
            let gone = Rc::clone(&gone);
            move || {
                shared.lock_and_count();
                gone.set(true);
            }
        });
        while asleep() < 1 {
            Loom::yield_now();
        }
        shared.unlock();
        let again = shared.try_lock();
        while again && !gone.get() && asleep() < 1 {
            Loom::yield_now();
        }
        let between = spawn(move || shared.lock_and_count());
        if again {
            shared.count();
            shared.unlock();
        }
        shared.lock_and_count();
        join(waiter);
        join(between);
        shared.end(3 + u32::from(again));
    });
}

/// The request is for one mutex, and the owner of another mutex of the same bucket unlocks that one.
#[test]
fn of_another_lock_in_the_bucket() {
    explore(Setting { buckets: 1, ..OVERDUE }, 2, || {
        let (shared, other) = (Shared::new(), Shared::new());
        let others = one_sleeps_and_one_is_fast(shared);
        other.lock_and_count();
        others.into_iter().for_each(join);
        shared.end(4);
        other.end(1);
    });
}

/// What the owners of one execution know, in turn.
#[derive(Default)]
struct Known {
    /// Whether an owner has seen that it is to hand the lock over.
    asked: Cell<bool>,
    /// Whether the overdue thread has been the owner.
    served: Cell<bool>,
}

/// An owner that sees the request hands the lock over, so that no other thread locks in between. Parked
/// threads are overdue at all times here, so nothing but a handoff ends their sleep.
#[test]
fn the_owner_that_is_asked_serves_the_overdue_thread_next() {
    /// Owners of all executions that were asked: without one the scenario would show nothing.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    explore(OVERDUE, 2, || {
        let (shared, known) = (Shared::new(), Rc::new(Known::default()));
        // The first unlock of a bucket finds out which records ask for something: from then on the unlock mode tells.
        shared.lock();
        shared.unlock();
        let section = {
            let known = Rc::clone(&known);
            move || {
                shared.lock();
                // From now on an unlock can make the request.
                Loom::yield_now();
                assert!(
                    !known.asked.get() || known.served.get(),
                    "asked, and another thread locked next"
                );
                if !known.served.get() && sees_request(shared) {
                    known.asked.set(true);
                    ASKED.fetch_add(1, Ordering::Relaxed);
                }
                shared.unlock();
            }
        };
        shared.lock();
        let waiter = spawn(move || {
            shared.lock();
            known.served.set(true);
            shared.unlock();
        });
        while asleep() < 1 {
            Loom::yield_now();
        }
        let fast = spawn({
            let section = section.clone();
            move || {
                section();
                section();
            }
        });
        shared.unlock();
        // The owner that was asked unlocks now.
        Loom::yield_now();
        section();
        join(waiter);
        join(fast);
        shared.end(0);
    });
    assert_ne!(ASKED.load(Ordering::Relaxed), 0, "no owner was ever asked");
}
