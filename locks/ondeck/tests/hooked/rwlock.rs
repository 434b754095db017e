//! The reader-writer lock: the turns of threads, the amount of work under the lock of a bucket,
//! which other locks share, and waits of threads that do not poll.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Scope};
use std::time::Duration;

use ondeck::platform::{FutexWait, Linux, Platform, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Calls, Gate, Hooked, Hooks, calls_of, hooks, until};
use super::watched;

pub(super) type Lock<H> = RawRwLock<Hooked<H>>;

fn leaked<H: Hooks>() -> &'static Lock<H> {
    Box::leak(Box::new(RawRwLock::new()))
}

/// A section of a reader.
pub(super) fn read<H: Hooks>(lock: &Lock<H>) {
    lock.lock_shared_counted();
    // SAFETY: the lock was just acquired.
    unsafe { lock.unlock_shared_counted() };
}

/// A section of a writer.
pub(super) fn write<H: Hooks>(lock: &Lock<H>) {
    lock.lock_exclusive();
    end_write(lock);
}

pub(super) fn end_write<H: Hooks>(lock: &Lock<H>) {
    // SAFETY: the tests unlock only locks that they have locked.
    unsafe { lock.unlock_exclusive() };
}

/// The gate at which the unlocking thread stops: it has changed the status of the first of two
/// readers, and not yet of the second.
static HALF_WAY: Gate = Gate::new();
/// Whether the second reader is about to sleep for the first time.
static IS_PARKED: AtomicBool = AtomicBool::new(false);
/// The number of its sleeps with a deadline since it was chosen.
static LOOKS: AtomicU32 = AtomicU32::new(0);
/// Whether the thread sleeps until its status changes.
static SLEEPS: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static IS_SECOND: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    Chosen {
        fn sleep(end: Option<Timestamp>) -> Option<FutexWait> {
            if !IS_SECOND.get() {
                return None;
            }
            if end.is_none() {
                SLEEPS.store(true, Ordering::SeqCst);
                return None;
            }
            if IS_PARKED.swap(true, Ordering::SeqCst) {
                LOOKS.fetch_add(1, Ordering::SeqCst);
            }
            HALF_WAY.until_reached();
            Some(FutexWait::TimedOut)
        }
        fn wakes() {
            HALF_WAY.pass();
        }
    }
}

/// A reader was chosen to continue, but its status has not been changed yet: the thread that must
/// change it may have lost its CPU.
#[test]
fn a_chosen_reader_sleeps_until_it_is_told() {
    let _watchdog = watched();
    let lock = leaked::<Chosen>();
    let reader = |is_second| {
        thread::spawn(move || {
            IS_SECOND.set(is_second);
            read(lock);
        })
    };
    lock.lock_exclusive();
    let first = reader(false);
    Hooked::<Chosen>::until_sleeps(1);
    let second = reader(true);
    until(|| IS_PARKED.load(Ordering::SeqCst));
    let writer = thread::spawn(move || {
        HALF_WAY.stop_me();
        // SAFETY: the thread that locked it leaves the unlock to this one.
        unsafe { lock.unlock_exclusive_fair() };
    });
    HALF_WAY.until_reached();
    until(|| SLEEPS.load(Ordering::SeqCst) || LOOKS.load(Ordering::SeqCst) > 10);
    assert!(SLEEPS.load(Ordering::SeqCst), "it looks again and again");
    HALF_WAY.open();
    for thread in [first, second, writer] {
        thread.join().expect("no panic");
    }
    assert!(!lock.is_locked());
}

hooks! { Queue {} }

/// Starts a thread with each of these sections, when the threads before it sleep.
fn parked<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    lock: &'static Lock<H>,
    sections: impl IntoIterator<Item = fn(&Lock<H>)>,
) {
    for section in sections {
        Hooked::<H>::until_it_sleeps(|| scope.spawn(move || section(lock)));
    }
}

/// More threads than a section of the bucket's lock may go through, and the pointers that it may
/// read.
const MANY: usize = 150;
const FEW: u32 = 80;

/// Does something beside many parked writers and a parked reader, and returns how many pointers
/// that reads.
fn pointers_beside_many(work: impl FnOnce(&'static Lock<Queue>)) -> Calls {
    let _watchdog = watched();
    let lock = leaked::<Queue>();
    lock.lock_exclusive();
    let calls = thread::scope(|scope| {
        let writers = std::iter::repeat_n(write as fn(&_), MANY);
        parked(scope, lock, writers.chain([read as fn(&_)]));
        let calls = calls_of(|| work(lock));
        end_write(lock);
        calls
    });
    assert!(!lock.is_locked());
    calls
}

#[test]
fn a_fair_unlock_goes_through_no_queue() {
    let calls = pointers_beside_many(|lock| {
        // SAFETY: this thread owns it.
        unsafe { lock.unlock_exclusive_fair() };
        lock.lock_exclusive();
    });
    assert!(calls.pointers < FEW, "{calls:?}");
}

/// Only a reader may continue.
#[test]
fn a_downgrade_to_an_upgradable_read_goes_through_no_queue() {
    let calls = pointers_beside_many(|lock| {
        // SAFETY: this thread owns it, and then has the upgradable read.
        unsafe {
            lock.downgrade_to_upgradable();
            lock.upgrade();
        }
    });
    assert!(calls.wakes == 0 && calls.pointers < FEW, "{calls:?}");
}

#[test]
fn a_thread_that_parks_and_gives_up_goes_through_no_queue() {
    let calls = pointers_beside_many(|lock| {
        let soon = Linux::now().after(Duration::from_millis(1));
        assert!(!lock.try_lock_exclusive_until(soon));
    });
    assert!(calls.pointers < FEW, "{calls:?}");
}

std::thread_local! {
    /// The number of pauses of this thread.
    static PAUSES: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Unpolled {
        fn pause() {
            PAUSES.set(PAUSES.get() + 1);
            Linux::pause();
        }
        // A short section would take a hundred turns.
        fn transfer_ticks() -> usize {
            Linux::ticks_in(100_000)
        }
    }
}

/// If no thread polls, as with `ONDECK_SPIN=0` or on one CPU, a thread that finds the lock held
/// does not read it repeatedly before it parks.
#[test]
fn a_thread_that_does_not_poll_parks_without_a_pause() {
    let _watchdog = watched();
    let lock = leaked::<Unpolled>();
    lock.lock_exclusive();
    let pauses = thread::scope(|scope| {
        let waits = scope.spawn(|| {
            write(lock);
            PAUSES.get()
        });
        Hooked::<Unpolled>::until_sleeps(1);
        end_write(lock);
        waits.join().expect("no panic")
    });
    assert_eq!(pauses, 0);
}

std::thread_local! {
    /// The number of pauses of this thread before it first slept.
    static PAUSES_AWAKE: Cell<Option<u32>> = const { Cell::new(None) };
}

hooks! {
    Polled {
        fn polling() -> Polling {
            Polling::default()
        }
        fn transfer_ticks() -> usize {
            Linux::ticks_in(100)
        }
        fn pause() {
            PAUSES.set(PAUSES.get() + 1);
            Linux::pause();
        }
        fn sleep(_until: Option<Timestamp>) -> Option<FutexWait> {
            PAUSES_AWAKE.set(PAUSES_AWAKE.get().or(Some(PAUSES.get())));
            None
        }
    }
}

/// The lock changes hands after the wake of that writer at the earliest, and no thread polls for
/// longer than a wake.
#[test]
fn a_thread_behind_a_writer_that_sleeps_parks_without_a_pause() {
    let _watchdog = watched();
    let lock = leaked::<Polled>();
    lock.lock_shared_counted();
    let sections: [fn(&Lock<Polled>); 3] = [write, read, write];
    let mut sleeps = 0;
    let threads = sections.map(|section| {
        sleeps += 1;
        let waits = thread::spawn(move || {
            section(lock);
            PAUSES_AWAKE.get().expect("it has slept")
        });
        Hooked::<Polled>::until_sleeps(sleeps);
        waits
    });
    // SAFETY: locked above.
    unsafe { lock.unlock_shared_counted() };
    let [drains, later @ ..] = threads.map(|it| it.join().expect("no panic"));
    assert!(drains > 0, "the writer polls");
    assert_eq!(later, [0, 0]);
}

hooks! {
    /// No time passes, so that no thread is overdue.
    Adjacent {
        fn ticks() -> u64 {
            0
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
    }
}

hooks! {
    /// The same, with a table of its own.
    Passed {
        fn ticks() -> u64 {
            0
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
    }
}

/// The unlock wakes the oldest readers, eight at most, and not the reader behind a writer.
#[test]
fn adjacent_readers_are_woken_in_one_step() {
    let _watchdog = watched();
    for (readers, woken) in [(3, 3), (9, 8)] {
        let lock = leaked::<Adjacent>();
        lock.lock_exclusive();
        let mut sections: Vec<fn(&Lock<Adjacent>)> = vec![read; readers];
        sections.extend([write as fn(&_), read]);
        let threads: Vec<_> = sections
            .into_iter()
            .map(|section| {
                Hooked::<Adjacent>::until_it_sleeps(|| thread::spawn(move || section(lock)))
            })
            .collect();
        assert_eq!(calls_of(|| end_write(lock)).wakes, woken, "before any of them has run");
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert!(!lock.is_locked());
    }
}

/// The unlock wakes nine readers. The first of them wakes the tenth when it has the lock, though
/// all of them keep it.
#[test]
fn readers_that_are_not_woken_with_the_first_are_woken_by_it() {
    const READERS: u32 = 10;
    let _watchdog = watched();
    let lock = leaked::<Passed>();
    let inside = &AtomicU32::new(0);
    lock.lock_exclusive();
    thread::scope(|scope| {
        for _ in 0..READERS {
            Hooked::<Passed>::until_it_sleeps(|| {
                scope.spawn(|| {
                    lock.lock_shared_counted();
                    inside.fetch_add(1, Ordering::SeqCst);
                    until(|| inside.load(Ordering::SeqCst) == READERS);
                    // SAFETY: the lock was just acquired.
                    unsafe { lock.unlock_shared_counted() };
                })
            });
        }
        end_write(lock);
    });
    assert!(!lock.is_locked());
}
