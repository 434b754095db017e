//! Clocks, CPUs, threads.

use std::thread;
use std::time::Duration;

use ondeck::platform::{Native, Platform, Threads};

#[test]
fn the_clock_and_the_ticks_go_on() {
    let (now, ticks) = (Native::now(), Native::ticks());
    Native::sleep_nanos(3_000_000);
    assert!(Native::now() >= now.after(Duration::from_millis(3)));
    assert!(Native::ticks() > ticks);
}

/// A tick is short enough for the measurements of locks, and long enough that a machine word of
/// ticks does not wrap soon.
#[test]
fn ticks_have_a_rate_that_suits_a_machine_word() {
    let rate = Native::ticks_per_second();
    assert!(rate >= 1_000_000);
    // A minute is less than half of a machine word.
    assert!(u128::from(rate) * 60 < 1 << (usize::BITS - 1), "{rate}");
    let millisecond = Native::ticks_in(1_000_000) as u64;
    assert!((rate / 1_100..=rate / 900).contains(&millisecond), "{millisecond} of {rate}");
}

#[test]
fn there_is_a_cpu() {
    assert!(Native::cpus() >= 1);
    assert!(Native::parallelism() >= 1);
    Native::pause();
    Native::yield_now();
    let _ = (Native::cpu(), Native::node(), Native::priority());
}

/// Each thread makes its own choice.
#[test]
fn now_and_then_comes_now_and_then() {
    let chosen = || (0..10_000).filter(|_| Native::once_in(10)).count();
    for count in [chosen(), thread::spawn(chosen).join().unwrap()] {
        assert!((500..2_000).contains(&count), "{count}");
    }
}
