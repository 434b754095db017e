//! The event as programs use it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use ondeck::platform::Native;
use ondeck::{Event, parking};

#[cfg(unix)]
use crate::copy::{Fork, fork};
use crate::line::until_waiting;
use crate::rest::until_at_rest;

use super::watchdog;

#[test]
fn it_is_one_byte_and_stays_set_until_it_is_reset() {
    static EVENT: Event = Event::new();
    assert_eq!(size_of::<Event>(), 1);
    assert!(!EVENT.is_set() && !EVENT.reset());
    EVENT.set();
    EVENT.set();
    EVENT.wait();
    assert!(EVENT.is_set() && EVENT.wait_for(Duration::ZERO));
    assert!(EVENT.reset() && !EVENT.reset());
    assert!(!EVENT.is_set());
}

#[test]
fn a_set_wakes_all_that_wait_even_if_it_is_reset_at_once() {
    let event = Event::new();
    for _ in 0..50 {
        watchdog::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| event.wait());
            }
            until_waiting(&raw const event, 4);
            assert!(!event.reset(), "it is not set, and threads still wait");
            event.set();
            assert!(event.reset());
        });
    }
    until_at_rest(&raw const event);
}

/// A lock is not a key, although the address of the first field of a structure is also the
/// structure's address.
#[test]
fn a_thread_that_waits_is_not_unparked_by_its_address() {
    let event = Event::new();
    watchdog::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| event.wait());
        }
        until_waiting(&raw const event, 2);
        // SAFETY: no other code uses the address of a local variable as a key.
        let unparked =
            unsafe { parking::unpark::<Native>((&raw const event).addr(), 2, |_, _| ()) };
        assert_eq!(unparked, 0);
        event.set();
    });
}

/// The consumer resets, checks for items, and waits: no item is forgotten.
#[test]
fn what_was_there_before_a_set_is_seen_after_the_reset() {
    const ITEMS: u32 = 20_000;
    let (event, items) = (Event::new(), Mutex::new(VecDeque::new()));
    watchdog::scope(|scope| {
        scope.spawn(|| {
            for item in 0..ITEMS {
                items.lock().expect("no panic").push_back(item);
                event.set();
            }
        });
        let mut expected = 0;
        while expected < ITEMS {
            event.wait();
            event.reset();
            while let Some(item) = items.lock().expect("no panic").pop_front() {
                assert_eq!(item, expected);
                expected += 1;
            }
        }
    });
    until_at_rest(&raw const event);
}

#[test]
#[cfg(unix)]
fn the_child_of_a_fork_sets_it_although_the_parents_threads_wait() {
    let event = Event::new();
    watchdog::scope(|scope| {
        scope.spawn(|| event.wait());
        until_waiting(&raw const event, 1);
        fork(Fork::Library, || {
            event.set();
            event.wait();
        });
        assert!(!event.is_set());
        event.set();
    });
    until_at_rest(&raw const event);
}
