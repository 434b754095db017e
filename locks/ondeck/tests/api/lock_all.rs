//! Several locks at once, as programs acquire them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ondeck::{FairMutex, Mutex, RwLock, lock_all, poison};

use crate::line::until_waiting;

use super::watchdog;

/// The first lock is free again while the thread waits for the second, so an owner of that may want
/// the first.
#[test]
fn a_thread_that_waits_has_none_of_the_others() {
    let (first, second, third) = (Mutex::new(1), FairMutex::new(2), RwLock::new(3));
    let slice = [FairMutex::new(1), FairMutex::new(2)];
    let (held, held_in_slice) = (second.lock(), slice[1].lock());
    watchdog::scope(|scope| {
        scope.spawn(|| {
            let (first, second, mut third) = lock_all((&first, &second, &third));
            *third += *first + *second;
        });
        scope.spawn(|| lock_all(&slice[..]).iter_mut().for_each(|guard| **guard += 1));
        until_waiting(&raw const second, 1);
        assert!(first.try_lock().is_some() && third.try_read().is_some());
        drop(held);
        until_waiting(&raw const slice[1], 1);
        assert!(slice[0].try_lock().is_some());
        drop(held_in_slice);
    });
    assert_eq!(third.into_inner(), 6);
    assert_eq!(slice.map(FairMutex::into_inner), [2, 3]);
}

#[test]
fn threads_with_different_orders_exclude_each_other() {
    let (a, b, c, d) = (Mutex::new(0), Mutex::new(0), FairMutex::new(0), RwLock::new(0));
    let rounds = if cfg!(miri) { 10 } else { 10_000 };
    watchdog::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..rounds {
                let (mut a, mut b, mut c, mut d) = lock_all((&a, &b, &c, &d));
                (*a, *b, *c, *d) = (*a + 1, *b + 1, *c + 1, *d + 1);
            }
        });
        scope.spawn(|| {
            for _ in 0..rounds {
                let (mut d, mut b, mut a) = lock_all((&d, &b, &a));
                (*a, *b, *d) = (*a + 1, *b + 1, *d + 1);
            }
        });
        for _ in 0..rounds {
            for mut guard in lock_all(&[&b, &a][..]) {
                *guard += 1;
            }
        }
    });
    let counts = [a.into_inner(), b.into_inner(), c.into_inner(), d.into_inner()];
    assert_eq!(counts, [3 * rounds, 3 * rounds, rounds, 2 * rounds]);
}

#[test]
fn locks_with_poison_return_what_their_own_lock_does() {
    let (mutex, lock) = (poison::Mutex::new(1), poison::RwLock::new(2));
    let half_way = || {
        let (mut mutex, lock) = lock_all((&mutex, &lock));
        **mutex.as_mut().expect("no panic") += *lock.expect("no panic");
        panic!("half-way");
    };
    assert!(catch_unwind(AssertUnwindSafe(half_way)).is_err());
    // The second is attempted.
    let (first, second) = lock_all((&lock, &mutex));
    assert!(first.is_ok(), "its guard was dropped before the panic");
    assert_eq!(*second.expect_err("poisoned").into_inner(), 3);
    drop(first);
    mutex.clear_poison();
    assert!(lock_all(&[&mutex][..]).iter().all(Result::is_ok));
}

#[test]
fn a_lock_that_is_given_twice_panics_and_no_lock_is_left_locked() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let twice: [&dyn Fn(); 2] =
        [&|| drop(lock_all((&a, &b, &a))), &|| drop(lock_all(&[&b, &a, &b][..]))];
    for lock in twice {
        let panic = catch_unwind(AssertUnwindSafe(lock)).expect_err("a panic");
        let message = panic.downcast::<String>().expect("a text");
        assert!(message.starts_with("deadlock: this thread wants a lock twice"), "{message}");
        assert!(!a.is_locked() && !b.is_locked());
    }
    assert!(lock_all(&[] as &[Mutex<()>]).is_empty());
    let locks = [RwLock::new(1), RwLock::new(2)];
    assert_eq!(*lock_all((&locks[0], &locks[1])).1, 2, "others of its type are no second time");
}
