//! Several CPUs: a release wakes who last ran on another one.

use ondeck::platform::Platform;

use crate::loom_platform::{Loom, Setting, asleep, join, spawn};
use crate::mutex::{collision, two_by_two, two_waiters};
use crate::scenario::{POLLS, SLEEPS, Shared, explore};

/// The first thread runs on one, those that it starts on the other and on its own in turn.
const TWO_CPUS: Setting = Setting { cpus: 2, ..SLEEPS };

/// So many sleep when the first thread releases the mutex; says who had it when.
fn turns<const SLEEPERS: usize>() -> [u32; SLEEPERS] {
    let shared = Shared::new();
    shared.lock();
    let sleepers = [0; SLEEPERS].map(|_| {
        spawn(move || {
            shared.lock();
            let turn = shared.count();
            shared.unlock();
            turn
        })
    });
    while asleep() < SLEEPERS {
        Loom::yield_now();
    }
    shared.count();
    shared.unlock();
    let turns = sleepers.map(join);
    shared.end(1 + SLEEPERS as u32);
    turns
}

#[test]
fn who_is_elsewhere_is_woken_first() {
    explore(TWO_CPUS, 3, || {
        let [there, here] = turns();
        assert!(there < here);
    });
}

/// Two are elsewhere, in any order with the one that is not.
#[test]
fn one_of_those_elsewhere_is_woken_first() {
    explore(TWO_CPUS, 1, || {
        let [there, here, there_too] = turns();
        assert!(there.min(there_too) < here);
    });
}

#[test]
fn two_threads_that_sleep_on_two_cpus() {
    explore(TWO_CPUS, 3, two_by_two);
}

#[test]
fn two_waiters_on_two_cpus() {
    explore(TWO_CPUS, 2, two_waiters);
}

#[test]
fn two_waiters_that_poll_on_two_cpus() {
    explore(Setting { cpus: 2, ..POLLS }, 1, two_waiters);
}

/// Who is elsewhere waits for the other mutex: it is not woken for this one.
#[test]
fn two_mutexes_in_one_bucket_on_two_cpus() {
    explore(Setting { buckets: 1, ..TWO_CPUS }, 2, collision);
}
