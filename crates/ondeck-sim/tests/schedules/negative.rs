//! The tool catches the faults that it is made for, and nothing else.

use ondeck_sim::check::{Failure, Scenario, check, replay};
use ondeck_zoo::{RawLock, Visitor};

use super::broken::{
    HANDOFF_TO_NOBODY, NO_RECHECK, NO_WAKE, NOT_ATOMIC, NOWHERE, ThreeStates, WAITERS_FORGOTTEN,
};
use super::mutexes::Mutexes;
use super::peterson::{Peterson, Side};
use ondeck_sim::engine::Sim;

const SEEDS: std::ops::Range<u64> = 1..400;

/// The scenario with that name for a lock.
fn scenario<L: RawLock<Sim>>(what: &str) -> Scenario {
    let mut mutexes = Mutexes::default();
    mutexes.visit::<L>();
    let name = format!("broken/{what}");
    mutexes.0.into_iter().find(|scenario| scenario.name == name).expect("a scenario of each lock")
}

/// Returns the error of a broken lock, after the schedule has repeated the failure.
fn caught(scenario: &Scenario) -> String {
    let failure = check(scenario, SEEDS).expect_err("the lock is broken");
    let Failure { what, recent, .. } = &*failure;
    let again = replay(scenario, &failure.schedule).expect_err("the same schedule");
    assert_eq!((&again.what, &again.recent), (what, recent));
    assert!(!recent.is_empty());
    let text = failure.to_string();
    let seed = failure.schedule.seed;
    let command = format!("ci/schedules.sh --only {} --seed {seed}\n", scenario.name);
    assert!(text.contains(&command), "{text}");
    what.clone()
}

fn caught_in<const BROKEN: u8>() -> String {
    caught(&scenario::<ThreeStates<Sim, BROKEN>>("sections"))
}

const SLEEP: &str = "all threads that are left sleep, and none wakes them";
const TOGETHER: &str = "two threads are inside at the same time";

#[test]
fn a_lock_that_is_right_is_not_accused() {
    for what in ["sections", "condvar"] {
        let checked =
            check(&scenario::<ThreeStates<Sim, NOWHERE>>(what), SEEDS).expect("it is right");
        assert_eq!(checked.runs, SEEDS.end - SEEDS.start);
    }
}

#[test]
fn a_lock_that_is_broken_in_one_place_is_caught_for_that() {
    let caught = [
        (caught_in::<NOT_ATOMIC>(), TOGETHER),
        (caught_in::<NO_RECHECK>(), SLEEP),
        (caught_in::<NO_WAKE>(), SLEEP),
        (caught_in::<WAITERS_FORGOTTEN>(), SLEEP),
    ];
    for (what, expected) in caught {
        assert_eq!(what, expected);
    }
    let what = caught_in::<HANDOFF_TO_NOBODY>();
    let left = "a mark is left in the lock when all threads have ended";
    assert!(what == SLEEP || what == left, "{what}");
}

/// A scenario of two threads, which is what Peterson's lock supports.
fn two<const FENCED: bool>() -> Scenario {
    use ondeck_sim::engine::Job;
    use std::rc::Rc;

    Scenario::new("two/sections".to_owned(), |judge| {
        let lock = Rc::new(Peterson::<FENCED>::new());
        let job = |_| {
            let (lock, judge) = (lock.clone(), judge.clone());
            let body = move || {
                let side = Side::default();
                for _ in 0..20 {
                    // SAFETY: the context stays here and serves one acquisition at a time.
                    unsafe { lock.lock(&side) };
                    judge.alone(|| Sim::work(300.0));
                    // SAFETY: acquired above with this context.
                    unsafe { lock.unlock(&side) };
                }
            };
            Job { allowed: None, body: Box::new(body) }
        };
        (0..2).map(job).collect()
    })
}

#[test]
fn a_missing_fence_is_caught_and_the_fence_is_enough() {
    assert_eq!(caught(&two::<false>()), TOGETHER);
    check(&two::<true>(), SEEDS).expect("it is right");
}
