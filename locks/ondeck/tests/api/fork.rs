//! Locks work in the child of a fork, whatever the parent's threads were doing.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::Native;
use ondeck::{Condvar, Mutex, RwLock};

use crate::copy::{Fork, fork, with_threads};
use crate::keys;
use crate::until::until;
use crate::watchdog::{self, Watchdog};

/// The ways to fork. If the kernel does not wipe the table, only forks through the C library are
/// noticed.
fn ways_to_fork() -> impl Iterator<Item = Fork> {
    let bare = std::env::var_os("ONDECK_TEST_LIBRARY_FORK").is_none();
    [Fork::Library, Fork::Call].into_iter().take(1 + usize::from(bare))
}

/// Threads of the child contend for one lock, wait for each other, and end.
fn contend(mutex: &Mutex<u32>) {
    let condvar = Condvar::new();
    let before = *mutex.lock();
    let work = || {
        for _ in 0..200 {
            *mutex.lock() += 1;
        }
        condvar.notify_one();
    };
    with_threads(3, &work, || {
        let mut count = mutex.lock();
        condvar.wait_while(&mut count, |count| *count < before + 600);
    });
}

#[test]
fn the_child_unlocks_a_lock_that_threads_were_parked_for() {
    let _watchdog = Watchdog::start("parked threads at a fork", Duration::from_mins(2));
    for how in ways_to_fork() {
        for _ in 0..20 {
            let mutex = Mutex::new(0);
            watchdog::scope(|scope| {
                let guard = mutex.lock();
                for _ in 0..3 {
                    scope.spawn(|| *mutex.lock() += 1);
                }
                // Long enough for them to park, most likely.
                thread::sleep(Duration::from_millis(2));
                fork(how, || {
                    // None of the threads that are parked in the parent exists here to be woken.
                    // SAFETY: this thread's copy owns the lock.
                    unsafe { mutex.force_unlock(lock_api::GuardNoSend::new()) };
                    match how {
                        Fork::Library => contend(&mutex),
                        Fork::Call => (0..1_000).for_each(|_| *mutex.lock() += 1),
                    }
                });
                drop(guard);
            });
            assert_eq!(mutex.into_inner(), 3);
        }
    }
}

/// The nodes of the parent's threads are on stacks that the child may use for other threads.
#[test]
fn the_child_finds_no_thread_that_is_parked_in_the_parent() {
    let _watchdog = Watchdog::start("a parked thread at a fork", Duration::from_mins(2));
    let (word, is_parked) = (AtomicU32::new(0), AtomicBool::new(false));
    let key = std::ptr::from_ref(&word).addr();
    let unpark = || keys::unpark::<Native>(key, 1, |_, _| ());
    watchdog::scope(|scope| {
        let parked = || is_parked.store(true, Ordering::Relaxed);
        scope.spawn(move || keys::park::<Native>(key, || true, parked, None));
        until(|| is_parked.load(Ordering::Relaxed));
        for how in ways_to_fork() {
            fork(how, || assert_eq!(unpark(), 0));
        }
        assert_eq!(unpark(), 1);
    });
}

#[test]
fn the_child_uses_a_reader_writer_lock_that_threads_were_parked_for() {
    let _watchdog = Watchdog::start("threads parked for a lock of readers", Duration::from_mins(2));
    for _ in 0..20 {
        let lock = RwLock::new(0);
        watchdog::scope(|scope| {
            let guard = lock.write();
            for _ in 0..3 {
                scope.spawn(|| *lock.write() += 1);
                scope.spawn(|| drop(lock.read()));
            }
            // Long enough for them to park, most likely.
            thread::sleep(Duration::from_millis(2));
            fork(Fork::Library, || {
                // SAFETY: this thread's copy owns the lock.
                unsafe { lock.force_unlock_write(lock_api::GuardNoSend::new()) };
                let work = || {
                    for _ in 0..200 {
                        drop(lock.read());
                        *lock.write() += 1;
                    }
                };
                with_threads(3, &work, || drop(lock.read()));
                assert_eq!(*lock.read(), 600);
            });
            drop(guard);
        });
        assert_eq!(lock.into_inner(), 3);
    }
}

/// The forking thread has read locks, counted and visible, which its copy unlocks.
#[test]
fn the_child_gives_up_what_its_thread_was_reading() {
    let _watchdog = Watchdog::start("readers at a fork", Duration::from_mins(2));
    let lock = RwLock::new(0);
    // SAFETY: the call only queries the state.
    let raw = unsafe { lock.raw() };
    while !raw.is_biased() {
        raw.consider_bias();
    }
    let readers = [lock.read(), lock.read()];
    fork(Fork::Library, || {
        assert!(lock.try_write().is_none());
        for _ in 0..2 {
            // SAFETY: this thread's copies of the guards are never dropped.
            unsafe { lock.force_unlock_read(lock.raw().forgotten()) };
        }
        with_threads(3, &|| *lock.write() += 1, || ());
        assert_eq!(*lock.read(), 3);
    });
    drop(readers);
    assert_eq!(*lock.write(), 0);
}
