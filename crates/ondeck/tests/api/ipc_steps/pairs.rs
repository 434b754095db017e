//! Two processes, each stopped at any step of its own. Then both are killed, or both go on.

use super::{NOTIFY_ALL, Operation, Owner, WAIT, What, World};
use crate::ipc::share;
use crate::stepped::step_by_step;
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
/// If they are not killed, the second goes on until it sleeps, then the first to its end. The second must have ended then,
/// or be woken.
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

/// Each stop of the first meets each third one of the second, because all of them take minutes on a busy machine.
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
