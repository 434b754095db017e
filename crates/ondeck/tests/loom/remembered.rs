//! Scenarios of the mutex again, with fewer switches but with all the orders that belong to them: loom
//! forgets some orders of one thread's load and another's write. See `support/loom_readers.rs`.

use crate::loom_platform::Setting;
use crate::mutex::{
    after_a_quiet_time, attempts, collision, fair_and_again, fair_unlocks, free_after_last_section,
    the_owner_comes_again, two_by_two, two_waiters,
};
use crate::request::owners;
use crate::scenario::{ASYMMETRIC, OVERDUE, POLLS, SLEEPS, explore};

fn explore_all(setting: Setting, preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    explore(Setting { remembers: true, ..setting }, preemptions, scenario);
}

#[test]
fn two_threads_that_sleep() {
    explore_all(SLEEPS, 2, two_by_two);
}

#[test]
fn two_threads_that_poll() {
    explore_all(POLLS, 2, two_by_two);
}

#[test]
fn two_threads_that_are_handed_the_lock() {
    explore_all(OVERDUE, 2, two_by_two);
}

#[test]
fn light_fences_are_enough() {
    explore_all(ASYMMETRIC, 2, after_a_quiet_time);
}

#[test]
fn two_waiters_that_sleep() {
    explore_all(SLEEPS, 1, two_waiters);
}

#[test]
fn two_waiters_that_poll() {
    explore_all(POLLS, 1, two_waiters);
}

#[test]
fn two_waiters_that_are_handed_the_lock() {
    explore_all(OVERDUE, 1, two_waiters);
}

#[test]
fn one_of_two_parked_threads_is_awake() {
    explore_all(SLEEPS, 1, the_owner_comes_again);
}

#[test]
fn two_mutexes_in_one_bucket() {
    explore_all(Setting { buckets: 1, ..SLEEPS }, 1, collision);
}

#[test]
fn attempts_exclude() {
    explore_all(SLEEPS, 2, attempts);
}

#[test]
fn the_last_of_two_frees_the_mutex() {
    explore_all(SLEEPS, 3, || free_after_last_section(2));
}

#[test]
fn a_fair_unlock_and_the_owner_comes_again() {
    explore_all(SLEEPS, 2, fair_and_again);
}

#[test]
fn fair_unlocks_to_parked_threads() {
    explore_all(SLEEPS, 1, fair_unlocks);
}

#[test]
fn fair_unlocks_to_threads_that_poll() {
    explore_all(POLLS, 1, fair_unlocks);
}

#[test]
fn owners_hand_the_lock_over() {
    explore_all(OVERDUE, 1, owners);
}
