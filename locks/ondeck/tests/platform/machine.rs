//! Clocks and CPUs of the real machine.

use std::thread;
use std::time::Duration;

use ondeck::platform::{AffinityError, Estimates, Linux, Platform};

use crate::again::alone;

#[test]
fn both_clocks_advance_and_agree() {
    // Each reading of the ticks lies between two of the other clock, so that the bounds hold
    // however long the thread is switched out in between.
    let read = || (Linux::now(), Linux::ticks(), Linux::now());
    let (start, start_ticks, started) = read();
    thread::sleep(Duration::from_millis(20));
    let (stop, stop_ticks, stopped) = read();
    let (least, most) = (stop.since(started).as_nanos(), stopped.since(start).as_nanos());
    let ticks = u128::from(stop_ticks - start_ticks);
    let by_ticks = ticks * 1_000_000_000 / u128::from(Linux::ticks_per_second());
    // The rate is known to within a per cent.
    assert!(by_ticks * 101 >= least * 100, "{by_ticks} ns by ticks, at least {least} by the clock");
    assert!(by_ticks * 99 <= most * 100, "{by_ticks} ns by ticks, at most {most} by the clock");
}

#[test]
fn a_thread_runs_where_it_is_bound() {
    thread::spawn(|| {
        let usable = Linux::affinity();
        assert!(!usable.is_empty() && usable.is_sorted());
        assert!(Linux::parallelism() <= usable.len());
        let last = usable[usable.len() - 1];
        Linux::set_affinity(&[last]).expect("a CPU of our own mask");
        assert_eq!(Linux::affinity(), [last]);
        assert_eq!(Linux::parallelism(), 1);
    })
    .join()
    .expect("no panic");
}

#[test]
fn impossible_masks_are_refused_with_the_reason() {
    assert_eq!(Linux::set_affinity(&[]), Err(AffinityError::Empty));
    let error = Linux::set_affinity(&[1_000_000]).expect_err("no such CPU");
    assert_eq!(error, AffinityError::OutOfRange(1_000_000));
    assert!(error.to_string().contains("1000000"), "{error}");
    let offline =
        (0..8_000).rev().find(|cpu| !Linux::affinity().contains(cpu)).expect("not all of them");
    let error = Linux::set_affinity(&[offline]).expect_err("not online");
    assert!(error.to_string().contains("online"), "{error}");
}

/// Runs in a separate process, because waiters' measurements are for the whole process.
#[test]
fn what_waiters_measure_counts_for_all() {
    alone(measure);
}

fn measure() {
    assert_eq!(Linux::wake_ticks(), Linux::ticks_in(20_000));
    assert_eq!(Linux::transfer_ticks(), Linux::ticks_in(50));
    // Longer than the longest time that counts.
    (0..1_000).for_each(|_| Linux::note_transfer(usize::MAX));
    assert_eq!(Linux::transfer_ticks(), Linux::ticks_in(500));
    assert_eq!(Linux::wake_ticks(), Linux::ticks_in(20_000));
    (0..1_000).for_each(|_| Linux::note_wake(0));
    assert_eq!(Linux::wake_ticks(), Linux::ticks_in(2_000));
    assert_eq!(thread::spawn(Linux::wake_ticks).join().expect("no panic"), Linux::wake_ticks());
}
