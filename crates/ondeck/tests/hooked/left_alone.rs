//! The end of a slice of sleep: a parked thread looks whether the threads that unlocks rely on get no CPU. Time
//! passes only where a test says so.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use ondeck::mutex::RawMutex;
use ondeck::platform::{FutexWait, Timestamp};
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, calls_of, hooks, until};
use super::{SHORT, no_polling, unlock, watched};

/// The time, in ticks of a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(0);
/// How often a thread has parked.
static PARKS: AtomicU32 = AtomicU32::new(0);
/// How often a thread has begun to sleep, or to sleep on.
static SLEEPS: AtomicU32 = AtomicU32::new(0);
/// Whether each thread that competes polls.
static ALL_POLL: AtomicBool = AtomicBool::new(false);
static WOKE: Gate = Gate::new();
static PAUSE: Gate = Gate::new();

/// So many slices of each sleep have ended; those that are to come are as long as the test takes if this is
/// `NO_SLICES`.
static SLICES: Mutex<u32> = Mutex::new(NO_SLICES);
static SLICE_ENDS: Condvar = Condvar::new();
const NO_SLICES: u32 = u32::MAX;

/// A whole slice, and more.
const LONG: u64 = 25_000_000;
/// Far longer than a poller that runs ever pauses, and shorter than the first slice.
const A_WHILE: u64 = 5_000_000;

std::thread_local! {
    static POLLS: Cell<bool> = const { Cell::new(false) };
    /// How many slices have ended for this thread.
    static ENDED: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Alone {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        // No thread is ever overdue, or each poller would have one woken.
        fn ticks_in(nanos: u32) -> usize {
            if nanos == 1_000_000 { usize::MAX / 4 } else { nanos as usize }
        }
        fn pause() {
            PAUSE.pass();
            NOW.fetch_add(u64::from(SHORT), Ordering::SeqCst);
        }
        fn polling() -> Polling {
            let mut polling = no_polling();
            if POLLS.get() || ALL_POLL.load(Ordering::SeqCst) {
                polling.budget = 20 * SHORT;
            }
            polling
        }
        // Asked of a thread that is about to park.
        fn priority() -> u32 {
            PARKS.fetch_add(1, Ordering::SeqCst);
            0
        }
        fn sleep(_: Option<Timestamp>) -> Option<FutexWait> {
            SLEEPS.fetch_add(1, Ordering::SeqCst);
            let ended = ENDED.get();
            let slices = SLICE_ENDS
                .wait_while(slices(), |slices| *slices <= ended)
                .unwrap_or_else(PoisonError::into_inner);
            ENDED.set(ended + 1);
            (*slices != NO_SLICES).then_some(FutexWait::TimedOut)
        }
        fn woke() {
            WOKE.pass();
        }
    }
}

type Machine = Hooked<Alone>;
type Lock = RawMutex<Machine>;

/// The tests share a table, and the time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn slices() -> MutexGuard<'static, u32> {
    SLICES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_slices(count: u32) {
    *slices() = count;
    SLICE_ENDS.notify_all();
}

fn time_passes(ticks: u64) {
    NOW.fetch_add(ticks, Ordering::SeqCst);
}

/// So many threads are parked for the lock.
const MANY: u32 = 300;

/// Says how often threads park while a slice of each of the many ends.
fn parks_in_a_slice() -> u32 {
    let (parks, sleeps) = (PARKS.load(Ordering::SeqCst), SLEEPS.load(Ordering::SeqCst));
    let ended = *slices();
    set_slices(ended + 1);
    // Each of them sleeps on, or parks again and sleeps.
    until(|| SLEEPS.load(Ordering::SeqCst) >= sleeps + MANY);
    PARKS.load(Ordering::SeqCst) - parks
}

/// A thread that wants the lock, which is taken, first does `before`.
fn want<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    mutex: &'scope Lock,
    before: impl FnOnce() + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, ()> {
    scope.spawn(move || {
        before();
        mutex.lock();
        unlock(mutex);
    })
}

/// Many threads are parked for a lock that stays taken, and poll when they compete, while `work` is done.
/// Beside them there is, with `flies`, a thread that was woken and does not run, else a poller that does not.
fn with_many_parked(flies: bool, work: impl FnOnce()) {
    let _watchdog = watched();
    let _alone = alone();
    let mutex = &Lock::new();
    // The first unlock finds out that nothing is known.
    mutex.lock();
    unlock(mutex);
    mutex.lock();
    thread::scope(|scope| {
        if flies {
            let sleeps = Machine::sleeps();
            want(scope, mutex, || WOKE.stop_me());
            Machine::until_sleeps(sleeps + 1);
            unlock(mutex);
            WOKE.until_reached();
            assert!(mutex.try_lock());
        } else {
            want(scope, mutex, || {
                POLLS.set(true);
                PAUSE.stop_me();
            });
            PAUSE.until_reached();
        }
        let sleeps = SLEEPS.load(Ordering::SeqCst);
        set_slices(0);
        for _ in 0..MANY {
            want(scope, mutex, || ());
        }
        until(|| SLEEPS.load(Ordering::SeqCst) == sleeps + MANY);
        ALL_POLL.store(true, Ordering::SeqCst);
        work();
        ALL_POLL.store(false, Ordering::SeqCst);
        set_slices(NO_SLICES);
        unlock(mutex);
        if flies {
            WOKE.open();
        } else {
            PAUSE.open();
        }
    });
    Machine::until_at_rest();
}

/// A thread that finds another gone too soon would compete, and be found gone itself while it waits for a CPU.
#[test]
fn none_of_many_parked_threads_competes_while_a_poller_is_away_for_less_than_a_slice() {
    with_many_parked(false, || {
        time_passes(A_WHILE);
        for _ in 0..3 {
            assert_eq!(parks_in_a_slice(), 0);
        }
    });
}

/// The first that finds it gone takes its place, and parks when it has polled for long enough. Then there is none to
/// look after, because the lock stays taken.
fn comes_to_rest(flies: bool) {
    with_many_parked(flies, || {
        time_passes(LONG);
        assert_ne!(parks_in_a_slice(), 0, "they are left alone");
        for _ in 0..3 {
            time_passes(LONG);
            assert_eq!(parks_in_a_slice(), 0);
        }
    });
}

#[test]
fn many_parked_threads_come_to_rest_beside_a_poller_that_does_not_run() {
    comes_to_rest(false);
}

#[test]
fn many_parked_threads_come_to_rest_beside_a_woken_thread_that_does_not_run() {
    comes_to_rest(true);
}

/// No mark tells that the thread that was woken for it does not run.
#[test]
fn a_thread_that_is_parked_for_a_lock_that_shares_a_record_finds_it_free() {
    let _watchdog = watched();
    let _alone = alone();
    let [one, two, three] = &[0; 3].map(|_| Lock::new());
    let served = &AtomicU32::new(0);
    thread::scope(|scope| {
        for mutex in [one, two, three] {
            mutex.lock();
            let sleeps = Machine::sleeps();
            let stops = std::ptr::eq(mutex, three);
            want(scope, mutex, move || {
                if stops {
                    WOKE.stop_me();
                }
            });
            Machine::until_sleeps(sleeps + 1);
        }
        let sleeps = SLEEPS.load(Ordering::SeqCst);
        set_slices(0);
        scope.spawn(|| {
            three.lock();
            served.store(1, Ordering::SeqCst);
            unlock(three);
        });
        until(|| SLEEPS.load(Ordering::SeqCst) == sleeps + 1);
        assert_eq!(calls_of(|| unlock(three)).wakes, 1);
        WOKE.until_reached();
        assert!(!three.is_locked());
        set_slices(1);
        let is_served = || served.load(Ordering::SeqCst) == 1;
        until(|| is_served() || SLEEPS.load(Ordering::SeqCst) > sleeps + 1);
        assert!(is_served(), "it relies on a thread that does not run");
        set_slices(NO_SLICES);
        WOKE.open();
        unlock(one);
        unlock(two);
    });
    Machine::until_at_rest();
}

/// Heavy fences are refused, so that a parked thread looks at its lock at the end of each of its slices.
mod refused {
    use super::*;

    static NOW: AtomicU64 = AtomicU64::new(0);
    static WOKE: Gate = Gate::new();
    /// How many threads have parked, but for the one that is woken first.
    static PARKED: AtomicU32 = AtomicU32::new(0);
    /// Whether the slice of the thread with `HAS_SLICES` has ended.
    static ENDS: AtomicBool = AtomicBool::new(false);

    std::thread_local! {
        static HAS_SLICES: Cell<bool> = const { Cell::new(false) };
        static HAS_PARKED: Cell<bool> = const { Cell::new(false) };
        /// Whether this thread sleeps in the kernel, and stops as soon as it is woken.
        static STOPS: Cell<bool> = const { Cell::new(false) };
    }

    hooks! {
        Refused {
            fn ticks() -> u64 {
                NOW.load(Ordering::SeqCst)
            }
            // No thread is ever overdue.
            fn ticks_in(nanos: u32) -> usize {
                if nanos == 1_000_000 { usize::MAX / 4 } else { nanos as usize }
            }
            fn polling() -> Polling {
                no_polling()
            }
            fn fences_are_asymmetric() -> bool {
                false
            }
            fn heavy_fences_are_refused() -> bool {
                true
            }
            fn once_in(_: u32) -> bool {
                false
            }
            fn sleep(_: Option<Timestamp>) -> Option<FutexWait> {
                if STOPS.get() {
                    return None;
                }
                if !HAS_PARKED.replace(true) {
                    PARKED.fetch_add(1, Ordering::SeqCst);
                }
                thread::yield_now();
                let ends = HAS_SLICES.get() && ENDS.swap(false, Ordering::SeqCst);
                Some(if ends { FutexWait::TimedOut } else { FutexWait::Interrupted })
            }
            fn woke() {
                WOKE.pass();
            }
        }
    }

    /// A thread was woken and does not run. The slice of another one ends, which finds the lock free and takes that
    /// one's place: so its unlock wakes the next, whose slice has not ended.
    #[test]
    fn a_thread_that_finds_the_lock_free_takes_the_place_of_the_thread_in_flight() {
        let _watchdog = watched();
        let mutex = &RawMutex::<Hooked<Refused>>::new();
        mutex.lock();
        thread::scope(|scope| {
            let sleeps = Hooked::<Refused>::sleeps();
            scope.spawn(|| {
                STOPS.set(true);
                WOKE.stop_me();
                mutex.lock();
                unlock(mutex);
            });
            Hooked::<Refused>::until_sleeps(sleeps + 1);
            let parks = |has_slices: bool| {
                let parked = PARKED.load(Ordering::SeqCst);
                let thread = scope.spawn(move || {
                    HAS_SLICES.set(has_slices);
                    mutex.lock();
                    calls_of(|| unlock(mutex)).wakes
                });
                until(|| PARKED.load(Ordering::SeqCst) > parked);
                thread
            };
            // The newest is woken, so these park when that one does not run any more.
            assert_eq!(calls_of(|| unlock(mutex)).wakes, 1);
            WOKE.until_reached();
            assert!(mutex.try_lock());
            let (first, _next) = (parks(true), parks(false));
            unlock(mutex);
            NOW.fetch_add(LONG, Ordering::SeqCst);
            ENDS.store(true, Ordering::SeqCst);
            let wakes = first.join().expect("no panic");
            WOKE.open();
            assert_eq!(wakes, 1, "the next relies on a thread that does not run");
        });
        Hooked::<Refused>::until_at_rest();
    }
}
