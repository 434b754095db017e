//! Programs with a mistake that hardly ever shows, and that a model finds.

#![cfg(any(loom, feature = "shuttle"))]

mod support;

use std::sync::Arc;

use ondeck::{Condvar, Mutex};
use support::{explore, thread};

#[test]
#[should_panic(expected = "an update is lost")]
fn a_count_is_read_and_written_in_two_sections() {
    explore(|| {
        let count = Arc::new(Mutex::new(0));
        let add = |count: &Mutex<u32>| {
            let read = *count.lock();
            *count.lock() = read + 1;
        };
        let other = {
            let count = count.clone();
            thread::spawn(move || add(&count))
        };
        add(&count);
        other.join().unwrap();
        assert_eq!(*count.lock(), 2, "an update is lost");
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn two_locks_are_locked_in_two_orders() {
    explore(|| {
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let other = {
            let locks = locks.clone();
            thread::spawn(move || {
                let _first = locks[0].lock();
                let _second = locks[1].lock();
            })
        };
        let first = locks[1].lock();
        let second = locks[0].lock();
        drop((first, second));
        other.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_notification_comes_between_the_look_and_the_wait() {
    explore(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                *shared.0.lock() = true;
                shared.1.notify_one();
            })
        };
        let is_ready = *shared.0.lock();
        if !is_ready {
            shared.1.wait(&mut shared.0.lock());
        }
        other.join().unwrap();
    });
}
