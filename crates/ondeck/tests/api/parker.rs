//! The parker as programs use it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::{Parker, Unparker};

use super::watchdog;

#[test]
fn a_token_that_is_given_before_is_not_lost_and_two_are_one() {
    let parker = Parker::new();
    parker.unparker().unpark();
    parker.unparker().unpark();
    parker.park();
    assert!(!parker.park_for(Duration::ZERO), "there was one token");
    parker.unparker().unpark();
    assert!(parker.park_for(Duration::ZERO));
}

/// Two threads give each other the token alternately.
#[test]
fn each_token_is_taken_once() {
    const TURNS: u32 = 5_000;
    let (parker, other) = (Parker::new(), Parker::new());
    let (to_first, to_other) = (parker.unparker().clone(), other.unparker().clone());
    let turns = AtomicU32::new(0);
    let play = |parker: Parker, to: Unparker, parity: u32| {
        for turn in 0..TURNS {
            parker.park();
            assert_eq!(turns.fetch_add(1, Ordering::Relaxed), 2 * turn + parity);
            to.unpark();
        }
    };
    let first = to_first.clone();
    watchdog::scope(|scope| {
        scope.spawn(|| play(parker, to_other, 0));
        scope.spawn(|| play(other, to_first, 1));
        first.unpark();
    });
    assert_eq!(turns.into_inner(), 2 * TURNS);
}

#[test]
fn it_can_be_sent_and_its_handle_shared() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let parker = is_send(Parker::new());
    is_shared(parker.unparker());
    let unparker = parker.unparker().clone();
    let waits = thread::spawn(move || parker.park());
    unparker.unpark();
    waits.join().expect("no panic");
    // The parker has been dropped.
    unparker.unpark();
}
