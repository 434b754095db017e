//! What a thread does while it waits, by every operation that blocks: when its sleeps end, and how much of a CPU it takes.
//! Time passes only while it sleeps or polls. Signals interrupt its first sleeps.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ondeck::barrier::Barrier;
use ondeck::biased::RawBiasedMutex;
use ondeck::combining::{RawCombining, Request};
use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::event::Event;
use ondeck::fair::RawFairMutex;
use ondeck::latch::Latch;
use ondeck::mutex::RawMutex;
use ondeck::once::Once;
use ondeck::parker::RawParker;
use ondeck::parking::Parked;
use ondeck::platform::{FutexWait, Platform, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::semaphore::Semaphore;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, calls_of, hooks, until};
use super::{keys, unlock, watched};

/// The time, in nanoseconds: near the end of a second, so that most waits go beyond it.
static NOW: AtomicU64 = AtomicU64::new(5_990_000_000);
/// The number of sleeps of threads in a [`Script`] that only another thread ends.
static SLEEPS: AtomicU32 = AtomicU32::new(0);

/// The duration of a wake, in nanoseconds: the time for which a thread polls, if it polls.
const WAKE: u64 = 20_000;
/// The duration of a pause.
const PAUSE: u64 = 100;
/// The number of sleeps that a signal interrupts, a millisecond apart.
const SIGNALS: u32 = 10;
/// Longer than the slices of a sleep that only bounds how late an unlock is noticed.
const SHORT: Duration = Duration::from_millis(15);
/// The time for which a thread waits without a deadline before another thread ends its wait.
const LONG: Duration = Duration::from_mins(1);

/// What a thread has done in a wait.
#[derive(Clone, Copy)]
struct Script {
    what: &'static str,
    /// Sleeps end by themselves until then.
    end: Timestamp,
    polls: bool,
    /// How long its longest slice may be.
    longest: Duration,
    calls: u32,
    pauses: u32,
    /// The slice that a signal has interrupted.
    interrupted: Option<Timestamp>,
}

std::thread_local! {
    static SCRIPT: Cell<Option<Script>> = const { Cell::new(None) };
}

impl Script {
    fn begins(what: &'static str, end: Timestamp, polls: bool, longest: Duration) {
        let (calls, pauses, interrupted) = (0, 0, None);
        SCRIPT.set(Some(Self { what, end, polls, longest, calls, pauses, interrupted }));
    }

    /// Changes the script of the calling thread, if it has one.
    fn change<R>(change: impl FnOnce(&mut Self) -> R) -> Option<R> {
        let mut script = SCRIPT.get()?;
        let result = change(&mut script);
        SCRIPT.set(Some(script));
        Some(result)
    }

    fn sleeps(&mut self, until: Option<Timestamp>) -> Option<FutexWait> {
        let now = Machine::now();
        let length = until.map_or(self.longest, |until| until.since(now));
        assert!(length <= self.longest, "{}: a sleep of {length:?}", self.what);
        if let Some(before) = self.interrupted.take() {
            assert_eq!(until, Some(before), "{}: a signal moves its end", self.what);
        }
        let after = now.after(Duration::from_millis(1));
        if self.calls <= SIGNALS && until.is_none_or(|until| after < until) {
            set_now(after);
            self.interrupted = until.filter(|_| length > SHORT);
            return Some(FutexWait::Interrupted);
        }
        match until {
            Some(until) if until <= self.end => {
                set_now(until.max(now));
                Some(FutexWait::TimedOut)
            }
            _ => {
                SLEEPS.fetch_add(1, Ordering::SeqCst);
                None
            }
        }
    }
}

fn set_now(now: Timestamp) {
    NOW.store(now.as_nanos(), Ordering::SeqCst);
}

hooks! {
    Timed {
        const ROWS: usize = 1_000;

        fn now() -> Timestamp {
            Timestamp::from_nanos(NOW.load(Ordering::SeqCst))
        }
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_per_second() -> u64 {
            1_000_000_000
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn polling() -> Polling {
            let polls = SCRIPT.get().is_some_and(|script| script.polls);
            let mut polling = Polling::default();
            polling.budget = if polls { WAKE as u32 } else { 0 };
            polling.watch = 2 * polling.budget;
            (polling.short, polling.long) = (PAUSE as u32, 8 * PAUSE as u32);
            polling
        }
        fn may_relax() -> bool {
            true
        }
        fn pause() {
            NOW.fetch_add(PAUSE, Ordering::SeqCst);
            Script::change(|script| {
                script.pauses += 1;
                // It polls for the time of a wake before a sleep, or, as it arrives, for a few of them.
                let most = (10 + u64::from(script.calls)) * (WAKE / PAUSE + 10);
                assert!(u64::from(script.pauses) <= most, "{} polls on", script.what);
            });
        }
        fn before_sleep(is_of_table: bool) {
            Script::change(|script| {
                script.calls += 1;
                // Slices grow to the longest.
                let most = 40 + LONG.as_nanos() / script.longest.as_nanos();
                assert!(u128::from(script.calls) <= most, "{} spins through the futex", script.what);
                if is_of_table {
                    SLEEPS.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        fn sleep(until: Option<Timestamp>) -> Option<FutexWait> {
            Script::change(|script| script.sleeps(until)).flatten()
        }
    }
}

type Machine = Hooked<Timed>;

/// A thread waits by `wait`. Each wait with a deadline fails at that moment; the one without succeeds because of `wake`.
///
/// A sleep lasts for `longest` at most. A thread that waits wakes no other.
fn wait(
    what: &'static str,
    longest: Duration,
    wait: impl Fn(Option<Timestamp>) -> bool + Sync,
    wake: impl FnOnce(),
) {
    let wait = &wait;
    for (polls, milliseconds) in [false, true]
        .into_iter()
        .flat_map(|polls| [0, 5, 50, 5_000, 59_500].map(|milliseconds| (polls, milliseconds)))
    {
        let in_time = || {
            let deadline = Machine::now().after(Duration::from_millis(milliseconds));
            Script::begins(what, deadline, polls, longest);
            assert!(!wait(Some(deadline)), "{what}: there is nothing to be had");
            let late = Machine::now().since(deadline).as_nanos();
            assert!(Machine::now() >= deadline, "{what}: {milliseconds} ms");
            let most = u128::from(if polls { 4 * WAKE } else { PAUSE });
            assert!(late <= most, "{what}: {late} ns late after {milliseconds} ms");
        };
        let calls =
            thread::scope(|scope| scope.spawn(|| calls_of(in_time)).join().expect("no panic"));
        assert_eq!(calls.wakes, 0, "{what}");
    }
    wait_for_long(what, longest, || assert!(wait(None), "{what}"), wake);
}

/// The same of an operation that has no deadline.
fn wait_for_long(
    what: &'static str,
    longest: Duration,
    wait: impl Fn() + Sync,
    wake: impl FnOnce(),
) {
    let sleeps = SLEEPS.load(Ordering::SeqCst);
    let begun = Machine::now();
    thread::scope(|scope| {
        let waits = || {
            Script::begins(what, begun.after(LONG), true, longest);
            wait();
        };
        let waiting = scope.spawn(waits);
        until(|| SLEEPS.load(Ordering::SeqCst) > sleeps);
        assert!(longest > LONG || Machine::now() >= begun.after(LONG - longest), "{what}");
        wake();
        waiting.join().expect("no panic");
    });
    Machine::until_at_rest();
}

/// The longest slice of a thread that is parked for a lock, and of one that waits to be notified.
const SLICED: Duration = Duration::from_millis(640);
const IDLE: Duration = Duration::from_millis(2_560);
const UNSLICED: Duration = Duration::MAX;
/// The slice of a writer that waits for readers.
const BESIDE_READERS: Duration = Duration::from_millis(20);

/// Starts a thread that runs `work`, and waits until it sleeps.
fn beside<'scope>(scope: &'scope thread::Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    let sleeps = Machine::sleeps();
    scope.spawn(work);
    Machine::until_sleeps(sleeps + 1);
}

fn mutexes() {
    let mutex = &RawMutex::<Machine>::new();
    let lock = |until: Option<Timestamp>| {
        let owner = until.map_or_else(|| (mutex.lock(), true).1, |end| mutex.try_lock_until(end));
        if owner {
            unlock(mutex);
        }
        owner
    };
    mutex.lock();
    wait("a mutex, as the heir", SLICED, lock, || unlock(mutex));
    mutex.lock();
    thread::scope(|scope| {
        beside(scope, || _ = lock(None));
        wait("a mutex", SLICED, lock, || unlock(mutex));
    });

    let fair = &RawFairMutex::<Machine>::new();
    // SAFETY: a thread unlocks what it has locked.
    let unlock_fair = || unsafe { fair.unlock() };
    let lock = |until: Option<Timestamp>| {
        let owner = until.map_or_else(|| (fair.lock(), true).1, |end| fair.try_lock_until(end));
        if owner {
            unlock_fair();
        }
        owner
    };
    fair.lock();
    wait("a fair mutex", UNSLICED, lock, unlock_fair);

    let biased = &RawBiasedMutex::<Machine>::new();
    let lock = |until: Option<Timestamp>| {
        let held = until.map_or_else(|| Some(biased.lock()), |end| biased.try_lock_until(end));
        // SAFETY: locked above.
        held.map(|held| unsafe { biased.unlock(held) }).is_some()
    };
    for (by_bias, longest) in [(false, SLICED), (true, UNSLICED)] {
        let mut held = biased.lock();
        while held.is_by_bias() != by_bias {
            // SAFETY: locked above.
            unsafe { biased.unlock(held) };
            held = biased.lock();
        }
        // SAFETY: locked above.
        wait("a biased mutex", longest, lock, || unsafe { biased.unlock(held) });
    }
}

fn reader_writer_locks() {
    let lock = &RawRwLock::<Machine>::new();
    // SAFETY of all blocks: a thread unlocks what it has locked.
    let unwrite = || unsafe { lock.unlock_exclusive() };
    let unread = || unsafe { lock.unlock_shared_counted() };
    let unlock_upgradable = || unsafe { lock.unlock_upgradable() };
    let write = |until: Option<Timestamp>| {
        let owner = until.map_or_else(
            || (lock.lock_exclusive(), true).1,
            |end| lock.try_lock_exclusive_until(end),
        );
        if owner {
            unwrite();
        }
        owner
    };
    let read = |until: Option<Timestamp>| {
        let held = match until {
            None => (lock.lock_shared_counted(), true).1,
            Some(end) => lock.try_lock_shared_counted_until(end),
        };
        if held {
            unread();
        }
        held
    };
    let read_recursively = |until: Option<Timestamp>| {
        let held = match until {
            None => (lock.lock_shared_recursive_counted(), true).1,
            Some(end) => lock.try_lock_shared_recursive_counted_until(end),
        };
        if held {
            unread();
        }
        held
    };
    let read_upgradably = |until: Option<Timestamp>| {
        let held = match until {
            None => (lock.lock_upgradable(), true).1,
            Some(end) => lock.try_lock_upgradable_until(end),
        };
        if held {
            unlock_upgradable();
        }
        held
    };
    let upgrade = |until: Option<Timestamp>| {
        lock.lock_upgradable();
        let owner = match until {
            // SAFETY: this thread has the upgradable read.
            None => unsafe { (lock.upgrade(), true).1 },
            // SAFETY: as above.
            Some(end) => unsafe { lock.try_upgrade_until(end) },
        };
        if owner {
            unwrite()
        } else {
            unlock_upgradable()
        }
        owner
    };
    let waits: [(&'static str, &(dyn Fn(Option<Timestamp>) -> bool + Sync)); 4] = [
        ("a write", &write),
        ("a read", &read),
        ("a recursive read", &read_recursively),
        ("an upgradable read", &read_upgradably),
    ];
    for (what, waits) in waits {
        lock.lock_exclusive();
        wait(what, SLICED, waits, unwrite);
    }
    lock.lock_shared_counted();
    wait("a write beside a reader", BESIDE_READERS, write, unread);
    lock.lock_shared_counted();
    wait("an upgrade beside a reader", BESIDE_READERS, upgrade, unread);
    assert!(!lock.is_locked());
}

fn condition_variables() {
    let (mutex, condvar) = (&RawMutex::<Machine>::new(), &RawCondvar::<Machine>::new());
    let waits = |until| {
        mutex.lock();
        // SAFETY: locked above.
        let notified = unsafe { condvar.wait(mutex, until) };
        unlock(mutex);
        notified
    };
    let notify = || assert_eq!(condvar.notify_one(), 1);
    wait("a condition variable", IDLE, waits, notify);
    let waits = |until| {
        let waiter = Box::new(Waiter::new(condvar, None, until));
        // SAFETY: the waiter is in a box until its wait is over.
        unsafe { waiter.begin() };
        let mut slept = FutexWait::Woken;
        loop {
            // SAFETY: the wait has begun, and is not over.
            match unsafe { waiter.step(slept) } {
                // SAFETY: a word of the waiter.
                Step::Sleep { word, expected, until } => unsafe {
                    slept = Machine::futex_wait(&*word, expected, until);
                },
                Step::Done { notified } => return notified,
            }
        }
    };
    wait("a condition variable without a mutex", UNSLICED, waits, notify);
}

fn others() {
    for semaphore in [Semaphore::<Machine>::on_platform(0), Semaphore::fair_on_platform(0)] {
        let acquire = |until: Option<Timestamp>| {
            until.map_or_else(|| (semaphore.acquire(), true).1, |end| semaphore.try_acquire_by(end))
        };
        wait("a semaphore", UNSLICED, acquire, || semaphore.release(1));
    }
    let event = Event::<Machine>::on_platform();
    let waits = |until: Option<Timestamp>| {
        until.map_or_else(|| (event.wait(), true).1, |end| event.wait_by(end))
    };
    wait("an event", UNSLICED, waits, || event.set());
    let latch = Latch::<Machine>::on_platform(1);
    let waits = |until: Option<Timestamp>| {
        until.map_or_else(|| (latch.wait(), true).1, |end| latch.wait_by(end))
    };
    wait("a latch", UNSLICED, waits, || latch.count_down());
    let barrier = Barrier::<Machine>::on_platform(2);
    let waits = |until: Option<Timestamp>| match until {
        None => (barrier.wait(), true).1,
        Some(end) => barrier.wait_by(end).is_some(),
    };
    wait("a barrier", UNSLICED, waits, || _ = barrier.wait());
    let parker = RawParker::<Machine>::new();
    // SAFETY: one thread parks at a time.
    wait("a parker", UNSLICED, |until| unsafe { parker.park(until) }, || parker.unpark());
    let word = 0_u32;
    let key = (&raw const word).addr();
    let park = |until| keys::park::<Machine>(key, || true, || (), until) != Parked::TimedOut;
    wait("a key", UNSLICED, park, || {
        assert_eq!(keys::unpark::<Machine>(key, 1, |_, _| ()), 1);
    });

    let once = &Once::<Machine>::on_platform();
    let (begun, begins) = mpsc::channel();
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        let closure = move || {
            begun.send(()).unwrap();
            until(|| is_over.load(Ordering::SeqCst));
        };
        scope.spawn(|| once.call_once(closure));
        begins.recv().unwrap();
        let waits = |until: Option<Timestamp>| {
            until.map_or_else(|| (once.wait(), true).1, |end| once.wait_by(end))
        };
        wait("a once", UNSLICED, waits, || is_over.store(true, Ordering::SeqCst));
    });
}

static ENTERED: AtomicBool = AtomicBool::new(false);
static ENDS: AtomicBool = AtomicBool::new(false);

fn combining() {
    unsafe fn section(_: *mut ()) {
        ENTERED.store(true, Ordering::SeqCst);
        until(|| ENDS.load(Ordering::SeqCst));
    }
    let combining = &RawCombining::<Machine>::new();
    // SAFETY: the request is new, and its section needs no argument.
    let perform = || unsafe { combining.perform(&Request::new(section, std::ptr::null_mut())) };
    thread::scope(|scope| {
        scope.spawn(perform);
        until(|| ENTERED.load(Ordering::SeqCst));
        wait_for_long("a combining mutex", UNSLICED, perform, || {
            ENDS.store(true, Ordering::SeqCst)
        });
    });
}

/// All in one test, because the waits share the clock.
#[test]
fn a_waiting_thread_sleeps_until_its_deadline_and_burns_no_cpu() {
    let _watchdog = watched();
    mutexes();
    reader_writer_locks();
    condition_variables();
    others();
    combining();
}
