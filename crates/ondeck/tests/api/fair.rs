//! The fair mutex as programs use it.

#[cfg(feature = "arc_lock")]
use std::sync::Arc;

use ondeck::fair::RawFairMutex;
use ondeck::platform::Native;
use ondeck::{FairMutex, FairMutexGuard, MappedFairMutexGuard};

use crate::line::until_waiting;

use super::watchdog;

#[test]
fn it_is_one_byte_and_constant() {
    static CONSTANT: FairMutex<()> = FairMutex::new(());
    assert_eq!(size_of::<RawFairMutex<Native>>(), 1);
    assert!(CONSTANT.try_lock().is_some());
}

/// The unlocking thread does not get the lock back before the waiting one.
#[test]
fn each_unlock_hands_the_lock_to_the_thread_that_waits() {
    let mutex = FairMutex::new(Vec::new());
    let guard = mutex.lock();
    watchdog::scope(|scope| {
        scope.spawn(|| mutex.lock().push("waiter"));
        until_waiting(&raw const mutex, 1);
        drop(guard);
        mutex.lock().push("owner");
    });
    assert_eq!(mutex.into_inner(), ["waiter", "owner"]);
}

#[test]
fn threads_get_the_lock_in_the_order_in_which_they_came() {
    let mutex = FairMutex::new(Vec::new());
    let guard = mutex.lock();
    watchdog::scope(|scope| {
        for number in 0..8 {
            let waits = {
                let mutex = &mutex;
                scope.spawn(move || mutex.lock().push(number))
            };
            until_waiting(&raw const mutex, number + 1);
            assert!(!waits.is_finished());
        }
        drop(guard);
    });
    assert_eq!(mutex.into_inner(), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn guards_can_be_mapped_and_bumped() {
    let mutex = FairMutex::new((1, 2));
    let mut guard = mutex.lock();
    FairMutexGuard::bump(&mut guard);
    let mut second: MappedFairMutexGuard<'_, i32> = FairMutexGuard::map(guard, |pair| &mut pair.1);
    *second += 1;
    drop(second);
    let guard = mutex.lock();
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| mutex.lock().1);
        until_waiting(&raw const mutex, 1);
        let mut guard = guard;
        FairMutexGuard::bump(&mut guard);
        FairMutexGuard::unlock_fair(guard);
        assert_eq!(waiter.join().expect("no panic"), 3);
    });
}

#[test]
#[cfg(feature = "arc_lock")]
fn guards_can_own_a_share_of_the_mutex() {
    let guard = Arc::new(FairMutex::new(5)).lock_arc();
    assert_eq!(*guard, 5);
}
