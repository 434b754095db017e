//! Actions that a thread performs once in a number of calls are also performed by short-lived
//! threads.

use std::thread;

use ondeck::platform::{Linux, Threads};

const COUNT: u32 = 128;

/// Returns the number of chosen calls out of the given number.
fn chosen(calls: u32) -> u32 {
    (0..calls).map(|_| u32::from(Linux::once_in(COUNT))).sum()
}

/// On average one call in 128 is chosen, 50 in total. Chance cannot explain values outside of the
/// bounds.
#[test]
fn threads_that_ask_a_few_times_are_chosen_now_and_then() {
    let threads = || thread::spawn(|| chosen(16)).join().expect("no panic");
    let chosen: u32 = (0..400).map(|_| threads()).sum();
    assert!((10..200).contains(&chosen), "{chosen} of 6,400");
}

/// One call in three, because that depends on all bits of a thread's generator. One in two depends
/// on 13 of them, in which two of 16 threads are alike by chance in every seventieth run.
#[test]
fn threads_that_begin_together_are_not_chosen_together() {
    let threads: Vec<_> =
        (0..16).map(|_| thread::spawn(|| (0..256).map(|_| Linux::once_in(3)).collect())).collect();
    let choices: Vec<Vec<bool>> =
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    for (place, one) in choices.iter().enumerate() {
        assert!(choices[..place].iter().all(|other| other != one), "two threads choose alike");
    }
}

/// Twice as often and half as often are fifty standard deviations away.
#[test]
fn a_thread_that_asks_often_is_chosen_as_often_as_it_says() {
    let chosen = chosen(128 * 10_000);
    assert!((5_000..20_000).contains(&chosen), "{chosen} instead of 10,000");
}
