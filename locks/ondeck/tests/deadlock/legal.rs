//! Correct programs are not reported.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use ondeck::deadlock::{self, Mode};
use ondeck::rwlock::ReadRecursive;
use ondeck::{Condvar, Mutex, MutexGuard, Once, ReentrantMutex, RwLock, RwLockWriteGuard};

use crate::told::{Told, detected, mutexes, take};

#[test]
fn one_order_whatever_the_order_of_unlocks() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    for _ in 0..3 {
        let first = left.lock();
        let second = right.lock();
        drop(first);
        drop(second);
        drop(right.lock());
        drop(left.lock());
    }
    told.none();
}

#[test]
fn attempts_and_waits_with_deadlines_make_no_order() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    let rw = RwLock::new(());
    take(&[&left, &right]);
    {
        let _right = right.lock();
        drop(left.try_lock().unwrap());
        drop(left.try_lock_for(Duration::from_secs(9)).unwrap());
    }
    drop(ondeck::lock_all((&right, &left)));
    drop((rw.read(), left.lock()));
    let _left = left.lock();
    drop(rw.try_read().unwrap());
    drop(rw.try_write().unwrap());
    drop(rw.try_upgradable_read().unwrap());
    drop(rw.try_write_for(Duration::from_secs(9)).unwrap());
    drop(rw.try_read_for(Duration::from_secs(9)).unwrap());
    drop(rw.try_upgradable_read_for(Duration::from_secs(9)).unwrap());
    told.none();
}

#[test]
fn orders_behind_a_common_gate() {
    let Some(told) = detected() else { return };
    let [gate, left, right] = &mutexes();
    take(&[gate, left, right]);
    take(&[gate, right, left]);
    told.none();
}

#[test]
fn a_lock_in_the_place_of_one_that_is_gone() {
    fn in_place<T>(told: &Told, new: impl Fn() -> T, with: impl Fn(&T, &dyn Fn())) {
        let other = Mutex::new(());
        let mut places = Vec::new();
        for turn in 0..2 {
            let lock = new();
            places.push(std::ptr::from_ref(&lock).addr());
            if turn == 0 {
                with(&lock, &|| drop(other.lock()));
            } else {
                let _other = other.lock();
                with(&lock, &|| ());
            }
        }
        assert_eq!(places[0], places[1], "the second is where the first was");
        told.none();
    }
    let Some(told) = detected() else { return };
    in_place(told, || Mutex::new(()), |it, part| drop((it.lock(), part())));
    in_place(told, || ondeck::FairMutex::new(()), |it, part| drop((it.lock(), part())));
    in_place(told, || ondeck::PiMutex::new(()), |it, part| drop((it.lock(), part())));
    in_place(told, || ReentrantMutex::new(()), |it, part| drop((it.lock(), part())));
    in_place(told, || RwLock::new(()), |it, part| drop((it.write(), part())));
    in_place(told, Once::new, |it, part| it.call_once(part));
}

#[test]
fn a_lock_that_moved_to_where_another_one_was() {
    let Some(told) = detected() else { return };
    let other = Mutex::new(());
    let mut moved = Mutex::new(());
    drop(moved.lock());
    let mut place = Mutex::new(());
    take(&[&place, &other]);
    std::mem::swap(&mut moved, &mut place);
    take(&[&other, &place]);
    told.none();
}

/// The guard of the first lock is forgotten, so the thread still holds it at its end.
#[test]
fn a_lock_in_the_place_of_one_that_went_while_it_was_held() {
    let Some(told) = detected() else { return };
    let mut places = Vec::new();
    for turn in 0..2 {
        let lock = RwLock::new(());
        places.push(std::ptr::from_ref(&lock).addr());
        let guard = lock.read();
        if turn == 0 {
            std::mem::forget(guard);
        }
    }
    assert_eq!(places[0], places[1], "the second is where the first was");
    told.none();
}

/// The memory is reused without a drop, which only other threads' acquisitions reveal.
#[test]
fn a_lock_that_another_thread_holds_where_a_guard_was_forgotten() {
    let Some(told) = detected() else { return };
    deadlock::enable(Mode::Abort);
    let mut lock = RwLock::new(());
    std::mem::forget(lock.write());
    // SAFETY: no thread uses the lock, whose memory becomes that of another one.
    unsafe { std::ptr::write(&raw mut lock, RwLock::new(())) };
    let at_once = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _lock = lock.write();
            at_once.wait();
            thread::sleep(Duration::from_millis(50));
        });
        at_once.wait();
        drop(lock.write());
    });
    told.none();
}

#[test]
fn reads_that_cannot_wait() {
    let Some(told) = detected() else { return };
    let lock = RwLock::new(());
    {
        let _read = lock.read();
        drop(lock.read_recursive());
        drop(lock.try_read().unwrap());
        drop(lock.try_read_for(Duration::from_secs(9)).unwrap());
    }
    {
        // Beside it no writer comes.
        let _upgradable = lock.upgradable_read();
        drop(lock.read());
    }
    let written = lock.write();
    let _read = RwLockWriteGuard::downgrade(written);
    drop(lock.read_recursive());
    told.none();
}

/// Recursive reads do not wait for waiting writers.
#[test]
fn recursive_reads_in_two_orders() {
    let Some(told) = detected() else { return };
    let (left, right) = (RwLock::new(()), RwLock::new(()));
    for (first, second) in [(&left, &right), (&right, &left)] {
        drop((first.read_recursive(), second.read_recursive()));
    }
    told.none();
}

#[test]
fn an_owner_that_locks_a_reentrant_mutex_again() {
    let Some(told) = detected() else { return };
    let (mutex, other) = (ReentrantMutex::new(()), Mutex::new(()));
    let _outer = mutex.lock();
    let _other = other.lock();
    let _inner = mutex.lock();
    told.none();
}

#[test]
fn a_thread_that_waits_for_a_condition_does_not_hold_its_mutex() {
    let Some(told) = detected() else { return };
    let (ready, other) = (Mutex::new(false), Mutex::new(()));
    let changed = Condvar::new();
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let mut ready = ready.lock();
            changed.wait_while(&mut ready, |ready| !*ready);
            drop(other.lock());
        });
        told.none_for_a_while();
        *ready.lock() = true;
        changed.notify_one();
        waits.join().unwrap();
    });
    told.none();
}

/// Both threads wait for each other until one gives up.
#[test]
fn a_circle_with_a_deadline() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    let both_held = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _left = left.lock();
            both_held.wait();
            deadlock::with_ignored(|| drop(right.lock()));
        });
        let _right = right.lock();
        both_held.wait();
        assert!(left.try_lock_for(Duration::from_millis(200)).is_none());
        told.none_for_a_while();
    });
    told.none();
}

#[test]
fn contention_of_all_kinds() {
    let Some(told) = detected() else { return };
    deadlock::enable(Mode::Abort);
    let (outer, inner) = (Mutex::new(0), RwLock::new(0));
    let changed = Condvar::new();
    let once = Once::new();
    thread::scope(|scope| {
        for number in 0..4 {
            let (outer, inner, changed, once) = (&outer, &inner, &changed, &once);
            scope.spawn(move || {
                for turn in 0..300 {
                    let mut outer = outer.lock();
                    once.call_once(|| *inner.write() += 1);
                    if turn % 3 == number % 3 {
                        *inner.write() += 1;
                    } else {
                        let _ = *inner.read();
                    }
                    if turn % 7 == 0 {
                        changed.wait_for(&mut outer, Duration::from_micros(50));
                    }
                    *outer += 1;
                    MutexGuard::bump(&mut outer);
                    changed.notify_one();
                }
            });
        }
    });
    assert_eq!(*outer.lock(), 1200);
    told.none();
}
