//! A handoff: the unlock gives the lock to a parked thread instead of leaving it to the first that comes.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ondeck::{Mutex, MutexGuard};

use crate::again::alone;
use crate::asleep;
use crate::waiting::{poll_for, until_waited_for};

static MUTEX: Mutex<u32> = Mutex::new(0);
static MAY_RELEASE: AtomicBool = AtomicBool::new(false);
/// The kernel's name of the thread that was started last.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// The calling thread stores its kernel name.
fn tell_name() {
    STARTED.store(asleep::name(), Ordering::Release);
}

/// Waits until the thread that was started last sleeps in the kernel.
fn until_asleep() {
    loop {
        match STARTED.load(Ordering::Acquire) {
            0 => thread::yield_now(),
            thread => return asleep::until_asleep(thread),
        }
    }
}

/// A thread that parks until it has the lock, counts, and keeps the lock until it may unlock it.
fn waiter() -> JoinHandle<()> {
    MAY_RELEASE.store(false, Ordering::Release);
    poll_for(0);
    STARTED.store(0, Ordering::Release);
    let waiter = thread::spawn(|| {
        tell_name();
        let mut count = MUTEX.lock();
        *count += 1;
        while !MAY_RELEASE.load(Ordering::Acquire) {
            thread::yield_now();
        }
    });
    until_waited_for(&MUTEX);
    waiter
}

/// The parked thread owns the lock from the unlock on.
fn is_handed_over(waiter: JoinHandle<()>) {
    assert!(MUTEX.try_lock().is_none(), "the lock was free");
    MAY_RELEASE.store(true, Ordering::Release);
    waiter.join().expect("no panic");
    assert!(MUTEX.try_lock().is_some());
}

#[test]
fn a_fair_unlock_hands_the_lock_over() {
    alone(|| {
        for _ in 0..20 {
            let guard = MUTEX.lock();
            let waiter = waiter();
            MutexGuard::unlock_fair(guard);
            is_handed_over(waiter);
        }
        assert_eq!(*MUTEX.lock(), 20);
    });
}

/// Longer than the millisecond after which a parked thread is overdue, and than the time between two that are
/// served.
const OVERDUE: Duration = Duration::from_millis(3);

/// An overdue thread is woken to compete. If it competes in vain, it is handed the lock.
#[test]
fn a_thread_that_is_overdue_competes_and_is_then_handed_the_lock() {
    alone(|| {
        let mut handed_over = 0;
        for round in 1..=100 {
            let guard = MUTEX.lock();
            let waiter = waiter();
            thread::sleep(OVERDUE);
            drop(guard);
            // Most likely before the woken thread runs, which then goes back to its place in the queue.
            if let Some(guard) = MUTEX.try_lock() {
                thread::sleep(OVERDUE);
                until_asleep();
                drop(guard);
                is_handed_over(waiter);
                handed_over += 1;
            } else {
                MAY_RELEASE.store(true, Ordering::Release);
                waiter.join().expect("no panic");
            }
            assert_eq!(*MUTEX.lock(), round);
            if handed_over == 5 {
                return;
            }
        }
        panic!("the woken thread always locked before the thread that woke it");
    });
}

#[test]
fn a_bump_lets_the_parked_thread_have_a_turn() {
    alone(|| {
        let mut guard = MUTEX.lock();
        for turn in 1..20 {
            let waiter = waiter();
            MAY_RELEASE.store(true, Ordering::Release);
            MutexGuard::bump(&mut guard);
            assert_eq!(
                *guard, turn,
                "the parked thread had its turn, and this thread has the lock again"
            );
            assert!(MUTEX.is_locked());
            waiter.join().expect("no panic");
        }
    });
}

#[test]
fn fair_unlocks_serve_parked_threads_in_turn() {
    static SERVED: AtomicU32 = AtomicU32::new(0);
    alone(|| {
        poll_for(0);
        let guard = MUTEX.lock();
        let waiters: Vec<_> = (0..5)
            .map(|number| {
                STARTED.store(0, Ordering::Release);
                let waiter = thread::spawn(move || {
                    tell_name();
                    let guard = MUTEX.lock();
                    assert_eq!(SERVED.fetch_add(1, Ordering::Relaxed), number, "out of turn");
                    MutexGuard::unlock_fair(guard);
                });
                until_asleep();
                waiter
            })
            .collect();
        MutexGuard::unlock_fair(guard);
        for waiter in waiters {
            waiter.join().expect("no panic");
        }
    });
}
