//! Which threads a semaphore serves, and which permits it keeps, while time passes and woken
//! threads do not run yet.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use ondeck::parking::waiting;
use ondeck::platform::{FutexWait, Timestamp};
use ondeck::semaphore::Semaphore;

use super::hooked_platform::{Calls, Gate, Hooked, calls_of, hooks, until};
use super::watched;

static NOW: AtomicU64 = AtomicU64::new(10);
static WOKEN: Gate = Gate::new();
/// Whether threads that wake stop.
static ALL_STOP: AtomicBool = AtomicBool::new(false);
static SLICE_ENDS: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    /// Whether the thread's next sleep ends with its slice.
    static SLICED: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    /// The tests move the time. A thread that is marked stops when it wakes.
    Timed {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn woke() {
            WOKEN.pass();
            until(|| !ALL_STOP.load(Ordering::SeqCst));
        }
        fn sleep(_until: Option<Timestamp>) -> Option<FutexWait> {
            SLICED.take().then(|| {
                until(|| SLICE_ENDS.load(Ordering::SeqCst));
                FutexWait::TimedOut
            })
        }
    }
}

type Machine = Hooked<Timed>;

/// Runs a test with a semaphore that has no permits. One at a time, as the time is one.
fn with_semaphore(
    test: impl for<'scope> FnOnce(&'scope Scope<'scope, '_>, &'scope Semaphore<Machine>),
) {
    static ONE: Mutex<()> = Mutex::new(());
    let _watchdog = watched();
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let semaphore = Semaphore::on_platform(0);
    thread::scope(|scope| test(scope, &semaphore));
    Machine::until_at_rest();
}

fn pass(nanos: u64) {
    NOW.fetch_add(nanos, Ordering::SeqCst);
}

fn in_line(semaphore: &Semaphore<Machine>) -> usize {
    waiting::<Machine>(std::ptr::from_ref(semaphore).addr())
}

/// Starts a thread that waits for `permits`, and returns when it is in the line. If it is to be
/// stopped, it stops when it wakes.
fn wait<'scope>(
    scope: &'scope Scope<'scope, '_>,
    semaphore: &'scope Semaphore<Machine>,
    permits: u32,
    stops: bool,
) -> ScopedJoinHandle<'scope, ()> {
    let (before, sleeps) = (in_line(semaphore), Machine::sleeps());
    let thread = scope.spawn(move || {
        if stops {
            WOKEN.stop_me();
        }
        semaphore.acquire_many(permits);
    });
    until(|| in_line(semaphore) == before + 1);
    Machine::until_sleeps(sleeps + 1);
    pass(1);
    thread
}

/// Permits are kept for the oldest thread in the line, while an older one that was woken to compete
/// has not run yet.
#[test]
fn a_thread_that_comes_back_has_what_is_kept_for_a_younger_one() {
    with_semaphore(|scope, semaphore| {
        let older = wait(scope, semaphore, 1, true);
        let younger = wait(scope, semaphore, 10, false);
        semaphore.release(1);
        WOKEN.until_reached();
        pass(2_000_000);
        semaphore.release(1);
        assert!(!semaphore.try_acquire(), "both permits are kept");
        WOKEN.open();
        until(|| older.is_finished() || in_line(semaphore) == 2);
        assert_eq!((semaphore.available(), in_line(semaphore)), (1, 1));
        assert!(!semaphore.try_acquire(), "the other permit is still kept");
        semaphore.release(9);
        younger.join().unwrap();
    });
}

#[test]
fn a_thread_that_comes_back_in_vain_has_its_old_place() {
    with_semaphore(|scope, semaphore| {
        wait(scope, semaphore, 1, true);
        wait(scope, semaphore, 10, false);
        semaphore.release(1);
        WOKEN.until_reached();
        assert!(semaphore.try_acquire(), "it competes");
        WOKEN.open();
        until(|| in_line(semaphore) == 2);
        semaphore.release(1);
        assert_eq!(in_line(semaphore), 1, "one permit suffices for the oldest");
        semaphore.release(10);
    });
}

#[test]
fn a_grant_keeps_no_permits_for_the_next_and_is_the_last_for_a_while() {
    with_semaphore(|scope, semaphore| {
        wait(scope, semaphore, 1, false);
        wait(scope, semaphore, 2, true);
        pass(2_000_000);
        semaphore.release(2);
        assert!(semaphore.try_acquire(), "one was granted, and the other one is free");
        semaphore.release(2);
        WOKEN.until_reached();
        assert!(semaphore.try_acquire_many(2), "the second thread competes");
        WOKEN.open();
        semaphore.release(2);
    });
}

/// By a clock that ticks rarely, the older thread is not older. The permit that it leaves suffices
/// for the other one.
#[test]
fn a_thread_that_comes_back_in_vain_leaves_none_asleep_beside_a_permit() {
    with_semaphore(|scope, semaphore| {
        wait(scope, semaphore, 2, true);
        NOW.fetch_sub(1, Ordering::SeqCst);
        let younger = wait(scope, semaphore, 1, false);
        semaphore.release(2);
        WOKEN.until_reached();
        assert!(semaphore.try_acquire(), "it competes");
        WOKEN.open();
        until(|| younger.is_finished() || in_line(semaphore) == 2);
        let is_lost = in_line(semaphore) == 2;
        semaphore.release(3);
        assert!(!is_lost, "it sleeps");
    });
}

/// The threads that are woken for the first permits do not run before the last permit is released.
#[test]
fn each_permit_of_a_burst_wakes_one_thread() {
    with_semaphore(|scope, semaphore| {
        for _ in 0..15 {
            wait(scope, semaphore, 1, false);
        }
        ALL_STOP.store(true, Ordering::SeqCst);
        let Calls { wakes, .. } = calls_of(|| (0..5).for_each(|_| semaphore.release(1)));
        assert_eq!((wakes, in_line(semaphore), semaphore.available()), (5, 10, 5));
        ALL_STOP.store(false, Ordering::SeqCst);
        until(|| semaphore.available() == 0);
        // Also after those have taken theirs.
        let Calls { wakes, .. } = calls_of(|| semaphore.release(1));
        assert_eq!(wakes, 1);
        semaphore.release(9);
    });
}

/// One thread wants many permits, which come one by one, and a woken one takes its own in between.
#[test]
fn permits_that_no_thread_was_woken_for_add_up() {
    with_semaphore(|scope, semaphore| {
        wait(scope, semaphore, 1, true);
        let many = wait(scope, semaphore, 3, false);
        semaphore.release(1);
        WOKEN.until_reached();
        semaphore.release(1);
        semaphore.release(1);
        WOKEN.open();
        until(|| semaphore.available() == 2);
        semaphore.release(1);
        many.join().unwrap();
        assert_eq!(semaphore.available(), 0);
    });
}

/// Another thread takes the permit of a woken one. That comes back, and its permit is the next.
#[test]
fn a_permit_that_was_taken_from_a_woken_thread_is_made_up_for() {
    with_semaphore(|scope, semaphore| {
        let two = wait(scope, semaphore, 2, true);
        wait(scope, semaphore, 10, false);
        semaphore.release(2);
        WOKEN.until_reached();
        assert!(semaphore.try_acquire());
        WOKEN.open();
        until(|| in_line(semaphore) == 2);
        let Calls { wakes, .. } = calls_of(|| semaphore.release(1));
        assert_eq!(wakes, 1, "both permits are for it");
        two.join().unwrap();
        assert_eq!(semaphore.available(), 0);
        semaphore.release(10);
    });
}

/// The thread that was woken for the permit does not run: it may be stopped. No thread has a permit
/// to release.
#[test]
fn a_thread_takes_the_permit_of_a_stopped_one_at_the_end_of_a_slice() {
    with_semaphore(|scope, semaphore| {
        let stopped = wait(scope, semaphore, 1, true);
        SLICE_ENDS.store(false, Ordering::SeqCst);
        let other = scope.spawn(move || {
            SLICED.set(true);
            semaphore.acquire();
        });
        until(|| in_line(semaphore) == 2);
        semaphore.release(1);
        WOKEN.until_reached();
        assert_eq!((in_line(semaphore), semaphore.available()), (1, 1));
        let sleeps = Machine::sleeps();
        SLICE_ENDS.store(true, Ordering::SeqCst);
        until(|| other.is_finished() || Machine::sleeps() > sleeps);
        let has_it = other.is_finished();
        WOKEN.open();
        semaphore.release(1);
        assert!(has_it, "it sleeps beside a permit");
        stopped.join().unwrap();
    });
}

/// A thread that was woken for `stopped` permits does not run. The end of its slice lets the next
/// one have `sliced`, and the last one has the permit that is left. None is released after that.
fn are_served_beside_a_stopped_thread(stopped: u32, sliced: u32, released: u32) {
    with_semaphore(|scope, semaphore| {
        let stopped = wait(scope, semaphore, stopped, true);
        SLICE_ENDS.store(false, Ordering::SeqCst);
        scope.spawn(move || {
            SLICED.set(true);
            semaphore.acquire_many(sliced);
        });
        until(|| in_line(semaphore) == 2);
        let next = scope.spawn(move || semaphore.acquire());
        until(|| in_line(semaphore) == 3);
        semaphore.release(released);
        WOKEN.until_reached();
        assert_eq!((in_line(semaphore), semaphore.available()), (2, released));
        SLICE_ENDS.store(true, Ordering::SeqCst);
        until(|| in_line(semaphore) < 2);
        let is_served = in_line(semaphore) == 0;
        WOKEN.open();
        semaphore.release(2);
        assert!(is_served, "it sleeps beside a permit");
        next.join().unwrap();
        stopped.join().unwrap();
    });
}

/// Two threads of the line, of which the older wants more than what no thread was woken for.
#[test]
fn a_thread_that_takes_permits_at_the_end_of_a_slice_leaves_the_others_to_the_next() {
    are_served_beside_a_stopped_thread(3, 2, 4);
}

/// The thread that was woken for both permits does not run, and neither is released again.
#[test]
fn a_thread_that_takes_the_permits_of_a_stopped_one_wakes_the_next() {
    are_served_beside_a_stopped_thread(2, 1, 2);
}
