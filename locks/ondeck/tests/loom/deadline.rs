//! Deadlines: they pass while a waiter is awake, asleep, woken, or handed the lock.

use std::cell::Cell;
use std::rc::Rc;

use ondeck::platform::Platform;

use crate::guarded::{
    Does::{self, Section, Until},
    Passes::{self, After, Anytime, Before},
    beside_the_owner,
};
use crate::loom_platform::{Loom, Setting, join, pass_time, spawn};
use crate::scenario::{ASYMMETRIC, LATE, POLLS, SLEEPS, Shared, explored, until_asleep};

/// The first thread owns the mutex when the others come.
fn scenario(passes: Passes, waiters: &'static [Does]) {
    beside_the_owner(Shared::new(), passes, waiters, &[]);
}

fn while_the_mutex_is_owned() {
    let shared = Shared::new();
    shared.lock();
    let waiter = spawn(move || shared.section_until());
    pass_time(1);
    assert_eq!(join(waiter), 0);
    shared.end_section(());
    shared.end(1);
}

fn woken_beside_the_owner() {
    let shared = Shared::new();
    let gone = Rc::new(Cell::new(false));
    shared.lock();
    let patient = spawn(move || shared.section());
    until_asleep(1);
    let hurried = spawn({
        let gone = Rc::clone(&gone);
        move || {
            let sections = shared.section_until();
            gone.set(true);
            sections
        }
    });
    until_asleep(2);
    shared.unlock();
    let again = shared.raw().try_lock();
    pass_time(1);
    while !gone.get() {
        Loom::yield_now();
    }
    if again {
        shared.end_section(());
    }
    let sections = join(hurried);
    join(patient);
    shared.end(1 + u32::from(again) + sections);
}

explored! {
    fn passes_at_any_time_asleep on SLEEPS, 5 => || scenario(Anytime, &[Until]);
    fn passes_at_any_time_polling on POLLS, 4 => || scenario(Anytime, &[Until]);
    fn passes_at_any_time_late on LATE, 5 => || scenario(Anytime, &[Until]);
    fn passes_at_any_time_beside_another on SLEEPS, 2 => || scenario(Anytime, &[Until, Section]);
    /// Another thread also waits. If no other thread is responsible for it, the thread that gives
    /// up wakes it.
    fn before_the_unlock_another_waits on SLEEPS, 3 => || scenario(Before, &[Until, Section]);
    fn before_the_unlock_another_waits_polling on POLLS, 3 => || scenario(Before, &[Until, Section]);
    fn after_the_unlock_another_waits on SLEEPS, 3 => || scenario(After, &[Until, Section]);
    fn after_the_unlock_another_waits_polling on POLLS, 3 => || scenario(After, &[Until, Section]);
    fn another_waits_with_light_fences on Setting { polls: true, ..ASYMMETRIC }, 3 => || scenario(After, &[Until, Section]);
    fn two_deadlines_at_once on LATE, 3 => || scenario(Before, &[Until, Until]);
    /// A woken waiter finds the mutex locked again when its deadline passes. The mutex stays locked
    /// until the wait is over, which therefore ends without it.
    fn ends_while_the_mutex_is_owned on POLLS, 6 => while_the_mutex_is_owned;
    /// A woken thread finds the mutex locked again, and its deadline has passed. Another thread is
    /// parked.
    fn a_woken_thread_gives_up_beside_the_owner on SLEEPS, 2 => woken_beside_the_owner;
}
