//! Each type does under a model what it does natively.

mod support;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::mem::forget;
use std::sync::Arc;
use std::time::Duration;

use ondeck::lock_api::GuardNoSend;
use ondeck::rwlock::ReadRecursive;
use ondeck::{
    Barrier, Condvar, FairMutex, IsHeld, Latch, LazyLock, Mutex, Once, OnceLock, ReentrantMutex,
    RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard, Semaphore, lock_all, poison,
};
use support::{explore, thread};

const LONG: Duration = Duration::from_mins(1);

/// Runs two functions at the same time.
fn both<T: Send + Sync + 'static>(shared: &Arc<T>, one: fn(&T), other: fn(&T)) {
    let shared_too = shared.clone();
    let thread = thread::spawn(move || other(&shared_too));
    one(shared);
    thread.join().unwrap();
}

/// Explores a test and checks which outcomes it has. Natively the schedules are too few, and in
/// loom an attempt to lock seldom fails, because an unlock is no step of it.
fn outcomes<T: Clone + Debug + Ord + Send + 'static>(
    expected: &[T],
    test: impl Fn() -> T + Send + Sync + 'static,
) {
    let seen = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let all = seen.clone();
    explore(move || {
        let outcome = test();
        all.lock().unwrap().insert(outcome);
    });
    let seen = seen.lock().unwrap();
    let expected = expected.iter().cloned().collect::<BTreeSet<_>>();
    assert!(seen.is_subset(&expected), "{seen:?}");
    if cfg!(all(feature = "shuttle", not(loom))) {
        assert_eq!(*seen, expected);
    }
}

#[test]
fn mutexes_exclude() {
    macro_rules! counts {
        ($($Mutex:ident)*) => {$(
            explore(|| {
                let count = Arc::new($Mutex::new(0));
                let add: fn(&$Mutex<u32>) = |count| {
                    let mut count = count.lock();
                    let read = *count;
                    thread::yield_now();
                    *count = read + 1;
                };
                both(&count, add, add);
                assert_eq!(*count.lock(), 2);
            });
        )*};
    }
    counts!(Mutex FairMutex);
    #[cfg(target_os = "linux")]
    {
        use ondeck::PiMutex;
        counts!(PiMutex);
    }
}

#[test]
fn an_attempt_fails_while_the_mutex_is_locked() {
    outcomes(&[1, 2], || {
        let count = Arc::new((Mutex::new(0), Mutex::new(())));
        both(
            &count,
            |(count, inner)| {
                let mut count = count.lock();
                drop(inner.lock());
                *count += 1;
            },
            |(count, _)| {
                if let Some(mut count) = count.try_lock() {
                    *count += 1;
                }
            },
        );
        assert!(!count.0.is_locked());
        *count.0.try_lock_for(LONG).unwrap()
    });
}

#[test]
fn a_lock_knows_the_thread_that_holds_it() {
    explore(|| {
        let locks = Arc::new((Mutex::new(0), poison::RwLock::new(0)));
        both(
            &locks,
            |(mutex, lock)| {
                let mut value = mutex.lock();
                *lock.write().unwrap() += 1;
                assert_ne!(lock.is_held_by_current_thread(), Some(true));
                mutex.assert_held();
                *value += 1;
            },
            |(mutex, lock)| {
                let value = lock.write().unwrap();
                lock.assert_held();
                assert_ne!(mutex.is_held_by_current_thread(), Some(true));
                drop(value);
                assert_ne!(lock.is_held_by_current_thread(), Some(true));
            },
        );
    });
}

#[test]
fn a_reentrant_mutex_is_locked_again_by_its_owner_alone() {
    outcomes(&[0, 1], || {
        let count = Arc::new(ReentrantMutex::new(Cell::new(0)));
        both(
            &count,
            |count| {
                let outer = count.lock();
                count.lock().set(1);
                thread::yield_now();
                outer.set(0);
            },
            |count| assert_eq!(count.lock().get(), 0),
        );
        both(
            &count,
            |count| count.lock().set(1),
            |count| {
                if let Some(count) = count.try_lock() {
                    count.set(0);
                }
            },
        );
        count.lock().get()
    });
}

#[test]
fn writers_exclude_and_readers_do_not() {
    outcomes(&[false, true], || {
        let lock = Arc::new((RwLock::new((0, 0)), Mutex::new(0), Mutex::new(false)));
        let read = |(lock, readers, together): &(RwLock<(u32, u32)>, Mutex<u32>, Mutex<bool>)| {
            let values = lock.read();
            *readers.lock() += 1;
            *together.lock() |= *readers.lock() == 2;
            *readers.lock() -= 1;
            assert_eq!(values.0, values.1);
        };
        both(&lock, read, read);
        both(&lock, read, |(lock, ..)| {
            let mut values = lock.write();
            values.0 += 1;
            thread::yield_now();
            values.1 += 1;
        });
        *lock.2.lock()
    });
}

#[test]
fn no_writer_comes_between_a_read_and_its_upgrade() {
    outcomes(&[10, 11], || {
        let lock = Arc::new(RwLock::new(0));
        both(
            &lock,
            |lock| {
                let read = lock.upgradable_read();
                let before = *read;
                let mut write = RwLockUpgradableReadGuard::upgrade(read);
                assert_eq!(*write, before);
                *write = 10;
                let read = RwLockWriteGuard::downgrade(write);
                assert_eq!(*read, 10);
            },
            |lock| *lock.write() += 1,
        );
        *lock.read()
    });
}

#[test]
fn of_two_upgradable_readers_one_waits() {
    outcomes(&[1, 2], || {
        let lock = Arc::new(RwLock::new(0));
        let add = |lock: &RwLock<u32>| {
            let Some(read) = lock.try_upgradable_read() else { return };
            let before = *read;
            *RwLockUpgradableReadGuard::try_upgrade(read)
                .unwrap_or_else(|read| RwLockUpgradableReadGuard::upgrade(read)) = before + 1;
        };
        both(&lock, add, add);
        assert!(lock.try_write().is_some());
        *lock.read()
    });
}

#[test]
fn a_recursive_read_is_counted() {
    explore(|| {
        let lock = Arc::new(RwLock::new(0));
        let outer = lock.read();
        let inner = lock.read_recursive();
        drop(outer);
        assert!(lock.try_write().is_none());
        drop(inner);
        assert!(lock.try_write().is_some());
    });
}

#[test]
#[cfg(any(loom, feature = "shuttle"))]
#[should_panic(expected = "deadlock")]
fn a_read_within_a_read_is_reported() {
    explore(|| {
        let lock = RwLock::new(0);
        let outer = lock.read();
        assert_eq!(*outer, *lock.read());
    });
}

#[test]
fn a_notification_ends_one_wait() {
    explore(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        both(
            &shared,
            |(value, changed)| changed.wait_while(&mut value.lock(), |value| *value == 0),
            |(value, changed)| {
                *value.lock() = 1;
                changed.notify_one();
            },
        );
        assert!(!shared.1.notify_one());
        assert_eq!(shared.1.notify_all(), 0);
    });
}

#[test]
fn a_notification_reaches_a_thread_with_another_lock() {
    explore(|| {
        let shared = Arc::new((RwLock::new(0), ReentrantMutex::new(Cell::new(0)), Condvar::new()));
        both(
            &shared,
            |(first, second, changed)| {
                changed.wait_while(&mut first.write(), |value| *value == 0);
                let mut second = second.lock();
                while second.get() == 0 {
                    changed.wait(&mut second);
                }
            },
            |(first, second, changed)| {
                *first.write() = 1;
                changed.notify_one();
                second.lock().set(1);
                changed.notify_all();
            },
        );
        assert_eq!(shared.2.notify_all(), 0);
    });
}

#[test]
fn several_locks_are_locked_in_any_order() {
    explore(|| {
        let shared = Arc::new((Mutex::new(0), RwLock::new(0)));
        both(
            &shared,
            |(first, second)| {
                let (mut first, mut second) = lock_all((first, second));
                (*first, *second) = (*first + 1, *second + 2);
            },
            |(first, second)| {
                let (mut second, first) = lock_all((second, first));
                assert_eq!(*second, 2 * *first);
                *second = 2 * *first;
            },
        );
        let (held, lock) = (poison::Mutex::new(3), poison::RwLock::new(4));
        let (held, lock) = lock_all((&held, &lock));
        assert_eq!(*held.unwrap() + *lock.unwrap(), 7);
        let more = [Mutex::new(1), Mutex::new(2)];
        let values: Vec<_> = lock_all(&more[..]).iter().map(|value| **value).collect();
        assert_eq!(values, [1, 2]);
    });
}

/// Loom would have it wait with the other one.
#[cfg(not(loom))]
#[test]
fn a_thread_that_wants_several_locks_waits_with_none_of_them() {
    explore(|| {
        let shared = Arc::new((Mutex::new(0), RwLock::new(0)));
        both(
            &shared,
            |(first, second)| {
                let (first, second) = lock_all((first, second));
                assert_eq!(*first, *second);
            },
            |(first, second)| {
                let mut second = second.write();
                *first.lock() += 1;
                *second += 1;
            },
        );
    });
}

#[test]
fn types_of_the_standard_library_poison() {
    explore(|| {
        let shared =
            Arc::new((poison::Mutex::new(0), poison::Condvar::new(), poison::RwLock::new(0)));
        both(
            &shared,
            |(value, changed, _)| {
                let guard = changed.wait_while(value.lock().unwrap(), |value| *value == 0).unwrap();
                assert_eq!(*guard, 1);
            },
            |(value, changed, lock)| {
                *lock.write().unwrap() = 1;
                *value.lock().unwrap() = *lock.read().unwrap();
                changed.notify_one();
            },
        );
    });
}

#[test]
fn an_initialization_runs_once() {
    explore(|| {
        let shared =
            Arc::new((Once::new(), OnceLock::new(), LazyLock::<u32>::new(|| 5), Mutex::new(0)));
        let init = |(once, cell, lazy, runs): &(Once, OnceLock<u32>, LazyLock<u32>, Mutex<u32>)| {
            once.call_once(|| *runs.lock() += 1);
            assert!(once.is_completed());
            assert_eq!(cell.get_or_init(|| **lazy), &5);
        };
        both(&shared, init, init);
        shared.0.wait();
        assert_eq!(*shared.3.lock(), 1);
        assert_eq!(shared.1.set(6), Err(6));
        assert_eq!(OnceLock::from(5), shared.1.clone());
    });
}

#[test]
fn a_semaphore_has_as_many_permits_as_are_released() {
    outcomes(&[0, 1], || {
        let permits = Arc::new((Semaphore::new(1), Semaphore::fair(0), Mutex::new(0)));
        both(
            &permits,
            |(permits, fair, inside)| {
                permits.acquire();
                *inside.lock() += 1;
                assert_eq!(*inside.lock(), 1);
                *inside.lock() -= 1;
                permits.release(1);
                fair.acquire_many(2);
            },
            |(permits, fair, inside)| {
                if permits.try_acquire() {
                    assert_eq!(*inside.lock(), 0);
                    permits.release(1);
                    fair.release(3);
                } else {
                    fair.release(2);
                }
            },
        );
        assert_eq!(permits.0.available(), 1);
        permits.1.available()
    });
}

#[test]
fn a_fair_semaphore_keeps_permits_for_the_thread_that_came_first() {
    outcomes(&[false, true], || {
        let permits = Arc::new((Semaphore::fair(1), Mutex::new(false)));
        both(
            &permits,
            |(permits, _)| permits.acquire_many(2),
            |(permits, acquired)| {
                *acquired.lock() = permits.try_acquire();
                permits.release(2);
            },
        );
        let acquired = *permits.1.lock();
        assert_eq!(permits.0.available(), u32::from(!acquired));
        acquired
    });
}

#[test]
fn a_fair_semaphore_serves_threads_in_the_order_in_which_they_came() {
    explore(|| {
        let permits = Arc::new(Semaphore::fair(1));
        let first = {
            let permits = permits.clone();
            thread::spawn(move || permits.acquire_many(2))
        };
        both(
            &permits,
            |permits| permits.release(2),
            |permits| {
                // If it fails, the first thread waits.
                if !permits.try_acquire() {
                    permits.acquire();
                    assert_eq!(permits.available(), 0);
                }
            },
        );
        first.join().unwrap();
    });
}

#[test]
fn all_meet_at_a_barrier_and_a_latch() {
    explore(|| {
        let shared = Arc::new((Barrier::new(2), Latch::new(2), Mutex::new((0, 0))));
        let meet = |(barrier, latch, counts): &(Barrier, Latch, Mutex<(u32, u32)>)| {
            counts.lock().0 += 1;
            let is_leader = barrier.wait().is_leader();
            let mut counts = counts.lock();
            counts.1 += u32::from(is_leader);
            assert_eq!(counts.0, 2);
            drop(counts);
            latch.count_down();
            latch.wait();
            assert!(latch.is_open());
        };
        both(&shared, meet, meet);
        assert_eq!(*shared.2.lock(), (2, 1));
    });
}

#[test]
#[cfg(loom)]
#[should_panic(expected = "this lock is of an earlier execution")]
fn a_static_lock_is_reported() {
    static COUNT: Mutex<u32> = Mutex::new(0);
    explore(|| both(&Arc::new(()), |()| *COUNT.lock() += 1, |()| *COUNT.lock() += 1));
}

#[test]
fn a_lock_whose_guard_was_forgotten_may_move_and_be_unlocked_there() {
    explore(|| {
        let mutex = Mutex::new(());
        forget(mutex.lock());
        let moved = Box::new(mutex);
        // SAFETY: this thread has forgotten the guard.
        unsafe { moved.force_unlock(GuardNoSend::new()) };
        drop(moved.lock());
        let lock = RwLock::new(());
        forget(lock.read());
        let moved = Box::new(lock);
        drop(moved.read_recursive());
        let forgotten = RwLock::new(());
        forget(forgotten.write());
    });
}
