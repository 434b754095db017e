//! Two processes, each stopped at any step of its own. Then both are killed, or both go on.

use std::mem::forget;
use std::sync::atomic::Ordering;

use super::{NOTIFY_ALL, Operation, Owner, WAIT, What, World};
use crate::asleep;
use crate::shared::{DIED, NUMBER, lock, share};
use crate::stepped::{At, Stepped, step_by_step, words};
use crate::watchdog;

/// The order in which the two go on to their stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The second goes on until it sleeps or is at its stop, then the first, then the second again.
    InTurn,
    /// The first goes on, then the second.
    OneByOne,
}

/// Two children go on to a stop each. Returns whether both have come there.
///
/// If they are not killed, the second goes on until it sleeps, then the first to its end. The
/// second must have ended then, or be woken.
fn one_run(operations: [&Operation; 2], what: What, order: Order, stops: [usize; 2]) -> [bool; 2] {
    let world = World::new();
    let of_second = World { first: share(), ..world };
    watchdog::scope(|scope| {
        let waiter = world.waiter(scope);
        let second_owns = operations[1].owner == Owner::Child;
        // The one that owns the mutex begins last.
        let early = second_owns.then(|| world.child(operations[0]));
        let second = of_second.child(operations[1]);
        let first = early.unwrap_or_else(|| world.child(operations[0]));
        let mut sleeper = None;
        let mut is_late = false;
        let mut first_goes_on = || {
            is_late = world.is_owner(&second);
            if world.is_owner(&first) {
                sleeper = Some(world.sleeper(scope));
            }
            first.to(stops[0], || ())
        };
        let mut first_is_there = (order == Order::OneByOne).then(&mut first_goes_on);
        let second_is_there = second.to(stops[1], || {
            first_is_there = first_is_there.or_else(|| Some(first_goes_on()));
        });
        let first_is_there = first_is_there.unwrap_or_else(first_goes_on);
        if what == What::Stopped {
            second.to(usize::MAX, || ());
            first.finish(|| ());
            // A waiter that came after the notification needs another.
            second.finish(|| {
                if is_late {
                    world.notify();
                }
            });
        }
        let was_owned = world.is_owner(&first) || world.is_owner(&second);
        // Both orders occur.
        if (stops[0] + stops[1]).is_multiple_of(2) {
            drop(first);
            drop(second);
        } else {
            drop(second);
            drop(first);
        }
        assert!(of_second.first.mutex.lock().is_err(), "its owner has ended");
        world.goes_on(was_owned, sleeper, Some(waiter));
        [first_is_there, second_is_there]
    })
}

/// Each stop of the first meets each third one of the second, because all of them take minutes on a
/// busy machine.
fn at_pairs_of_stops(operations: [&Operation; 2], what: What) {
    const STRIDE: usize = 3;
    for order in [Order::InTurn, Order::OneByOne] {
        let (mut stops, mut pairs) = ([0; 2], 0);
        loop {
            let are_there = one_run(operations, what, order, stops);
            pairs += 1;
            let [first, second] = stops;
            let next = [first + 1, (first + 1) % STRIDE];
            stops = if are_there[1] { [first, second + STRIDE] } else { next };
            if !are_there[0] {
                break;
            }
        }
        println!("{:?}, {what:?}, {order:?}: {pairs} pairs", operations.map(|each| each.name));
    }
}

#[test]
fn two_processes_may_be_killed_while_one_notifies_and_one_waits() {
    step_by_step(|| at_pairs_of_stops([&NOTIFY_ALL, &WAIT], What::Killed));
}

#[test]
fn two_processes_may_be_stopped_while_one_notifies_and_one_waits() {
    step_by_step(|| at_pairs_of_stops([&NOTIFY_ALL, &WAIT], What::Stopped));
}

/// The owner unlocks between any two of the last instructions of a thread before it sleeps. That
/// thread then locks, without a wake unless it has said in the word that it waits.
#[test]
fn no_thread_sleeps_at_a_mutex_that_was_unlocked_before_its_mark() {
    const WAITED: u32 = !(NUMBER | DIED);
    /// More than from its last attempt on, and fewer than from there to the next load of the word.
    const LAST: usize = 100;
    const EACH: usize = 3;
    let waiter = || {
        let shared = share();
        let word = &words(shared)[0];
        word.store(asleep::name(), Ordering::Relaxed);
        // So that no instruction of the body is a thread's first.
        let before = || drop(lock(share()));
        (word, Stepped::start(&[words(shared)], before, |()| forget(lock(shared))))
    };
    step_by_step(|| {
        let (_, child) = waiter();
        let mut all = 0;
        while child.instruction() == At::Stop {
            all += 1;
        }
        for instructions in (all - LAST..all).step_by(EACH) {
            let (word, child) = waiter();
            assert!((0..instructions).all(|_| child.instruction() == At::Stop));
            let is_waiting = word.fetch_and(!NUMBER, Ordering::Relaxed) & WAITED != 0;
            child.finish(|| assert!(is_waiting, "{instructions} of {all} instructions"));
        }
    });
}
