//! The barrier as programs use it.

use std::thread;
use std::time::Duration;

use ondeck::Barrier;
use ondeck::parking;
use ondeck::platform::Native;

#[cfg(unix)]
use crate::copy::{Fork, fork};
use crate::line::until_waiting;
use crate::rest::until_at_rest;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn for_one_thread_or_none_it_lets_each_go_on_as_the_leader() {
    static BARRIER: Barrier = Barrier::new(1);
    assert_eq!(size_of::<Barrier>(), 8);
    for barrier in [&BARRIER, &Barrier::new(0)] {
        assert!(barrier.wait().is_leader() && barrier.wait().is_leader());
        assert!(barrier.wait_for(Duration::ZERO).is_some());
    }
}

/// The threads of one barrier of a bucket sleep on the bucket's word, and the threads of other
/// barriers on words in their nodes: each round wakes its own threads, whichever began first.
#[test]
fn barriers_of_one_bucket_do_not_disturb_each_other() {
    const ROUNDS: u32 = 200;
    let barriers: [Barrier; 2_048] = std::array::from_fn(|_| Barrier::new(3));
    let bucket = |barrier: &Barrier| parking::bucket_of((&raw const *barrier).addr());
    let pair = barriers.iter().enumerate().find_map(|(index, first)| {
        let second = barriers[index + 1..].iter().find(|second| bucket(second) == bucket(first));
        second.map(|second| [first, second])
    });
    let pair = pair.expect("there are more barriers than buckets");
    for [one, other] in [pair, [pair[1], pair[0]]] {
        thread::scope(|scope| {
            scope.spawn(|| one.wait());
            until_waiting(&raw const *one, 1);
            let threads =
                [0; 3].map(|_| scope.spawn(|| (0..ROUNDS).for_each(|_| _ = other.wait())));
            for thread in threads {
                thread.join().expect("no panic");
            }
            assert_eq!(parking::waiting::<Native>((&raw const *one).addr()), 1);
            scope.spawn(|| one.wait());
            one.wait();
        });
    }
    for barrier in pair {
        until_at_rest(barrier);
    }
}

/// One of two waiting threads gives up: the other one still needs two.
#[test]
fn a_thread_that_gives_up_leaves_the_others_waiting() {
    let barrier = Barrier::new(3);
    watchdog::scope(|scope| {
        scope.spawn(|| barrier.wait());
        until_waiting(&raw const barrier, 1);
        assert!(barrier.wait_for(SHORT).is_none());
        assert!(barrier.wait_for(SHORT).is_none(), "one has given up");
        scope.spawn(|| barrier.wait());
        barrier.wait();
    });
    until_at_rest(&raw const barrier);
}

#[test]
#[cfg(unix)]
fn the_child_of_a_fork_does_not_count_the_parents_threads() {
    let barrier = Barrier::new(2);
    watchdog::scope(|scope| {
        scope.spawn(|| barrier.wait());
        until_waiting(&raw const barrier, 1);
        fork(Fork::Library, || assert!(barrier.wait_for(SHORT).is_none()));
        barrier.wait();
    });
    until_at_rest(&raw const barrier);
}
