//! A machine for the mutex on which a test controls the time and the actions of threads.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::{FutexWait, Timestamp};
use ondeck::spin::Polling;

pub(super) use super::actor::Actor;
use super::hooked_platform::{Buffer, Gate, Hooked, SHORT, calls_of, hooks, until};
use super::watchdog::Watchdog;
use super::watched;

pub(super) const MICRO: u64 = 1_000;
pub(super) const MILLI: u64 = 1_000 * MICRO;
/// The duration of a wake.
pub(super) const WAKE: u64 = 20 * MICRO;
/// How long an owner keeps a captured lock before another thread has it.
pub(super) const TURN: u64 = 250 * MICRO;
/// The time for which a polling thread polls.
pub(super) const POLLING: u64 = 900 * MICRO;
/// The first slice of a parked thread's sleep.
pub(super) const SLICE: u64 = 20 * MILLI;

/// The time, in ticks of a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(1 << 40);
/// The number of times that a thread has begun or resumed a sleep.
static SLEEPS: AtomicU32 = AtomicU32::new(0);
/// Until when the last of them may last.
static SLEEPS_UNTIL: Mutex<Option<Timestamp>> = Mutex::new(None);
/// The number of polls that threads may still make.
static POLLS: AtomicU32 = AtomicU32::new(0);
/// The number of polls that threads have been permitted and have begun.
static POLLED: AtomicU32 = AtomicU32::new(0);
/// The number of threads that wait for a poll.
pub(super) static POLLERS: AtomicU32 = AtomicU32::new(0);
/// Whether heavy fences are refused.
pub(super) static REFUSED: AtomicBool = AtomicBool::new(false);
/// The cost of a heavy fence, and whether there are real-time threads.
pub(super) static HEAVY_COST: AtomicUsize = AtomicUsize::new(0);
pub(super) static REAL_TIME: AtomicBool = AtomicBool::new(false);
static CPUS: AtomicU32 = AtomicU32::new(0);
/// Whether all threads share one CPU.
static ONE_CPU: AtomicBool = AtomicBool::new(false);
pub(super) static BUFFER: Buffer = Buffer::new();

/// The gates at which a thread stops: before an attempt, after it has read a machine word, after an
/// unlock's store, before it reads or writes the unlock mode, before it sleeps, and after it was
/// woken.
pub(super) static ATTEMPTS: Gate = Gate::new();
pub(super) static HAS_READ: Gate = Gate::new();
pub(super) static HAS_STORED: Gate = Gate::new();
pub(super) static MODE: Gate = Gate::new();
pub(super) static SLEEP: Gate = Gate::new();
pub(super) static WOKE: Gate = Gate::new();

std::thread_local! {
    /// Whether the thread polls. Each poll needs the test's permission.
    pub(super) static IS_POLLER: Cell<bool> = const { Cell::new(false) };
    static DEADLINE: Cell<Option<Timestamp>> = const { Cell::new(None) };
    /// Each thread runs on a separate CPU, unless a test specifies another.
    pub(super) static CPU: Cell<u32> = Cell::new(CPUS.fetch_add(1, Ordering::SeqCst));
    /// The numbers of its last-level cache and of its NUMA node.
    pub(super) static PLACE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// The number of its wakes that it has measured.
    pub(super) static MEASURED: Cell<u32> = const { Cell::new(0) };
    pub(super) static PRIORITY: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Steered {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_per_second() -> u64 {
            1_000_000_000
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn now() -> Timestamp {
            Timestamp::from_nanos(NOW.load(Ordering::SeqCst))
        }
        fn has_slices() -> bool {
            true
        }
        fn polling() -> Polling {
            let budget = if IS_POLLER.get() { POLLING as u32 } else { 0 };
            let mut polling = Polling::default();
            (polling.budget, polling.watch) = (budget, budget);
            (polling.short, polling.long) = (SHORT, SHORT);
            polling
        }
        fn once_in(_: u32) -> bool {
            // Also where polls of other tests have failed in this bucket.
            true
        }
        fn spins(_: u32) -> u32 {
            1
        }
        fn cpus() -> usize {
            if ONE_CPU.load(Ordering::SeqCst) { 1 } else { 2 }
        }
        fn cpu() -> u32 {
            if ONE_CPU.load(Ordering::SeqCst) { 0 } else { CPU.get() }
        }
        fn cache() -> usize {
            PLACE.get().0
        }
        fn node() -> usize {
            PLACE.get().1
        }
        /// Shorter than a pause: no thread comes back at once after one.
        fn transfer_ticks() -> usize {
            1
        }
        fn note_wake(_: usize) {
            MEASURED.set(MEASURED.get() + 1);
        }
        fn pause() {
            if IS_POLLER.get() {
                POLLERS.fetch_add(1, Ordering::SeqCst);
                let take = |polls: u32| polls.checked_sub(1);
                until(|| POLLS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok());
                POLLERS.fetch_sub(1, Ordering::SeqCst);
                POLLED.fetch_add(1, Ordering::SeqCst);
            }
            time_passes(SHORT.into());
        }
        fn attempt() {
            ATTEMPTS.pass();
        }
        fn unlock_mode() {
            MODE.pass();
        }
        fn load_number(number: &AtomicUsize, order: Ordering) -> usize {
            let value = number.load(order);
            HAS_READ.pass();
            value
        }
        fn store(byte: &AtomicU8, value: u8, order: Ordering) {
            BUFFER.store(byte, value, order);
        }
        fn presumed_light_fence() {
            HAS_STORED.pass();
        }
        fn fence(_: Ordering) {
            BUFFER.fence();
        }
        fn heavy_fence() {
            if REFUSED.load(Ordering::SeqCst) { BUFFER.fence() } else { BUFFER.drain() }
        }
        fn heavy_fences_are_refused() -> bool {
            REFUSED.load(Ordering::SeqCst)
        }
        fn sleep(end: Option<Timestamp>) -> Option<FutexWait> {
            let is_late = |end, deadline: Option<_>| deadline.is_some_and(|last| end > last);
            assert!(!end.is_some_and(|end| is_late(end, DEADLINE.get())), "it sleeps too long");
            *SLEEPS_UNTIL.lock().unwrap_or_else(PoisonError::into_inner) = end;
            SLEEPS.fetch_add(1, Ordering::SeqCst);
            SLEEP.pass();
            end.is_some_and(|end| Self::now() >= end).then_some(FutexWait::TimedOut)
        }
        fn woke() {
            WOKE.pass();
        }
        fn priority() -> u32 {
            PRIORITY.get()
        }
        fn has_real_time_threads() -> bool {
            REAL_TIME.load(Ordering::SeqCst)
        }
        fn heavy_cost_ticks() -> usize {
            HEAVY_COST.load(Ordering::SeqCst)
        }
    }
}

pub(super) type Machine = Hooked<Steered>;
pub(super) type Lock = RawMutex<Machine>;

/// Runs a test with exclusive use of the machine, and checks that the machine is at rest
/// afterwards.
pub(super) struct Alone {
    _watchdog: Watchdog,
    _alone: MutexGuard<'static, ()>,
}

pub(super) fn alone() -> Alone {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    Alone { _watchdog: watched(), _alone: alone }
}

/// As [`alone`], on a machine with one CPU.
pub(super) fn alone_on_one_cpu() -> Alone {
    let alone = alone();
    ONE_CPU.store(true, Ordering::SeqCst);
    alone
}

impl Drop for Alone {
    fn drop(&mut self) {
        ONE_CPU.store(false, Ordering::SeqCst);
        Machine::until_at_rest();
        assert_eq!(Machine::mode(), 0, "a request is left");
        assert_eq!(POLLS.load(Ordering::SeqCst), 0, "a poll is left");
    }
}

pub(super) fn new_lock() -> &'static Lock {
    Box::leak(Box::new(Lock::new()))
}

/// The machine for one test, a new mutex, and threads.
pub(super) fn steered<const COUNT: usize>() -> (Alone, &'static Lock, [Actor; COUNT]) {
    (alone(), new_lock(), Actor::some())
}

/// The same, with the mutex locked by the calling thread.
pub(super) fn owned<const COUNT: usize>() -> (Alone, &'static Lock, [Actor; COUNT]) {
    let (alone, mutex, actors) = steered();
    lock(mutex);
    (alone, mutex, actors)
}

pub(super) fn time_passes(ticks: u64) {
    NOW.fetch_add(ticks, Ordering::SeqCst);
}

/// A deadline.
pub(super) fn after(ticks: u64) -> Timestamp {
    Timestamp::from_nanos(NOW.load(Ordering::SeqCst)).after(Duration::from_nanos(ticks))
}

pub(super) fn sleeps() -> u32 {
    SLEEPS.load(Ordering::SeqCst)
}

/// Returns until when the thread may sleep that has begun a sleep last.
pub(super) fn sleeps_until() -> Option<Timestamp> {
    *SLEEPS_UNTIL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something, and waits until a thread sleeps after that.
#[track_caller]
pub(super) fn until_a_sleep_after<R>(work: impl FnOnce() -> R) -> R {
    let before = sleeps();
    let result = work();
    until(|| sleeps() > before);
    result
}

/// Permits one more poll.
#[track_caller]
pub(super) fn poll() {
    let before = POLLED.load(Ordering::SeqCst);
    POLLS.fetch_add(1, Ordering::SeqCst);
    // After this the thread no longer waits for a poll, unless it waits for the next one.
    until(|| POLLED.load(Ordering::SeqCst) != before);
}

/// Unlocks for the owner. Returns the number of woken threads.
pub(super) fn unlock(mutex: &Lock) -> u32 {
    calls_of(|| super::unlock(mutex)).wakes
}

/// Unlocks for the owner, fairly.
pub(super) fn unlock_fair(mutex: &Lock) -> u32 {
    // SAFETY: the tests unlock only locks that they have locked, possibly in another thread.
    calls_of(|| unsafe { mutex.unlock_fair() }).wakes
}

/// Returns 1: the caller has the lock.
pub(super) fn lock(mutex: &Lock) -> u32 {
    mutex.lock();
    1
}

/// Returns whether the caller has the lock.
pub(super) fn lock_until(mutex: &Lock, deadline: Timestamp) -> u32 {
    DEADLINE.set(Some(deadline));
    let owner = mutex.try_lock_until(deadline);
    DEADLINE.set(None);
    owner.into()
}

/// Permits one more poll, if a thread polls.
#[track_caller]
pub(super) fn try_poll() {
    if POLLERS.load(Ordering::SeqCst) != 0 {
        poll();
    }
}

/// The heir polls, places a request, and sleeps. It is woken, finds the lock taken, and polls as
/// the heir again.
pub(super) fn becomes_the_heir_again(mutex: &'static Lock, heir: &Actor) {
    heir.polls_in(|| {
        WOKE.stop_me();
        lock(mutex)
    });
    polls_until_it_sleeps();
    assert_eq!(unlock(mutex), 1);
    WOKE.until_reached();
    lock(mutex);
    WOKE.open();
    until_polls();
}

/// Lets the polling thread poll for as long as it may, until it sleeps.
#[track_caller]
pub(super) fn polls_until_it_sleeps() {
    let before = sleeps();
    // As the heir, and once more if it asks for a handoff. Between two polls it does not poll.
    until(|| {
        if POLLERS.load(Ordering::SeqCst) != 0 {
            time_passes(POLLING);
            poll();
        }
        sleeps() > before
    });
}

/// Waits until a thread polls.
#[track_caller]
pub(super) fn until_polls() {
    until(|| POLLERS.load(Ordering::SeqCst) != 0);
}
