//! Lock, unlock and attempts.

use ondeck::mutex::RawMutex;

use crate::guarded::{
    Does::{Attempt, Section},
    Passes::Never,
    at_once, beside_the_owner, freed_by_the_last, sections,
};
use crate::loom_platform::Setting;
use crate::scenario::{
    ASYMMETRIC, DUE, LATE, POLLS, SLEEPS, STALE, Shared, explored, together, until_asleep,
};

/// Each scenario on each machine, with bounds for two and for three threads.
macro_rules! on_each_machine {
    ($($name:ident $setting:expr, $two:literal, $three:literal;)*) => {$(
        mod $name {
            use super::*;

            explored! {
                fn two_threads on $setting, $two => || sections(RawMutex::new(), 2, &[2]);
                fn three_threads on $setting, $three => || sections(RawMutex::new(), 1, &[1, 1]);
                fn two_waiters on $setting, $three => || beside_the_owner(Shared::new(), Never, &[Section; 2], &[]);
                fn two_waiters_and_the_owner_comes_again on $setting, $three =>
                    || beside_the_owner(Shared::new(), Never, &[Section; 2], &[Section]);
                fn two_mutexes_in_one_bucket on Setting { buckets: 1, ..$setting }, $three => collision;
                fn the_last_of_two_frees_the_mutex on $setting, $two => || freed_by_the_last(Shared::new(), 2, 2);
                fn fair_unlocks_to_two_waiters on $setting, $three => fair_unlocks;
            }
        }
    )*};
}

on_each_machine! {
    asleep SLEEPS, 5, 3;
    polling POLLS, 5, 3;
    late LATE, 5, 3;
    taking_turns DUE, 5, 3;
    replaced STALE, 5, 3;
    with_light_fences ASYMMETRIC, 4, 2;
}

/// Two mutexes in one bucket, each wanted by a thread while another owns both.
fn collision() {
    let (a, b) = (Shared::new(), Shared::new());
    let both = move || {
        a.lock();
        b.lock();
        a.count();
        b.count();
        a.unlock();
        b.unlock();
    };
    together(both, [a, b].map(|shared| Box::new(move || _ = shared.section()) as _));
    a.end(2);
    b.end(2);
}

/// A fair unlock offers the lock to a parked thread, and a bump reacquires it.
fn fair_unlocks() {
    let shared = Shared::new();
    let fair = move || {
        shared.lock();
        shared.count();
        // SAFETY: this thread owns the mutex.
        unsafe { shared.raw().bump() };
        shared.count();
        // SAFETY: as above.
        unsafe { shared.raw().unlock_fair() };
    };
    let once = move || _ = shared.section();
    together(fair, [Box::new(once) as _, Box::new(once) as _]);
    shared.end(4);
}

fn fair_and_again() {
    let shared = Shared::new();
    shared.lock();
    let again = move || {
        shared.count();
        // SAFETY: this thread owns the mutex.
        unsafe { shared.raw().unlock_fair() };
        shared.section();
    };
    together(again, [Box::new(move || _ = shared.section()) as _]);
    shared.end(3);
}

/// An owner that locks again before the thread that it has woken runs: that thread asks for the
/// lock.
fn offered_to_the_heir() {
    let shared = Shared::new();
    shared.lock();
    let again = move || {
        until_asleep(1);
        shared.end_section(());
        (0..3).for_each(|_| _ = shared.section());
    };
    together(again, [Box::new(move || _ = shared.section()) as _]);
    shared.end(5);
}

/// The same, and the last of the two threads frees the mutex.
fn offered_to_the_heir_that_frees_it() {
    let shared = Shared::new();
    let again = move || (0..2).for_each(|_| shared.section_of(3));
    together(again, [Box::new(move || shared.section_of(3)) as _]);
}

explored! {
    fn an_owner_that_comes_again_and_again on SLEEPS, 4 => offered_to_the_heir;
    fn an_owner_that_comes_again_while_the_last_of_two_frees_the_mutex on SLEEPS, 5 => offered_to_the_heir_that_frees_it;
    /// Attempts exclude like acquisitions, and never wait.
    fn attempts_exclude on SLEEPS, 5 => || at_once(Shared::new(), &[Attempt; 2], &[&[Section]]);
    fn the_last_of_three_frees_the_mutex on SLEEPS, 3 => || freed_by_the_last(Shared::new(), 3, 3);
    /// A lock that was offered to a parked thread is not free for the next thread that arrives.
    fn a_fair_unlock_and_the_owner_comes_again on SLEEPS, 4 => fair_and_again;
    /// An offer expires: the owner that comes again takes the place of the thread.
    fn an_owner_that_comes_again_and_again_and_takes_an_offer_back on Setting { polls: false, ..STALE }, 3 =>
        offered_to_the_heir;
}
