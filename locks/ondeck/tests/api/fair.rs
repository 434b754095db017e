//! The fair mutex as programs use it.

use ondeck::{FairMutex, FairMutexGuard, MappedFairMutexGuard};

use crate::line::until_waiting;

use super::watchdog;

/// The thread that unlocks does not get the lock back before the one that waits.
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
