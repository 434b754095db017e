//! What each thread does once in so many times happens in short-lived threads too.

use std::thread;

use ondeck::platform::{Host, Linux};

const COUNT: u32 = 128;

/// How often it is the time, in so many calls.
fn chosen(calls: u32) -> u32 {
    (0..calls).map(|_| u32::from(Linux::once_in(COUNT))).sum()
}

/// One call in eight threads is chosen, so that all of them would have to be unlucky 50 times over.
#[test]
fn threads_that_ask_a_few_times_are_chosen_now_and_then() {
    let threads = || thread::spawn(|| chosen(16)).join().expect("no panic");
    let chosen: u32 = (0..400).map(|_| threads()).sum();
    assert!((10..200).contains(&chosen), "{chosen} of 6,400");
}

#[test]
fn threads_that_begin_together_are_not_chosen_together() {
    let threads: Vec<_> =
        (0..16).map(|_| thread::spawn(|| (0..256).map(|_| Linux::once_in(2)).collect())).collect();
    let choices: Vec<Vec<bool>> =
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    for (place, one) in choices.iter().enumerate() {
        assert!(choices[..place].iter().all(|other| other != one), "two threads choose alike");
    }
}

/// Twice and half as often is fifty standard deviations away.
#[test]
fn a_thread_that_asks_often_is_chosen_as_often_as_it_says() {
    let chosen = chosen(128 * 10_000);
    assert!((5_000..20_000).contains(&chosen), "{chosen} instead of 10,000");
}
