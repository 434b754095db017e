//! The parker as programs use it.

use std::thread;
use std::time::Duration;

use ondeck::Parker;

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
