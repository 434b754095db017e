//! A lock that is handed over on demand: a sleeper is overdue, and others are always faster.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;

use loom::thread::JoinHandle;
use ondeck::platform::{AtomicInt, Host, Ordering, Platform};

use crate::loom_platform::{Loom, Setting, asleep, join, spawn, watch};
use crate::scenario::{ASYMMETRIC, OVERDUE, Shared, explore};

/// Whether the caller sees that the owner is asked to hand the lock over: its own unlock, if it comes
/// next, sees that too.
fn sees_request(shared: &Shared) -> bool {
    /// No lock of the bucket has a record.
    const SKIP: usize = 1;
    Loom::unlock_mode(shared.address()).load(Ordering::Relaxed) != SKIP
        && watch::sees_request(shared.address())
}

/// One sleeps, and another comes, twice, just when the caller releases the mutex. Four sections in all:
/// who hands the lock over and comes again must not find it free.
fn one_sleeps_and_one_is_fast(shared: &'static Shared) -> [JoinHandle<()>; 2] {
    shared.lock();
    let sleeper = spawn(move || shared.lock_and_count());
    while asleep() < 1 {
        Loom::yield_now();
    }
    let fast = spawn(move || {
        shared.lock_and_count();
        shared.lock_and_count();
    });
    shared.count();
    shared.unlock();
    [sleeper, fast]
}

/// The caller comes again, and may be the one that was faster than the sleeper.
pub fn owners() {
    let shared = Shared::new();
    let others = one_sleeps_and_one_is_fast(shared);
    shared.lock_and_count();
    others.into_iter().for_each(join);
    // Whoever was asked after the sleeper had gone has nobody to hand the lock to.
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

/// A sleeper is overdue and has competed in vain. An unlock hands it the lock that another thread has had since
/// the unlock's store, or asks that one for it; the caller then comes again.
#[test]
fn an_owner_in_between_is_seen() {
    explore(OVERDUE, 3, || {
        let (shared, gone) = (Shared::new(), Rc::new(Cell::new(false)));
        shared.lock();
        let sleeper = spawn({
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
        join(sleeper);
        join(between);
        shared.end(3 + u32::from(again));
    });
}

/// The demand is for one mutex; the owner of another of the same bucket releases that.
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
    /// An owner has seen that it is to hand the lock over.
    asked: Cell<bool>,
    /// The sleeper has been the owner.
    served: Cell<bool>,
}

/// An owner that sees the demand hands the lock over: whoever is fast does not come in between. With
/// every sleeper overdue at all times nothing but a handover ends the sleep.
#[test]
fn whoever_is_asked_serves_the_sleeper_next() {
    /// Owners of all executions that were asked: the scenario is about something.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    explore(OVERDUE, 2, || {
        let (shared, known) = (Shared::new(), Rc::new(Known::default()));
        let section = {
            let known = Rc::clone(&known);
            move || {
                shared.lock();
                // Whoever releases gets to ask now.
                Loom::yield_now();
                assert!(!known.asked.get() || known.served.get(), "asked, and another came next");
                if !known.served.get() && sees_request(shared) {
                    known.asked.set(true);
                    ASKED.fetch_add(1, Ordering::Relaxed);
                }
                shared.unlock();
            }
        };
        shared.lock();
        let sleeper = spawn(move || {
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
        // Whoever was asked releases now.
        Loom::yield_now();
        section();
        join(sleeper);
        join(fast);
        shared.end(0);
    });
    assert_ne!(ASKED.load(Ordering::Relaxed), 0, "nobody was ever asked");
}
