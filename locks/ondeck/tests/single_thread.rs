//! A process with one thread, where a lock needs no atomic instructions, and its second thread.
//!
//! The harness runs each test in a new thread, so this file is a program without the harness. A
//! panic ends it.

#![no_main]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::{Host, Linux, Platform};
use ondeck::{Condvar, Mutex, MutexGuard};

#[unsafe(no_mangle)]
extern "C" fn main() -> libc::c_int {
    if cfg!(all(target_env = "gnu", target_arch = "x86_64")) {
        assert!(Linux::single_threaded(), "the C library says so from 2.32 on");
    }
    let mutex = Mutex::new(0);
    a_lock_is_held_until_it_is_unlocked(&mutex);
    a_wait_without_another_thread_times_out(&mutex);
    what_one_thread_holds_is_held_when_there_are_two(&mutex);
    assert!(Linux::bucket((&raw const mutex).addr()).is_at_rest());
    0
}

fn a_lock_is_held_until_it_is_unlocked(mutex: &Mutex<u32>) {
    let mut guard = mutex.lock();
    *guard = 1;
    assert!(mutex.is_locked());
    assert!(mutex.try_lock().is_none());
    assert!(mutex.try_lock_for(Duration::from_millis(1)).is_none());
    assert!(mutex.is_locked(), "an attempt that failed leaves it as it was");
    MutexGuard::bump(&mut guard);
    drop(guard);
    assert!(!mutex.is_locked());
    let guard = mutex.try_lock().expect("free");
    assert_eq!(*guard, 1);
    MutexGuard::unlock_fair(guard);
    assert!(!mutex.is_locked());
}

fn a_wait_without_another_thread_times_out(mutex: &Mutex<u32>) {
    let condvar = Condvar::new();
    let mut guard = mutex.lock();
    assert!(condvar.wait_for(&mut guard, Duration::from_millis(1)).timed_out());
    assert!(mutex.is_locked());
}

fn what_one_thread_holds_is_held_when_there_are_two(mutex: &Mutex<u32>) {
    let guard = mutex.lock();
    let tried = AtomicBool::new(false);
    thread::scope(|scope| {
        let second = scope.spawn(|| {
            assert!(!Linux::single_threaded());
            assert!(mutex.try_lock().is_none());
            tried.store(true, Ordering::Release);
            *mutex.lock() += 1;
        });
        while !tried.load(Ordering::Acquire) {
            assert!(!second.is_finished(), "it panicked");
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(2));
        assert!(!second.is_finished());
        drop(guard);
    });
    assert_eq!(*mutex.lock(), 2);
}
