//! Read locks of forgotten guards that are nevertheless unlocked, as by locks whose guards do not
//! record how they were acquired.

use std::mem::forget;
use std::thread;

use ondeck::RwLock;

use crate::rwlock::until_biased;

use super::watchdog;

/// Unlocks a read lock of the calling thread, which has forgotten all of its guards.
fn unlock(lock: &RwLock<u32>) {
    // SAFETY: the tests forget all guards of the thread, and call this function once for each.
    unsafe { lock.force_unlock_read(lock.raw().forgotten()) };
}

#[test]
fn a_counted_and_a_visible_read_are_both_found() {
    let lock = RwLock::new(1);
    until_biased(&lock);
    forget(lock.read());
    forget(lock.read());
    unlock(&lock);
    assert!(lock.try_write().is_none());
    unlock(&lock);
    assert!(!lock.is_locked() && lock.try_write().is_some());
}

/// Reads by a slot. A read is counted if the slot has the address of a dropped lock, so several
/// locks are tried.
#[test]
#[cfg(debug_assertions)]
fn another_threads_read_is_refused() {
    let locks: Vec<_> = (0..32).map(RwLock::new).collect();
    let message = locks.iter().find_map(|lock| {
        until_biased(lock);
        let _guard = lock.read();
        // SAFETY: nothing is unlocked.
        let unlocks = || drop(unsafe { lock.raw() }.forgotten());
        let panic = watchdog::scope(|scope| scope.spawn(unlocks).join()).err()?;
        Some(*panic.downcast::<&str>().expect("a message"))
    });
    assert!(message.is_some_and(|message| message.contains("`send_guard`")), "{message:?}");
    assert!(locks.iter().all(|lock| lock.try_write().is_some()));
}

/// A guard is never unlocked, and its lock is dropped. The next lock at that address is not biased,
/// so its reads are counted, and are not confused with the stale slot.
#[test]
fn a_slot_of_the_lock_that_was_there_before_is_left_alone() {
    let mut place = Box::new(RwLock::new(1));
    until_biased(&place);
    forget(place.read());
    *place = RwLock::new(2);
    forget(place.read());
    unlock(&place);
    assert!(!place.is_locked() && place.try_write().is_some());
    // Its address stays in a row forever: a lock of another test there would never be biased.
    Box::leak(place);
}

/// A destructor that runs after the destructor of the thread's row unlocks the thread's reads.
#[test]
fn a_visible_read_is_found_by_the_last_destructor() {
    static LOCK: RwLock<u32> = RwLock::new(1);
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            unlock(&LOCK);
        }
    }
    thread_local!(static LAST: Last = const { Last });
    until_biased(&LOCK);
    let reader = thread::spawn(|| {
        // Destructors run in the reverse order of registration, and the first read registers the
        // row's.
        LAST.with(|_| ());
        forget(LOCK.read());
    });
    reader.join().expect("no panic");
    assert!(!LOCK.is_locked() && LOCK.try_write().is_some());
    assert!(LOCK.try_read().is_some());
}
