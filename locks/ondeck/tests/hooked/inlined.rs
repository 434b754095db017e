//! The rest of a lock and of an unlock whose beginnings were inlined elsewhere, as by the header
//! for C.

use std::thread;

use ondeck::mutex::RawMutex;
use ondeck::platform::{AtomicInt, Ordering, Platform, Timestamp};

use super::hooked_platform::{Hooked, hooks};
use super::{unlock, watched};

hooks! {
    Inlined {
        // No parked thread looks by itself: it stays parked if a wake is missing.
        fn now() -> Timestamp {
            Timestamp::from_nanos(u64::MAX / 4)
        }
    }
}

type Machine = Hooked<Inlined>;

/// A thread parks for the locked mutex by `lock`; then `unlock_it` has to wake it.
fn a_parked_thread_is_woken(
    lock: impl FnOnce(&RawMutex<Machine>) + Send,
    unlock_it: impl FnOnce(&RawMutex<Machine>),
) {
    let mutex = &RawMutex::<Machine>::new();
    let sleeps = Machine::sleeps();
    mutex.lock();
    thread::scope(|scope| {
        scope.spawn(move || {
            lock(mutex);
            assert!(mutex.is_locked());
            unlock(mutex);
        });
        Machine::until_sleeps(sleeps + 1);
        unlock_it(mutex);
    });
    assert!(!mutex.is_locked());
    Machine::until_at_rest();
}

#[test]
fn the_rest_of_a_lock_and_of_an_unlock() {
    let _watchdog = watched();
    a_parked_thread_is_woken(
        |mutex| assert!(!mutex.try_lock() && mutex.lock_after_attempt(None)),
        // SAFETY: the caller owns it.
        |mutex| unsafe { mutex.unlock_when_asked() },
    );
    a_parked_thread_is_woken(RawMutex::lock, |mutex| {
        let byte = (&raw const *mutex).cast::<<Machine as Platform>::AtomicU8>();
        // SAFETY: a mutex is its byte.
        unsafe { &*byte }.store(0, Ordering::Release);
        RawMutex::<Machine>::look_after_store(byte);
    });
    let mutex = RawMutex::<Machine>::new();
    assert!(mutex.lock_after_attempt(Some(Timestamp::from_nanos(u64::MAX))));
    assert!(!mutex.lock_after_attempt(Some(Timestamp::from_nanos(0))), "the deadline has passed");
}
