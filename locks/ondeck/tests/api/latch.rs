//! The latch as programs use it.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ondeck::latch::MOST_COUNT;
use ondeck::platform::Native;
use ondeck::semaphore::MOST_PERMITS;
use ondeck::{Latch, Semaphore, parking};

use crate::again::alone;
use crate::keys;
use crate::line::until_waiting;
use crate::rest::until_at_rest;
use crate::watchdog::{self, Watchdog};

#[test]
fn it_is_four_bytes_and_opens_once() {
    static LATCH: Latch = Latch::new(3);
    assert_eq!(size_of::<Latch>(), 4);
    LATCH.count_down_by(2);
    assert!(!LATCH.is_open() && LATCH.left() == 1);
    LATCH.count_down();
    LATCH.wait();
    assert!(LATCH.is_open() && LATCH.wait_for(Duration::ZERO));
    LATCH.count_down_by(0);
    assert!(Latch::new(0).is_open());
    assert_eq!(Latch::new(MOST_COUNT).left(), MOST_COUNT);
}

#[test]
fn a_count_beyond_zero_is_refused_and_named() {
    let latch = Latch::new(2);
    let panic = catch_unwind(|| latch.count_down_by(3)).expect_err("it is refused");
    let message = *panic.downcast::<String>().expect("a message");
    assert_eq!(message, "a latch is counted down by 3, and 2 are left");
    assert_eq!(latch.left(), 2);
    latch.count_down_by(2);
    assert!(catch_unwind(|| latch.count_down()).is_err());
    assert!(catch_unwind(|| latch.arrive_and_wait()).is_err());
    assert!(catch_unwind(|| Latch::new(MOST_COUNT + 1)).is_err());
    until_at_rest(&raw const latch);
}

/// A panic runs the program's hook, which may use a lock of the same bucket.
#[test]
fn a_panic_begins_after_the_bucket_was_unlocked() {
    static HOOKS: AtomicU32 = AtomicU32::new(0);
    alone(|| {
        let _watchdog = Watchdog::start("a panic hook", Duration::from_secs(30));
        let (latch, semaphore) = (Latch::new(0), Semaphore::new(MOST_PERMITS - 1));
        watchdog::scope(|scope| {
            scope.spawn(|| semaphore.acquire_many(MOST_PERMITS));
            until_waiting(&raw const semaphore, 1);
            let keys = [(&raw const latch).addr(), (&raw const semaphore).addr()];
            std::panic::set_hook(Box::new(move |_| {
                let waiting = keys.map(parking::waiting::<Native>);
                assert_eq!(waiting, [0, 1]);
                HOOKS.fetch_add(1, Ordering::Relaxed);
            }));
            assert!(catch_unwind(|| latch.arrive_and_wait()).is_err());
            assert!(catch_unwind(|| semaphore.release(2)).is_err());
            drop(std::panic::take_hook());
            semaphore.release(1);
        });
        assert_eq!(HOOKS.load(Ordering::Relaxed), 2);
    });
}

/// A lock is not a key, although the address of the first field of a structure is also the
/// structure's address.
#[test]
fn a_thread_that_waits_is_not_unparked_by_its_address() {
    let latch = Latch::new(1);
    watchdog::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| latch.wait());
        }
        until_waiting(&raw const latch, 2);
        let unparked = keys::unpark::<Native>((&raw const latch).addr(), 2, |_, _| ());
        assert_eq!(unparked, 0);
        latch.count_down();
    });
}
