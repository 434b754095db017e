//! How much an unlock does after its store, as the unlock mode in the table says. Whether it has a full fence
//! cannot be seen, so these tests count the unlocks until the mode changes.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ondeck::Mutex;
use ondeck::parking::bucket_of;
use ondeck::platform::{Host, Native};

use crate::again::alone;
use crate::waiting::{poll_for, until_waited_for};

/// An unlock makes a fence, then looks.
const LOOK: usize = 0;
/// An unlock does nothing more.
const SKIP: usize = 1;
/// An unlock of a lock that has a record looks.
const SOME: usize = 2;

static MUTEX: Mutex<u32> = Mutex::new(0);

fn address<T>(mutex: &Mutex<T>) -> usize {
    std::ptr::from_ref(mutex).addr()
}

fn mode<T>(mutex: &Mutex<T>) -> usize {
    Native::unlock_mode(address(mutex)).load(Ordering::Relaxed)
}

/// Runs `test` alone, in a process that has two threads, where fences are asymmetric.
fn with_light_fences(test: impl FnOnce()) {
    alone(|| {
        if !Native::fences_are_asymmetric() {
            println!("skipped: needs membarrier");
            return;
        }
        poll_for(0);
        test();
    });
}

/// Unlocks, with no parked thread, until the word changes. Returns the number of unlocks, and the new word.
/// Fails after far more unlocks than are needed.
fn until_it_changes() -> (u32, usize) {
    let before = mode(&MUTEX);
    for unlocks in 1..10_000_000 {
        drop(MUTEX.lock());
        if mode(&MUTEX) != before {
            return (unlocks, mode(&MUTEX));
        }
    }
    panic!("it stays {before:#x}");
}

/// A thread parks for the mutex. Returns the word meanwhile.
fn while_one_is_parked(mutex: &Mutex<u32>) -> usize {
    thread::scope(|scope| {
        let guard = mutex.lock();
        scope.spawn(|| *mutex.lock() += 1);
        until_waited_for(mutex);
        let mode = mode(mutex);
        drop(guard);
        mode
    })
}

/// Longer than the time between two permissions to rely on heavy fences.
fn a_while() {
    thread::sleep(Duration::from_millis(2));
}

#[test]
fn where_no_thread_ever_parked_the_first_unlock_is_the_last_to_look() {
    with_light_fences(|| {
        assert_eq!(mode(&MUTEX), LOOK);
        assert_eq!(until_it_changes(), (1, SKIP));
        for _ in 0..1_000 {
            drop(MUTEX.lock());
        }
        assert_eq!(mode(&MUTEX), SKIP);
    });
}

#[test]
fn a_thread_that_parks_makes_the_unlocks_of_its_lock_look() {
    with_light_fences(|| {
        assert_eq!(while_one_is_parked(&MUTEX), LOOK, "nothing is known yet");
        assert_eq!(mode(&MUTEX), SOME, "its unlock has looked");
        for _ in 0..3 {
            assert_eq!(while_one_is_parked(&MUTEX), SOME);
        }
    });
}

#[test]
fn unlocks_that_find_no_thread_look_no_more_after_a_while() {
    with_light_fences(|| {
        assert_eq!(until_it_changes(), (1, SKIP));
        for _ in 0..3 {
            assert_eq!(while_one_is_parked(&MUTEX), SOME);
            a_while();
            let (unlocks, now) = until_it_changes();
            assert_eq!(now, SKIP);
            // About 8,000 unlocks are needed. They are counted by a random sample of one in 128, for 128
            // each: the bound is far from what chance explains.
            assert!(unlocks > 4_000, "after {unlocks}");
        }
    });
}

/// Two locks that share a bucket, and a third.
fn three_of_a_bucket() -> Vec<&'static Mutex<u32>> {
    let mutexes: &'static [Mutex<u32>] =
        (0..65_536).map(|_| Mutex::new(0)).collect::<Vec<_>>().leak();
    let place = bucket_of(address(&mutexes[0]));
    let three: Vec<_> = mutexes.iter().filter(|m| bucket_of(address(m)) == place).take(3).collect();
    assert_eq!(three.len(), 3);
    three
}

#[test]
fn threads_that_park_for_locks_of_one_bucket_share_its_word() {
    with_light_fences(|| {
        let [one, other, third] = three_of_a_bucket()[..] else { unreachable!() };
        drop(one.lock());
        assert_eq!(mode(one), SKIP);
        assert_eq!(while_one_is_parked(other), SOME);
        assert_eq!(while_one_is_parked(one), SOME);
        thread::scope(|scope| {
            let held = [one, other].map(|mutex| (mutex.lock(), scope.spawn(|| *mutex.lock() += 1)));
            until_waited_for(one);
            assert_eq!(while_one_is_parked(third), SOME);
            drop(held);
        });
        assert_eq!([one, other, third].map(|mutex| *mutex.lock()), [2, 2, 1]);
    });
}

#[test]
fn unlocks_fence_for_ever_where_there_are_no_light_fences() {
    alone(|| {
        if Native::fences_are_asymmetric() {
            println!("skipped: only where membarrier is refused");
            return;
        }
        poll_for(0);
        for _ in 0..2 {
            for _ in 0..30_000 {
                drop(MUTEX.lock());
            }
            assert_eq!(while_one_is_parked(&MUTEX), LOOK);
        }
    });
}
