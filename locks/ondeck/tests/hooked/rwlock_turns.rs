//! The reserved turns of threads that have waited for a reader-writer lock for long.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use ondeck::platform::{FutexWait, Linux, Platform, Timestamp};

use super::hooked_platform::{Calls, Hooked, calls_of, hooks, until};
use super::rwlock::{Lock, end_write, read, write};
use super::watchdog::Watchdog;
use super::watched;

static NOW: AtomicU64 = AtomicU64::new(1 << 40);
static IS_LATE: AtomicBool = AtomicBool::new(false);
static TIMED_SLEEPS: AtomicU32 = AtomicU32::new(0);
static TIMES_OUT: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static STARVED: Cell<bool> = const { Cell::new(false) };
    static TIMED: Cell<bool> = const { Cell::new(false) };
    static PASSED: Cell<bool> = const { Cell::new(false) };
}

/// The tests share their machine and its clock.
fn alone() -> (Watchdog, MutexGuard<'static, ()>) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    (watched(), alone)
}

const OVERDUE: u64 = 1_000_000;
/// More than the length of a turn.
const TURN: u64 = 5_000_000;

hooks! {
    /// Time passes only when a test advances it.
    Turns {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn now() -> Timestamp {
            let late = if PASSED.get() { Duration::from_secs(2_000) } else { Duration::ZERO };
            Linux::now().after(late)
        }
        fn woke() {
            if STARVED.get() {
                until(|| !IS_LATE.load(Ordering::SeqCst));
            }
        }
        fn sleep(_until: Option<Timestamp>) -> Option<FutexWait> {
            TIMED.take().then(|| {
                TIMED_SLEEPS.fetch_add(1, Ordering::SeqCst);
                until(|| TIMES_OUT.load(Ordering::SeqCst));
                PASSED.set(true);
                FutexWait::TimedOut
            })
        }
    }
}

type Machine = Hooked<Turns>;

/// Whether the thread that was woken because it is overdue runs late.
fn set_late(is_late: bool) {
    IS_LATE.store(is_late, Ordering::SeqCst);
}

/// Starts a thread that runs late when it is woken, with a section of the lock, and waits until it
/// sleeps.
fn starved<'scope>(
    scope: &'scope Scope<'scope, '_>,
    lock: &'scope Lock<Turns>,
    section: fn(&Lock<Turns>),
) {
    Machine::until_it_sleeps(|| {
        scope.spawn(move || {
            STARVED.set(true);
            section(lock);
        })
    });
}

/// A thread that was woken because it is overdue, and failed to acquire the lock, keeps its turn,
/// although others arrive later with short deadlines.
#[test]
fn the_turn_of_a_writer_is_not_put_off_by_one_that_parks_while_it_is_awake() {
    const MOST: u32 = 50;
    let _alone = alone();
    let lock = &Lock::<Turns>::new();
    let begun = NOW.load(Ordering::SeqCst);
    lock.lock_exclusive();
    let mut turns = 0;
    thread::scope(|scope| {
        starved(scope, lock, write);
        loop {
            turns += 1;
            NOW.fetch_add(OVERDUE * 3 / 10, Ordering::SeqCst);
            set_late(true);
            end_write(lock);
            let reserved = !lock.try_lock_exclusive();
            if reserved || turns == MOST {
                set_late(false);
                if !reserved {
                    end_write(lock);
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
                set_late(false);
                Machine::until_sleeps(sleeps + 1);
                TIMES_OUT.store(true, Ordering::SeqCst);
            });
        }
    });
    let waited = NOW.load(Ordering::SeqCst) - begun;
    assert!(turns < 10, "{turns} turns, {waited} ns");
}

/// One thread repeatedly upgrades its upgradable read to a write and downgrades it again, with
/// hardly a pause. A reader parks during each write, and a writer is overdue.
#[test]
fn readers_beside_an_upgradable_one_do_not_take_the_turn_of_a_writer() {
    const MOST: u32 = 20;
    let _alone = alone();
    let lock = &Lock::<Turns>::new();
    let mut turns = 0;
    thread::scope(|scope| {
        lock.lock_upgradable();
        // SAFETY: locked above.
        unsafe { lock.upgrade() };
        starved(scope, lock, write);
        loop {
            turns += 1;
            let reader = Machine::until_it_sleeps(|| scope.spawn(|| read(lock)));
            NOW.fetch_add(2 * OVERDUE, Ordering::SeqCst);
            // SAFETY: this thread owns the lock.
            unsafe { lock.downgrade_to_upgradable() };
            reader.join().expect("no panic");
            set_late(true);
            // SAFETY: this thread has the upgradable read.
            unsafe { lock.unlock_upgradable() };
            let reserved = !lock.try_lock_upgradable();
            if reserved || turns == MOST {
                if !reserved {
                    // SAFETY: this thread has the upgradable read.
                    unsafe { lock.unlock_upgradable() };
                }
                set_late(false);
                break;
            }
            // SAFETY: as above.
            unsafe { lock.upgrade() };
            let sleeps = Machine::sleeps();
            set_late(false);
            // The thread fails to acquire the lock, and parks again.
            Machine::until_sleeps(sleeps + 1);
        }
    });
    assert_eq!(turns, 1, "the overdue writer was passed over");
}

/// Readers are woken, and a writer barges before they run. They park again, before many writers.
#[test]
fn threads_that_come_back_go_through_no_queue() {
    /// The number of writers, and the pointers that a reader may read for two parks, an unlock, and
    /// some wakes.
    const MANY: u32 = 100;
    const FEW: u32 = 90;
    let _alone = alone();
    let lock = &Lock::<Turns>::new();
    thread::scope(|scope| {
        lock.lock_exclusive();
        let first = Machine::sleeps();
        let readers: Vec<_> = (1..=4)
            .map(|number| {
                let reader = scope.spawn(|| {
                    STARVED.set(true);
                    calls_of(|| read(lock))
                });
                Machine::until_sleeps(first + number);
                NOW.fetch_add(1, Ordering::SeqCst);
                reader
            })
            .collect();
        for number in 5..5 + MANY {
            scope.spawn(|| write(lock));
            Machine::until_sleeps(first + number);
            NOW.fetch_add(1, Ordering::SeqCst);
        }
        set_late(true);
        end_write(lock);
        assert!(lock.try_lock_exclusive(), "no turn is reserved yet");
        set_late(false);
        Machine::until_sleeps(first + 8 + MANY);
        end_write(lock);
        for reader in readers {
            let calls = reader.join().expect("no panic");
            assert!(calls.pointers < FEW, "{calls:?}");
        }
    });
    Machine::until_at_rest();
}

/// A thread is overdue, and does not run after its turn was reserved: it may be stopped. Others do
/// `work` meanwhile.
fn beside_a_stopped_thread(section: fn(&Lock<Turns>), work: impl FnOnce(&Lock<Turns>)) {
    let _alone = alone();
    let lock = &Lock::<Turns>::new();
    thread::scope(|scope| {
        lock.lock_exclusive();
        starved(scope, lock, section);
        NOW.fetch_add(2 * OVERDUE, Ordering::SeqCst);
        set_late(true);
        end_write(lock);
        assert!(!lock.is_locked(), "a thread that does not run has the lock");
        assert!(!lock.try_lock_exclusive() && !lock.try_lock_upgradable(), "the turn is reserved");
        read(lock);
        work(lock);
        set_late(false);
    });
    assert!(!lock.is_locked());
    Machine::until_at_rest();
}

#[test]
fn the_turn_of_a_stopped_thread_ends_for_a_writer_that_does_not_wait() {
    for section in [write as fn(&_), read] {
        beside_a_stopped_thread(section, |lock| {
            NOW.fetch_add(TURN, Ordering::SeqCst);
            assert!(lock.try_lock_exclusive());
            end_write(lock);
        });
    }
}

/// The lock is taken when the stopped thread runs.
#[test]
fn a_thread_that_runs_after_its_turn_parks_again() {
    beside_a_stopped_thread(write, |lock| {
        NOW.fetch_add(TURN, Ordering::SeqCst);
        assert!(lock.try_lock_exclusive());
        Machine::until_it_sleeps(|| set_late(false));
        end_write(lock);
    });
}

/// The machine was suspended.
#[test]
fn the_turn_of_a_stopped_thread_ends_if_the_counter_begins_again() {
    const BACK: u64 = 1 << 39;
    beside_a_stopped_thread(write, |lock| {
        NOW.fetch_sub(BACK, Ordering::SeqCst);
        let has_ended = lock.try_lock_exclusive();
        NOW.fetch_add(BACK, Ordering::SeqCst);
        assert!(has_ended);
        end_write(lock);
    });
}

#[test]
fn the_turn_of_a_stopped_thread_ends_for_an_upgradable_reader_that_does_not_wait() {
    beside_a_stopped_thread(write, |lock| {
        NOW.fetch_add(TURN, Ordering::SeqCst);
        assert!(lock.try_lock_upgradable());
        // SAFETY: this thread has the upgradable read.
        unsafe { lock.unlock_upgradable() };
    });
}

#[test]
fn the_turn_of_a_stopped_thread_ends_for_a_writer_that_comes_later() {
    beside_a_stopped_thread(write, |lock| {
        NOW.fetch_add(TURN, Ordering::SeqCst);
        write(lock);
    });
}

/// It finds out at the end of a slice of its sleep.
#[test]
fn the_turn_of_a_stopped_thread_ends_for_a_writer_that_sleeps() {
    beside_a_stopped_thread(write, |lock| {
        thread::scope(|scope| {
            let timed = TIMED_SLEEPS.load(Ordering::SeqCst);
            TIMES_OUT.store(false, Ordering::SeqCst);
            scope.spawn(move || {
                TIMED.set(true);
                write(lock);
            });
            until(|| TIMED_SLEEPS.load(Ordering::SeqCst) > timed);
            assert!(!lock.is_locked());
            NOW.fetch_add(TURN, Ordering::SeqCst);
            TIMES_OUT.store(true, Ordering::SeqCst);
        });
    });
}

/// A fair unlock leaves the lock to the thread that has waited longest, although that has just
/// begun to wait.
#[test]
fn a_fair_unlock_reserves_a_turn() {
    let _alone = alone();
    let lock = &Lock::<Turns>::new();
    thread::scope(|scope| {
        lock.lock_exclusive();
        for _ in 0..2 {
            starved(scope, lock, write);
        }
        set_late(true);
        // SAFETY: this thread owns it.
        let Calls { wakes, .. } = calls_of(|| unsafe { lock.unlock_exclusive_fair() });
        assert!(wakes == 1 && !lock.try_lock_exclusive());
        set_late(false);
    });
    assert!(!lock.is_locked());
    Machine::until_at_rest();
}

/// A woken writer gets no CPU, or is not there in the child of a fork, and the calling thread locks
/// again. Another writer waits. Its slice ends if `slice_ends`. Then `unlock` runs.
fn beside_a_writer_in_flight(slice_ends: bool, unlock: impl FnOnce(&Lock<Turns>)) {
    let _alone = alone();
    let lock = &Lock::<Turns>::new();
    lock.lock_exclusive();
    TIMES_OUT.store(false, Ordering::SeqCst);
    thread::scope(|scope| {
        starved(scope, lock, write);
        let timed = TIMED_SLEEPS.load(Ordering::SeqCst);
        scope.spawn(|| {
            TIMED.set(true);
            write(lock);
        });
        until(|| TIMED_SLEEPS.load(Ordering::SeqCst) > timed);
        set_late(true);
        assert_eq!(calls_of(|| end_write(lock)).wakes, 1);
        assert!(lock.try_lock_exclusive());
        if slice_ends {
            Machine::until_it_sleeps(|| TIMES_OUT.store(true, Ordering::SeqCst));
        }
        unlock(lock);
        TIMES_OUT.store(true, Ordering::SeqCst);
        set_late(false);
    });
    assert!(!lock.is_locked());
    Machine::until_at_rest();
}

#[test]
fn a_writer_whose_slice_ends_relies_on_no_writer_in_flight_any_more() {
    beside_a_writer_in_flight(true, |lock| {
        assert_eq!(calls_of(|| end_write(lock)).wakes, 1);
    });
}

#[test]
fn a_fair_unlock_reserves_a_turn_beside_a_writer_in_flight() {
    beside_a_writer_in_flight(false, |lock| {
        // SAFETY: the calling thread has locked it.
        unsafe { lock.unlock_exclusive_fair() };
        assert!(!lock.try_lock_exclusive(), "the turn is the other's");
    });
}
