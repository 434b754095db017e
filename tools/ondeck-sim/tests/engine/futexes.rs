//! Waits in the kernel.

use std::cell::{Cell, RefCell};

use ondeck::platform::{AtomicInt, FutexWait, Ordering, Platform, Timestamp};
use ondeck_sim::engine::{End, Sim};

use super::machine::{
    Apart, SWITCH, WAKE_LATENCY, Word32, cores, free, leaked, machine, meet, nanos, now, on, run,
    run_disturbed, word, word32,
};

#[test]
fn two_threads_wake_each_other() {
    const ROUNDS: u32 = 200;
    for disturbed in [false, true] {
        for seed in 0..if disturbed { 40 } else { 1 } {
            let turn = word32(0);
            let player = |me: u32| {
                on(me as usize, move || {
                    for round in 0..ROUNDS {
                        let mine = 2 * round + me;
                        loop {
                            let now = turn.0.load(Ordering::Acquire);
                            if now == mine {
                                break;
                            }
                            let _ = Sim::futex_wait(&turn.0, now, None);
                        }
                        turn.0.store(mine + 1, Ordering::Release);
                        Sim::futex_wake(&raw const turn.0, 1);
                    }
                })
            };
            let (costs, players) = (cores(2), vec![player(0), player(1)]);
            let ran =
                if disturbed { run_disturbed(&costs, seed, players) } else { run(&costs, players) };
            assert_eq!(ran.end, End::Done, "seed {seed}: {:?}", ran.stuck);
            let turn_takes = nanos(ran.time) / f64::from(2 * ROUNDS);
            let least = 700.0 + WAKE_LATENCY + SWITCH;
            assert!(
                turn_takes > least && (disturbed || turn_takes < least + 800.0),
                "{turn_takes}"
            );
        }
    }
}

#[test]
fn no_wake_that_follows_a_change_is_lost() {
    for seed in 0..500 {
        let flag = word32(0);
        let waiter = |_| {
            free(move || {
                while flag.0.load(Ordering::Acquire) == 0 {
                    let _ = Sim::futex_wait(&flag.0, 0, None);
                }
            })
        };
        let waker = free(move || {
            meet(3_000);
            flag.0.store(1, Ordering::Release);
            Sim::futex_wake(&raw const flag.0, 99);
        });
        let ran = run_disturbed(&cores(4), seed, (0..6).map(waiter).chain([waker]).collect());
        assert_eq!(ran.end, End::Done, "seed {seed}: {:?}", ran.stuck);
    }
}

#[test]
fn a_wake_ends_as_many_waits_as_it_says_the_oldest_first() {
    let flag = word32(0);
    let order = leaked(RefCell::new(Vec::new()));
    let waiter = |cpu| {
        on(cpu, move || {
            meet(10_000 * cpu as u64);
            assert_eq!(Sim::futex_wait(&flag.0, 7, None), FutexWait::Mismatch);
            assert_eq!(Sim::futex_wait(&flag.0, 0, None), FutexWait::Woken);
            order.borrow_mut().push(cpu);
        })
    };
    let waker = on(0, move || {
        meet(100_000);
        for (count, woken) in [(0, 0), (2, 2), (9, 2), (9, 0)] {
            assert_eq!(Sim::futex_wake(&raw const flag.0, count), woken);
            Sim::work(20_000.0);
            assert_eq!(order.borrow().len(), if count == 0 { 0 } else { count.min(4) as usize });
        }
    });
    let ran = run(&cores(5), std::iter::once(waker).chain((1..5).map(waiter)).collect());
    assert_eq!((ran.end, order.borrow().as_slice()), (End::Done, [1, 2, 3, 4].as_slice()));
}

#[test]
fn waiters_of_other_words_sleep_on() {
    // More words than buckets.
    let words = leaked((0..40).map(|_| word32(0)).collect::<Vec<_>>());
    let woken = leaked(Cell::new(0));
    let waiter = |index: usize| {
        free(move || {
            assert_eq!(Sim::futex_wait(&words[index].0, 0, None), FutexWait::Woken);
            woken.set(woken.get() + 1);
        })
    };
    let waker = on(0, move || {
        meet(1_000_000);
        for (index, word) in words.iter().enumerate() {
            assert_eq!(Sim::futex_wake(&raw const word.0, 99), 1);
            Sim::work(100_000.0);
            assert_eq!(woken.get(), index + 1);
        }
    });
    let ran = run(&cores(4), (0..40).map(waiter).chain([waker]).collect());
    assert_eq!(ran.end, End::Done, "{:?}", ran.stuck);
    assert!(ran.buckets.0 >= 80, "{:?}", ran.buckets);
}

#[test]
fn a_deadline_ends_a_wait_once_and_a_wake_ends_a_deadline() {
    let flag = word32(0);
    let until = |nanos| Some(Timestamp::from_nanos(nanos));
    let sleeper = on(0, move || {
        assert_eq!(Sim::futex_wait(&flag.0, 0, until(300_000)), FutexWait::TimedOut);
        // With the timer's slack.
        assert!((350_000..354_000).contains(&now()), "{}", now());
        assert_eq!(Sim::futex_wait(&flag.0, 0, until(1_000)), FutexWait::TimedOut);
        assert_eq!(Sim::futex_wait(&flag.0, 0, until(900_000)), FutexWait::Woken);
        assert!((500_000..510_000).contains(&now()), "{}", now());
        // The deadline of the previous wait passes during this one.
        assert_eq!(Sim::futex_wait(&flag.0, 0, until(u64::MAX)), FutexWait::Woken);
        assert!(now() >= 2_000_000, "{}", now());
    });
    let waker = on(1, move || {
        for at in [500_000, 2_000_000] {
            meet(at);
            assert_eq!(Sim::futex_wake(&raw const flag.0, 1), 1);
        }
    });
    assert_eq!(run(&cores(2), vec![sleeper, waker]).end, End::Done);
}

#[test]
fn waiters_are_moved_with_their_deadlines() {
    let (from, to) = (word32(0), word32(0));
    let outcomes = leaked(RefCell::new(Vec::new()));
    let waiter = |cpu: usize, deadline: Option<u64>| {
        on(cpu, move || {
            meet(10_000 * cpu as u64);
            let outcome = Sim::futex_wait(&from.0, 0, deadline.map(Timestamp::from_nanos));
            outcomes.borrow_mut().push((cpu, outcome));
        })
    };
    let mover = on(0, move || {
        meet(100_000);
        let (from, to) = (&from.0, &raw const to.0);
        assert_eq!(Sim::futex_requeue(from, 1, 1, to, 9), None);
        assert_eq!(Sim::futex_requeue(from, 0, 1, to, 9), Some(4));
        assert_eq!(Sim::futex_wake(&raw const *from, 9), 0);
        meet(600_000);
        assert_eq!(Sim::futex_wake(to, 1), 1);
        meet(700_000);
        assert_eq!(Sim::futex_wake(to, 9), 1);
    });
    let deadlines = [None, None, Some(500_000), Some(5_000_000)];
    let waiters = (1..).zip(deadlines).map(|(cpu, deadline)| waiter(cpu, deadline));
    let ran = run(&cores(5), std::iter::once(mover).chain(waiters).collect());
    assert_eq!(ran.end, End::Done, "{:?}", ran.stuck);
    let (woken, late) = (FutexWait::Woken, FutexWait::TimedOut);
    assert_eq!(*outcomes.borrow(), [(1, woken), (3, late), (2, woken), (4, woken)]);
}

#[test]
fn threads_wait_for_the_lock_of_a_bucket() {
    let flag = word32(0);
    let waiter = |cpu| {
        on(cpu, move || {
            meet(20_000);
            let _ = Sim::futex_wait(&flag.0, 0, Some(Timestamp::from_nanos(100_000)));
        })
    };
    let ran = run(&machine([1, 1, 8, 1]), (0..8).map(waiter).collect());
    let (operations, queued) = ran.buckets;
    // Each waits for the earlier ones, with their 50 ns and the line's 40.
    assert_eq!(operations, 8);
    assert!(nanos(queued) > 7.0 * 4.0 * 80.0, "{}", nanos(queued));
}

#[test]
fn a_wake_of_a_word_that_is_gone_touches_nothing() {
    let gone = Box::new(Apart(Word32::new(0)));
    let address = &raw const gone.0;
    drop(gone);
    let other = word(0);
    let ran = run(
        &cores(1),
        vec![free(move || {
            assert_eq!(Sim::futex_wake(address, 1), 0);
            other.0.swap(1, Ordering::Relaxed);
        })],
    );
    assert_eq!(ran.end, End::Done);
}
