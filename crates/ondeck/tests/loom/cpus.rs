//! Several CPUs: an unlock wakes a thread that last ran on another CPU.

use ondeck::platform::Platform;

use crate::loom_platform::{Loom, Setting, asleep, join, spawn};
use crate::mutex::{collision, two_by_two, two_waiters};
use crate::scenario::{POLLS, SLEEPS, Shared, explore};

/// The first thread runs on one CPU, and the threads that it starts run on the other CPU and on this one in
/// turn.
const TWO_CPUS: Setting = Setting { cpus: 2, ..SLEEPS };

/// So many threads are parked when the first thread unlocks the mutex. Returns at which turn each had the
/// mutex.
fn turns<const WAITERS: usize>() -> [u32; WAITERS] {
    let shared = Shared::new();
    shared.lock();
    let waiters = [0; WAITERS].map(|_| {
        spawn(move || {
            shared.lock();
            let turn = shared.count();
            shared.unlock();
            turn
        })
    });
    while asleep() < WAITERS {
        Loom::yield_now();
    }
    shared.count();
    shared.unlock();
    let turns = waiters.map(join);
    shared.end(1 + WAITERS as u32);
    turns
}

#[test]
fn a_thread_that_ran_elsewhere_is_woken_first() {
    explore(TWO_CPUS, 3, || {
        let [there, here] = turns();
        assert!(there < here);
    });
}

/// Two threads ran on the other CPU, and one on the first thread's, in any order.
#[test]
fn one_of_the_threads_that_ran_elsewhere_is_woken_first() {
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

/// The thread that ran on the other CPU waits for the other mutex: an unlock of this one does not wake it.
#[test]
fn two_mutexes_in_one_bucket_on_two_cpus() {
    explore(Setting { buckets: 1, ..TWO_CPUS }, 2, collision);
}
