//! The semaphore as programs use it.

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use ondeck::Semaphore;
use ondeck::parking;
use ondeck::platform::Native;
use ondeck::semaphore::MOST_PERMITS;

#[cfg(unix)]
use crate::copy::{Fork, fork};
use crate::line::until_waiting;
use crate::rest::until_at_rest;
use crate::until::until;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

/// Returns a semaphore whose threads compete, and a fair one.
fn both(permits: u32) -> [Semaphore; 2] {
    [Semaphore::new(permits), Semaphore::fair(permits)]
}

fn end(semaphore: &Semaphore, available: u32) {
    assert_eq!(semaphore.available(), available);
    until_at_rest(&raw const *semaphore);
}

#[test]
fn it_is_four_bytes_and_constant() {
    static SEMAPHORES: [Semaphore; 2] = [Semaphore::new(3), Semaphore::fair(3)];
    assert_eq!(size_of::<Semaphore>(), 4);
    for semaphore in &SEMAPHORES {
        assert!(semaphore.try_acquire_many(2) && semaphore.try_acquire());
        assert!(!semaphore.try_acquire());
        assert!(semaphore.try_acquire_many(0), "nothing is always there");
        semaphore.release(3);
        semaphore.acquire();
        semaphore.acquire_many(2);
        semaphore.release(3);
        end(semaphore, 3);
    }
}

/// Other threads acquire before a thread that wants more permits than there are. After it has
/// waited for long, released permits are kept for it.
#[test]
fn a_large_request_gets_its_permits_after_a_while() {
    let semaphore = Semaphore::new(2);
    // Asserted at the end, because the thread waits until it has its permits.
    let mut acquired = Vec::new();
    watchdog::scope(|scope| {
        scope.spawn(|| semaphore.acquire_many(3));
        until_waiting(&raw const semaphore, 1);
        acquired.push(semaphore.try_acquire());
        thread::sleep(SHORT);
        semaphore.release(1);
        acquired.push(semaphore.try_acquire());
        semaphore.release(if acquired[1] { 2 } else { 1 });
    });
    assert_eq!(acquired, [true, false]);
    end(&semaphore, 0);
}

/// A fair semaphore grants in order, even if a later request could be met and the first could not.
#[test]
fn a_large_request_is_not_passed_over() {
    let (semaphore, order) = (Semaphore::fair(2), Mutex::new(Vec::new()));
    let request = |permits| {
        semaphore.acquire_many(permits);
        order.lock().expect("no panic").push(permits);
    };
    // Asserted at the end, because the first waits until it has its permits.
    let mut barged = false;
    watchdog::scope(|scope| {
        scope.spawn(|| request(3));
        until_waiting(&raw const semaphore, 1);
        let second = scope.spawn(|| request(1));
        let waiting = || parking::waiting::<Native>((&raw const semaphore).addr());
        until(|| waiting() == 2 || second.is_finished());
        if second.is_finished() {
            barged = true;
            return semaphore.release(2);
        }
        assert!(!semaphore.try_acquire(), "two permits are kept for the first");
        assert!(!semaphore.try_acquire_for(SHORT));
        semaphore.release(1);
        // The first was granted three: none is left for the second.
        until_waiting(&raw const semaphore, 1);
        assert_eq!(semaphore.available(), 0);
        until(|| !order.lock().expect("no panic").is_empty());
        semaphore.release(1);
    });
    assert!(!barged, "the second passed the first");
    assert_eq!(order.into_inner().expect("no panic"), [3, 1]);
    end(&semaphore, 0);
}

#[test]
fn one_release_grants_to_many() {
    for semaphore in both(0) {
        watchdog::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| semaphore.acquire());
            }
            until_waiting(&raw const semaphore, 20);
            semaphore.release(23);
        });
        end(&semaphore, 3);
    }
}

#[test]
fn too_many_permits_are_refused_and_named() {
    let semaphore = Semaphore::new(MOST_PERMITS - 1);
    let message = |result: thread::Result<()>| {
        let panic = result.expect_err("it is refused");
        panic.downcast::<String>().map_or_else(|_| String::new(), |message| *message)
    };
    let refused = message(catch_unwind(|| semaphore.release(2)));
    assert!(refused.contains("2 permits beside 536870910"), "{refused}");
    let refused = message(catch_unwind(|| semaphore.acquire_many(MOST_PERMITS + 1)));
    assert!(refused.contains("536870912 permits"), "{refused}");
    assert!(catch_unwind(|| Semaphore::new(MOST_PERMITS + 1)).is_err());
    semaphore.release(1);
    end(&semaphore, MOST_PERMITS);
}

/// The waiting thread is the parent's, and does not exist in the child.
#[test]
#[cfg(unix)]
fn the_child_of_a_fork_does_not_wait_behind_the_parents_threads() {
    for semaphore in both(1) {
        watchdog::scope(|scope| {
            scope.spawn(|| semaphore.acquire_many(2));
            until_waiting(&raw const semaphore, 1);
            fork(Fork::Library, || {
                semaphore.acquire();
                semaphore.release(1);
                semaphore.release(1);
                semaphore.acquire_many(2);
            });
            semaphore.release(1);
        });
        end(&semaphore, 0);
    }
}
