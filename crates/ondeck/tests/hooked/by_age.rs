//! A thread that was woken for its age and competed in vain: whether it is served next, and whether its turn is put
//! off by threads that came later. Time passes only where a test says so.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::{FutexWait, Linux, Platform, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, hooks, until};
use super::{no_polling, unlock, watched};

static NOW: AtomicU64 = AtomicU64::new(1 << 40);
static FIRST: Gate = Gate::new();
static SECOND: Gate = Gate::new();
static IS_LATE: AtomicBool = AtomicBool::new(false);
static TIMED_SLEEPS: AtomicU32 = AtomicU32::new(0);
static TIMES_OUT: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static STARVED: Cell<bool> = const { Cell::new(false) };
    static TIMED: Cell<bool> = const { Cell::new(false) };
    static PASSED: Cell<bool> = const { Cell::new(false) };
}

const OVERDUE: u64 = 1_000_000;

hooks! {
    ByAge {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn polling() -> Polling {
            no_polling()
        }
        fn now() -> Timestamp {
            let late = if PASSED.get() { Duration::from_secs(2_000) } else { Duration::ZERO };
            Linux::now().after(late)
        }
        fn priority() -> u32 {
            FIRST.pass();
            SECOND.pass();
            0
        }
        fn woke() {
            if STARVED.get() {
                until(|| !IS_LATE.load(Ordering::SeqCst));
            }
        }
        fn sleep(_until: Option<Timestamp>) -> Option<FutexWait> {
            TIMED.get().then(|| {
                TIMED_SLEEPS.fetch_add(1, Ordering::SeqCst);
                until(|| TIMES_OUT.load(Ordering::SeqCst));
                PASSED.set(true);
                FutexWait::TimedOut
            })
        }
    }
}

type Machine = Hooked<ByAge>;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn time_passes(ticks: u64) {
    NOW.fetch_add(ticks, Ordering::SeqCst);
}

/// The first began to wait before the second, and is linked before it, too, but was overdue by then.
#[test]
fn the_first_that_competed_in_vain_is_served_next() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mutex = &RawMutex::<Machine>::new();
    let order = &Mutex::new(Vec::new());
    mutex.lock();
    let sleeps = Machine::sleeps();
    thread::scope(|scope| {
        scope.spawn(|| {
            STARVED.set(true);
            FIRST.stop_me();
            mutex.lock();
            order.lock().expect("no panic").push(1);
            unlock(mutex);
        });
        FIRST.until_reached();
        time_passes(OVERDUE / 2);
        scope.spawn(|| {
            SECOND.stop_me();
            mutex.lock();
            order.lock().expect("no panic").push(2);
            unlock(mutex);
        });
        SECOND.until_reached();
        time_passes(OVERDUE * 7 / 10);
        FIRST.open();
        Machine::until_sleeps(sleeps + 1);
        time_passes(OVERDUE / 5);
        SECOND.open();
        Machine::until_sleeps(sleeps + 2);
        time_passes(2 * OVERDUE);
        IS_LATE.store(true, Ordering::SeqCst);
        unlock(mutex);
        assert!(mutex.try_lock());
        IS_LATE.store(false, Ordering::SeqCst);
        // The first, which was the oldest, competes in vain, and goes back.
        Machine::until_sleeps(sleeps + 3);
        unlock(mutex);
    });
    Machine::until_at_rest();
    assert_eq!(*order.lock().expect("no panic"), [1, 2]);
}

/// The lock is never free when the starved thread runs, and each time it was woken another thread parks before it.
#[test]
fn the_turn_of_a_thread_is_not_put_off_by_one_that_parks_while_it_is_awake() {
    const MOST: u32 = 50;
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mutex = &RawMutex::<Machine>::new();
    let has_had_it = &AtomicBool::new(false);
    let begun = NOW.load(Ordering::SeqCst);
    mutex.lock();
    let mut turns = 0;
    let waited = thread::scope(|scope| {
        let sleeps = Machine::sleeps();
        scope.spawn(move || {
            STARVED.set(true);
            mutex.lock();
            has_had_it.store(true, Ordering::SeqCst);
            unlock(mutex);
        });
        Machine::until_sleeps(sleeps + 1);
        time_passes(OVERDUE * 3 / 10);
        // Woken in time, and gets no CPU until it is overdue.
        IS_LATE.store(true, Ordering::SeqCst);
        unlock(mutex);
        assert!(mutex.try_lock());
        let waited = loop {
            turns += 1;
            // Another thread parks while the starved one is awake.
            let sleeps = Machine::sleeps();
            let (owns, goes) = (&AtomicBool::new(false), &AtomicBool::new(false));
            let over = thread::scope(|scope| {
                scope.spawn(move || {
                    mutex.lock();
                    owns.store(true, Ordering::SeqCst);
                    until(|| goes.load(Ordering::SeqCst));
                    IS_LATE.store(true, Ordering::SeqCst);
                    unlock(mutex);
                });
                Machine::until_sleeps(sleeps + 1);
                if turns == 1 {
                    time_passes(OVERDUE * 8 / 10);
                }
                IS_LATE.store(false, Ordering::SeqCst);
                // It competes in vain, and goes back to its place: it is the oldest.
                Machine::until_sleeps(sleeps + 2);
                time_passes(if turns == 1 { OVERDUE / 10 } else { OVERDUE * 3 / 10 });
                unlock(mutex);
                until(|| owns.load(Ordering::SeqCst) || has_had_it.load(Ordering::SeqCst));
                let served = has_had_it.load(Ordering::SeqCst);
                goes.store(true, Ordering::SeqCst);
                served
            });
            if over {
                IS_LATE.store(false, Ordering::SeqCst);
                break NOW.load(Ordering::SeqCst) - begun;
            }
            // The unlock of the other has woken the starved thread, or has handed it the lock.
            let handed = !mutex.try_lock();
            if handed || turns == MOST {
                IS_LATE.store(false, Ordering::SeqCst);
                if !handed {
                    unlock(mutex);
                }
                break NOW.load(Ordering::SeqCst) - begun;
            }
        };
        until(|| has_had_it.load(Ordering::SeqCst));
        waited
    });
    Machine::until_at_rest();
    assert!(turns < 10, "{turns} turns, {waited} ns");
}

/// The same for a writer; the other threads have short deadlines.
#[test]
fn the_turn_of_a_writer_is_not_put_off_by_one_that_parks_while_it_is_awake() {
    const MOST: u32 = 50;
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let lock = &RawRwLock::<Machine>::new();
    let give_up = || {
        // SAFETY: the tests unlock what they have locked.
        unsafe { lock.unlock_exclusive() };
    };
    let begun = NOW.load(Ordering::SeqCst);
    lock.lock_exclusive();
    let mut turns = 0;
    thread::scope(|scope| {
        let sleeps = Machine::sleeps();
        scope.spawn(move || {
            STARVED.set(true);
            lock.lock_exclusive();
            // SAFETY: locked above.
            unsafe { lock.unlock_exclusive() };
        });
        Machine::until_sleeps(sleeps + 1);
        loop {
            turns += 1;
            time_passes(OVERDUE * 3 / 10);
            IS_LATE.store(true, Ordering::SeqCst);
            give_up();
            let handed = !lock.try_lock_exclusive();
            if handed || turns == MOST {
                IS_LATE.store(false, Ordering::SeqCst);
                if !handed {
                    give_up();
                }
                break;
            }
            thread::scope(|scope| {
                let (sleeps, timed) = (Machine::sleeps(), TIMED_SLEEPS.load(Ordering::SeqCst));
                TIMES_OUT.store(false, Ordering::SeqCst);
                scope.spawn(move || {
                    TIMED.set(true);
                    let soon = Linux::now().after(Duration::from_secs(1_000));
                    assert!(!lock.try_lock_exclusive_until(soon));
                });
                until(|| TIMED_SLEEPS.load(Ordering::SeqCst) > timed);
                IS_LATE.store(false, Ordering::SeqCst);
                Machine::until_sleeps(sleeps + 1);
                TIMES_OUT.store(true, Ordering::SeqCst);
            });
        }
    });
    let waited = NOW.load(Ordering::SeqCst) - begun;
    assert!(turns < 10, "{turns} turns, {waited} ns");
}

/// A crowd that began to wait at the same moment. None of it ever finds the lock free. How often an unlock has one
/// of them compete before one is handed the lock.
#[test]
fn one_of_a_crowd_that_competed_in_vain_is_handed_the_lock_next() {
    const CROWD: u32 = 20;
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mutex = &RawMutex::<Machine>::new();
    mutex.lock();
    let mut turns = 0;
    thread::scope(|scope| {
        for _ in 0..CROWD {
            let sleeps = Machine::sleeps();
            scope.spawn(|| {
                STARVED.set(true);
                mutex.lock();
                unlock(mutex);
            });
            Machine::until_sleeps(sleeps + 1);
        }
        time_passes(2 * OVERDUE);
        loop {
            turns += 1;
            let sleeps = Machine::sleeps();
            IS_LATE.store(true, Ordering::SeqCst);
            unlock(mutex);
            let handed = !mutex.try_lock();
            IS_LATE.store(false, Ordering::SeqCst);
            if handed {
                break;
            }
            Machine::until_sleeps(sleeps + 1);
        }
    });
    Machine::until_at_rest();
    assert_eq!(turns, 2);
}
