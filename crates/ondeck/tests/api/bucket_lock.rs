//! A bucket of the table: its lock, and when it is at rest.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::parking::{self, Bucket, Parked, bucket_of};
use ondeck::platform::{Host, Native};

use crate::hold::Hold;
use crate::keys;
use crate::rest::until_at_rest;

use super::watchdog;

#[test]
fn each_thread_that_waits_for_a_bucket_s_lock_gets_it() {
    let word = AtomicU32::new(0);
    let key = (&raw const word).addr();
    let hold = Hold::default();
    let inside = AtomicUsize::new(0);
    watchdog::scope(|scope| {
        scope.spawn(|| hold.hold(key));
        hold.wait();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let validate = || {
                        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two in the bucket");
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::Relaxed);
                        false
                    };
                    keys::park::<Native>(key, validate, || (), None)
                })
            })
            .collect();
        // Longer than any thread spins.
        thread::sleep(Duration::from_millis(5));
        assert!(waiting.iter().all(|thread| !thread.is_finished()), "the lock is held");
        hold.let_go();
        for thread in waiting {
            assert_eq!(thread.join().expect("no panic"), Parked::Invalid);
        }
    });
    until_at_rest(key);
}

#[test]
fn a_new_bucket_is_at_rest() {
    assert!(Bucket::<Native>::new().is_at_rest());
    assert!(Bucket::<Native>::default().is_at_rest());
}

#[test]
fn a_bucket_that_is_locked_or_has_a_parked_thread_is_not_at_rest() {
    let word = AtomicU32::new(0);
    let key = (&raw const word).addr();
    let bucket = Native::bucket(key);
    let hold = Hold::default();
    let linked = AtomicBool::new(false);
    watchdog::scope(|scope| {
        scope.spawn(|| hold.hold(key));
        hold.wait();
        assert!(!bucket.is_at_rest());
        hold.let_go();
    });
    until_at_rest(key);
    watchdog::scope(|scope| {
        scope.spawn(|| {
            let tell = || linked.store(true, Ordering::Release);
            assert_eq!(keys::park::<Native>(key, || true, tell, None), Parked::Woken);
        });
        while !linked.load(Ordering::Acquire) {
            thread::yield_now();
        }
        assert!(!bucket.is_at_rest());
        assert_eq!(keys::unpark::<Native>(key, 1, |_, _| ()), 1);
    });
    until_at_rest(key);
}

#[test]
fn addresses_that_lie_together_get_buckets_that_do_not() {
    let buckets: std::collections::BTreeSet<_> =
        (0..64).map(|byte| bucket_of(0x1000 + byte)).collect();
    assert_eq!(buckets.len(), 64);
    assert!(buckets.iter().all(|&bucket| bucket < parking::BUCKETS));
}
