//! The reader-writer lock: the turns of threads, the amount of work under the lock of a bucket, which other locks
//! share, and waits of threads that do not poll.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ondeck::platform::{FutexWait, Linux, Platform, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, Hooks, calls_of, hooks, until};
use super::watched;

type Lock<H> = RawRwLock<Hooked<H>>;

fn leaked<H: Hooks>() -> &'static Lock<H> {
    Box::leak(Box::new(RawRwLock::new()))
}

/// A section of a reader.
fn read<H: Hooks>(lock: &Lock<H>) {
    lock.lock_shared_counted();
    // SAFETY: the lock was just acquired.
    unsafe { lock.unlock_shared_counted() };
}

/// A section of a writer.
fn write<H: Hooks>(lock: &Lock<H>) {
    lock.lock_exclusive();
    end_write(lock);
}

fn end_write<H: Hooks>(lock: &Lock<H>) {
    // SAFETY: the tests unlock only locks that they have locked.
    unsafe { lock.unlock_exclusive() };
}

/// The gate at which the unlocking thread stops: it has changed the status of the first of two readers, and not yet of
/// the second.
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

/// A reader was chosen to continue, but its status has not been changed yet: the thread that must change it may have
/// lost its CPU.
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

/// The queue has a reader, many writers, and many readers. All readers are handed the lock.
#[test]
fn readers_are_chosen_in_time_proportional_to_the_queue() {
    /// The number of waiting writers, and of waiting readers after them.
    const WRITERS: u32 = 40;
    /// The pointers read for each thread in the queue: enough for a few traversals, and for an unlink.
    const FEW: u32 = 15;
    let _watchdog = watched();
    let lock = leaked::<Queue>();
    lock.lock_exclusive();
    let mut threads = Vec::new();
    for number in 0..=2 * WRITERS {
        let writes = (1..=WRITERS).contains(&number);
        threads.push(thread::spawn(move || if writes { write(lock) } else { read(lock) }));
        Hooked::<Queue>::until_sleeps(number + 1);
    }
    // SAFETY: this thread owns it.
    let calls = calls_of(|| unsafe { lock.unlock_exclusive_fair() });
    assert_eq!(calls.wakes, WRITERS + 2, "the readers, and the oldest writer");
    assert!(calls.pointers < FEW * threads.len() as u32, "{calls:?}");
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert!(!lock.is_locked());
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

/// If no thread polls, as with `ONDECK_SPIN=0` or on one CPU, a thread that finds the lock held does not read it
/// repeatedly before it parks.
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

/// The lock changes hands after the wake of that writer at the earliest, and no thread polls for longer than a wake.
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
                let sleeps = Hooked::<Adjacent>::sleeps();
                let waits = thread::spawn(move || section(lock));
                Hooked::<Adjacent>::until_sleeps(sleeps + 1);
                waits
            })
            .collect();
        assert_eq!(calls_of(|| end_write(lock)).wakes, woken, "before any of them has run");
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert!(!lock.is_locked());
    }
}

/// The unlock wakes nine readers. The first of them wakes the tenth when it has the lock, though all of them keep it.
#[test]
fn readers_that_are_not_woken_with_the_first_are_woken_by_it() {
    const READERS: u32 = 10;
    let _watchdog = watched();
    let lock = leaked::<Passed>();
    let inside = &AtomicU32::new(0);
    lock.lock_exclusive();
    thread::scope(|scope| {
        for _ in 0..READERS {
            let sleeps = Hooked::<Passed>::sleeps();
            scope.spawn(|| {
                lock.lock_shared_counted();
                inside.fetch_add(1, Ordering::SeqCst);
                until(|| inside.load(Ordering::SeqCst) == READERS);
                // SAFETY: the lock was just acquired.
                unsafe { lock.unlock_shared_counted() };
            });
            Hooked::<Passed>::until_sleeps(sleeps + 1);
        }
        end_write(lock);
    });
    assert!(!lock.is_locked());
}

static NOW: AtomicU64 = AtomicU64::new(1 << 40);
static IS_LATE: AtomicBool = AtomicBool::new(false);
static TIMED_SLEEPS: AtomicU32 = AtomicU32::new(0);
static TIMES_OUT: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static STARVED: Cell<bool> = const { Cell::new(false) };
    static TIMED: Cell<bool> = const { Cell::new(false) };
    static PASSED: Cell<bool> = const { Cell::new(false) };
}

/// The tests of turns share their machine and its clock.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const OVERDUE: u64 = 1_000_000;

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

/// Whether the thread that was woken because it is overdue competes late.
fn set_late(is_late: bool) {
    IS_LATE.store(is_late, Ordering::SeqCst);
}

/// A thread that was woken because it is overdue, and failed to acquire the lock, keeps its turn, although others
/// arrive later with short deadlines.
#[test]
fn the_turn_of_a_writer_is_not_put_off_by_one_that_parks_while_it_is_awake() {
    const MOST: u32 = 50;
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let lock = &Lock::<Turns>::new();
    let begun = NOW.load(Ordering::SeqCst);
    lock.lock_exclusive();
    let mut turns = 0;
    thread::scope(|scope| {
        let sleeps = Machine::sleeps();
        scope.spawn(move || {
            STARVED.set(true);
            write(lock);
        });
        Machine::until_sleeps(sleeps + 1);
        loop {
            turns += 1;
            NOW.fetch_add(OVERDUE * 3 / 10, Ordering::SeqCst);
            set_late(true);
            end_write(lock);
            let handed = !lock.try_lock_exclusive();
            if handed || turns == MOST {
                set_late(false);
                if !handed {
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

/// One thread repeatedly upgrades its upgradable read to a write and downgrades it again, with hardly a pause. A reader
/// parks during each write, and a writer is overdue.
#[test]
fn readers_beside_an_upgradable_one_do_not_take_the_turn_of_a_writer() {
    const MOST: u32 = 20;
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let lock = &Lock::<Turns>::new();
    let mut turns = 0;
    thread::scope(|scope| {
        lock.lock_upgradable();
        // SAFETY: locked above.
        unsafe { lock.upgrade() };
        let sleeps = Machine::sleeps();
        scope.spawn(|| {
            STARVED.set(true);
            write(lock);
        });
        Machine::until_sleeps(sleeps + 1);
        loop {
            turns += 1;
            let sleeps = Machine::sleeps();
            let reader = scope.spawn(|| read(lock));
            Machine::until_sleeps(sleeps + 1);
            NOW.fetch_add(2 * OVERDUE, Ordering::SeqCst);
            // SAFETY: this thread owns the lock.
            unsafe { lock.downgrade_to_upgradable() };
            reader.join().expect("no panic");
            set_late(true);
            // SAFETY: this thread has the upgradable read.
            unsafe { lock.unlock_upgradable() };
            let handed = !lock.try_lock_upgradable();
            if handed || turns == MOST {
                if !handed {
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

/// A woken writer gets no CPU, or is not there in the child of a fork, and the calling thread locks again. Another writer
/// waits. Its slice ends if `slice_ends`. Then `unlock` runs.
fn beside_a_writer_in_flight(slice_ends: bool, unlock: impl FnOnce(&Lock<Turns>)) {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let lock = &Lock::<Turns>::new();
    lock.lock_exclusive();
    TIMES_OUT.store(false, Ordering::SeqCst);
    thread::scope(|scope| {
        let sleeps = Machine::sleeps();
        scope.spawn(|| {
            STARVED.set(true);
            write(lock);
        });
        Machine::until_sleeps(sleeps + 1);
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
            let sleeps = Machine::sleeps();
            TIMES_OUT.store(true, Ordering::SeqCst);
            Machine::until_sleeps(sleeps + 1);
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
fn a_fair_unlock_hands_the_lock_over_beside_a_writer_in_flight() {
    beside_a_writer_in_flight(false, |lock| {
        // SAFETY: the calling thread has locked it.
        unsafe { lock.unlock_exclusive_fair() };
        assert!(!lock.try_lock_exclusive(), "the other has the lock");
    });
}
