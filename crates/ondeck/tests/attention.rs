//! How much a release looks around, by the byte of the table that says so.

#[path = "support/alone.rs"]
mod alone;

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use alone::{alone, poll_for, until_waited_for};
use ondeck::Mutex;
use ondeck::platform::{Host, Linux};

/// A release fences, then looks at the bucket.
const FENCED: u8 = 0;
/// A release does nothing more.
const SKIP: u8 = 1;
/// A release looks at the bucket without a fence.
const LIGHT: u8 = 2;

static MUTEX: Mutex<u32> = Mutex::new(0);

fn attention() -> u8 {
    Linux::attention((&raw const MUTEX).addr()).load(Ordering::Relaxed)
}

/// Runs `test` alone, in a process that has two threads, where fences are asymmetric.
fn with_light_fences(test: impl FnOnce()) {
    alone(|| {
        if !Linux::fences_are_asymmetric() {
            println!("skipped: needs membarrier");
            return;
        }
        poll_for(0);
        test();
    });
}

/// Releases that find nobody until the byte changes; says how many, and what it is then. Far more
/// than it takes are as good as none.
fn until_it_changes() -> (u32, u8) {
    let before = attention();
    for releases in 1..10_000_000 {
        drop(MUTEX.lock());
        if attention() != before {
            return (releases, attention());
        }
    }
    panic!("it stays {before}");
}

/// Somebody sleeps for the mutex; says what the byte is meanwhile.
fn while_one_sleeps() -> u8 {
    let guard = MUTEX.lock();
    let sleeper = thread::spawn(|| *MUTEX.lock() += 1);
    until_waited_for(&MUTEX);
    let attention = attention();
    drop(guard);
    sleeper.join().expect("no panic");
    attention
}

/// Longer than what limits how often heavy fences are relied on.
fn a_while() {
    thread::sleep(Duration::from_millis(2));
}

#[test]
fn where_nobody_ever_slept_the_first_release_is_the_last_to_look() {
    with_light_fences(|| {
        assert_eq!(attention(), FENCED);
        assert_eq!(until_it_changes(), (1, SKIP));
        for _ in 0..1_000 {
            drop(MUTEX.lock());
        }
        assert_eq!(attention(), SKIP);
    });
}

#[test]
fn who_sleeps_makes_releases_look_and_who_sleeps_again_makes_them_fence() {
    with_light_fences(|| {
        assert_eq!(until_it_changes(), (1, SKIP));
        assert_eq!(while_one_sleeps(), LIGHT);
        assert_eq!(while_one_sleeps(), FENCED);
        assert_eq!(while_one_sleeps(), FENCED);
    });
}

#[test]
fn releases_that_find_nobody_do_less_step_by_step() {
    with_light_fences(|| {
        assert_eq!(while_one_sleeps(), FENCED);
        for _ in 0..3 {
            a_while();
            // Steps of 128 are counted, 1 release in 128 by chance: these bounds are far off.
            let (releases, now) = until_it_changes();
            assert_eq!(now, LIGHT);
            assert!(releases > 200, "after {releases}");
            a_while();
            let (releases, now) = until_it_changes();
            assert_eq!(now, SKIP);
            assert!(releases > 4_000, "after {releases}");
            assert_eq!(while_one_sleeps(), LIGHT);
            assert_eq!(while_one_sleeps(), FENCED);
        }
    });
}

#[test]
fn who_sleeps_after_many_releases_leaves_them_without_a_fence() {
    with_light_fences(|| {
        assert_eq!(while_one_sleeps(), FENCED);
        a_while();
        assert_eq!(until_it_changes().1, LIGHT);
        for _ in 0..3 {
            // Some 8,000 are counted, where 1,000 are enough, and 20,000 would be too many.
            for _ in 0..8_000 {
                drop(MUTEX.lock());
            }
            assert_eq!(attention(), LIGHT);
            a_while();
            assert_eq!(while_one_sleeps(), LIGHT);
        }
        assert_eq!(while_one_sleeps(), FENCED);
    });
}

#[test]
fn releases_fence_for_ever_where_there_are_no_light_fences() {
    alone(|| {
        if Linux::fences_are_asymmetric() {
            println!("skipped: only where membarrier is refused");
            return;
        }
        poll_for(0);
        for _ in 0..2 {
            for _ in 0..30_000 {
                drop(MUTEX.lock());
            }
            assert_eq!(while_one_sleeps(), FENCED);
        }
    });
}
