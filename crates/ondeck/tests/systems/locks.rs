//! A short stress of each lock: sections exclude each other, and no thread is forgotten.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::{
    Barrier, BiasedMutex, CombiningMutex, Condvar, Event, FairMutex, Latch, Mutex, Once, Parker,
    ReentrantMutex, RwLock, Semaphore,
};

use crate::watchdog::Watchdog;

const THREADS: u32 = 4;
/// Of each thread. Some sections yield, so that others find the lock taken, and park.
const SECTIONS: u32 = 1_000;
const LIMIT: Duration = Duration::from_mins(5);

/// Runs `section` so often in so many threads.
fn crowd(what: &str, section: impl Fn(u32) + Sync) {
    let _watchdog = Watchdog::start(what, LIMIT);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let section = &section;
            scope.spawn(move || (0..SECTIONS).for_each(|turn| section(thread + turn)));
        }
    });
}

/// Not atomic: two sections at once lose a step.
fn step(count: &mut u32, turn: u32) {
    let before = std::hint::black_box(*count);
    if turn.is_multiple_of(64) {
        thread::yield_now();
    }
    if turn.is_multiple_of(500) {
        thread::sleep(Duration::from_millis(1));
    }
    *count = before + 1;
}

#[test]
fn a_mutex_excludes() {
    let mutex = Mutex::new(0);
    crowd("Mutex", |turn| step(&mut mutex.lock(), turn));
    assert_eq!(mutex.into_inner(), THREADS * SECTIONS);
}

#[test]
fn timed_attempts_exclude_and_end() {
    let mutex = Mutex::new(0);
    let failed = AtomicU32::new(0);
    crowd("Mutex, timed", |turn| {
        let timeout = Duration::from_micros(u64::from(turn % 300));
        match mutex.try_lock_for(timeout) {
            Some(mut count) => step(&mut count, turn),
            None => _ = failed.fetch_add(1, Ordering::Relaxed),
        }
    });
    assert_eq!(mutex.into_inner() + failed.into_inner(), THREADS * SECTIONS);
    let mutex = Mutex::new(());
    let held = mutex.lock();
    thread::scope(|scope| {
        let attempt = scope.spawn(|| mutex.try_lock_for(Duration::from_millis(5)).is_none());
        assert!(attempt.join().unwrap());
    });
    drop(held);
}

#[test]
fn a_fair_mutex_excludes() {
    let mutex = FairMutex::new(0);
    crowd("FairMutex", |turn| step(&mut mutex.lock(), turn));
    assert_eq!(mutex.into_inner(), THREADS * SECTIONS);
}

#[test]
fn a_biased_mutex_excludes() {
    let mutex = BiasedMutex::new(0);
    let _watchdog = Watchdog::start("BiasedMutex", LIMIT);
    thread::scope(|scope| {
        for _ in 0..2 {
            // Its runs are long enough for a bias, which the other thread revokes.
            scope.spawn(|| {
                (0..10_000).for_each(|turn| step(&mut mutex.lock(), turn / 100 * 64 + 1));
            });
        }
    });
    assert_eq!(mutex.into_inner(), 20_000);
}

#[test]
fn a_combining_mutex_excludes() {
    let mutex = CombiningMutex::new(0);
    crowd("CombiningMutex", |turn| mutex.with(|count| step(count, turn)));
    assert_eq!(mutex.with(|count| *count), THREADS * SECTIONS);
}

#[test]
fn a_reentrant_mutex_is_its_thread_s() {
    struct Count(UnsafeCell<u32>);
    // SAFETY: it is reached under the mutex only.
    unsafe impl Send for Count {}
    let mutex = ReentrantMutex::new(Count(UnsafeCell::new(0)));
    crowd("ReentrantMutex", |turn| {
        let (outer, _inner) = (mutex.lock(), mutex.lock());
        // SAFETY: the calling thread owns the mutex, and has no other reference.
        step(unsafe { &mut *outer.0.get() }, turn);
    });
    assert_eq!(mutex.into_inner().0.into_inner(), THREADS * SECTIONS);
}

#[test]
fn readers_and_writers_exclude_each_other() {
    let lock = RwLock::new((0, 0));
    crowd("RwLock", |turn| {
        if turn.is_multiple_of(4) {
            let mut both = lock.write();
            step(&mut both.0, turn);
            both.1 += 1;
        } else {
            let both = lock.read();
            assert_eq!(both.0, both.1);
        }
    });
    assert_eq!(lock.read().0, lock.read().1);
    assert!(lock.read().0 > 0);
}

/// Threads that only read are visible ones, which a writer has to find.
#[test]
fn a_writer_finds_visible_readers() {
    let lock = RwLock::new((0, 0));
    let _watchdog = Watchdog::start("RwLock, biased", LIMIT);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..30_000 {
                    let both = lock.read();
                    assert_eq!(both.0, both.1);
                }
            });
        }
        for turn in 1..=50 {
            thread::sleep(Duration::from_millis(1));
            let mut both = lock.write();
            both.0 = turn;
            thread::yield_now();
            both.1 = turn;
        }
    });
}

#[test]
fn no_notification_is_lost() {
    const MOST: usize = 3;
    let (queue, filled, emptied) = (Mutex::new(VecDeque::new()), Condvar::new(), Condvar::new());
    let _watchdog = Watchdog::start("Condvar", LIMIT);
    let sum: u32 = thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for value in 1..=SECTIONS {
                    let mut queue = queue.lock();
                    emptied.wait_while(&mut queue, |queue| queue.len() >= MOST);
                    queue.push_back(value);
                    filled.notify_one();
                }
            });
        }
        let take = || {
            let mut queue = queue.lock();
            filled.wait_while(&mut queue, |queue: &mut VecDeque<u32>| queue.is_empty());
            emptied.notify_one();
            queue.pop_front().unwrap()
        };
        let takers =
            [(); 2].map(|()| scope.spawn(move || (0..SECTIONS).map(|_| take()).sum::<u32>()));
        takers.map(|taker| taker.join().unwrap()).iter().sum()
    });
    assert_eq!(sum, SECTIONS * (SECTIONS + 1));
}

#[test]
fn a_timed_wait_without_a_notification_ends() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let _watchdog = Watchdog::start("Condvar, timed", LIMIT);
    let mut guard = mutex.lock();
    while !condvar.wait_for(&mut guard, Duration::from_millis(5)).timed_out() {}
}

#[test]
fn the_others_let_all_threads_go() {
    let _watchdog = Watchdog::start("the others", LIMIT);
    let (once, ran) = (Once::new(), AtomicU32::new(0));
    let (barrier, latch, event) = (Barrier::new(THREADS), Latch::new(THREADS), Event::new());
    let (semaphore, inside) = (Semaphore::new(2), AtomicU32::new(0));
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                once.call_once(|| _ = ran.fetch_add(1, Ordering::Relaxed));
                for _ in 0..200 {
                    barrier.wait();
                    semaphore.acquire();
                    assert!(inside.fetch_add(1, Ordering::Relaxed) < 2);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::Relaxed);
                    semaphore.release(1);
                }
                latch.count_down();
                event.wait();
            });
        }
        scope.spawn(move || unparker.unpark());
        parker.park();
        latch.wait();
        event.set();
    });
    assert_eq!(ran.into_inner(), 1);
}
