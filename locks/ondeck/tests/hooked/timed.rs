//! A machine on which time passes only while a thread sleeps or polls. Signals interrupt the first
//! sleeps of a wait. What a thread does in a wait is counted, and when its sleeps end.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::{FutexWait, Platform, Timestamp};
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, calls_of, hooks, until};

/// The time, in nanoseconds: near the end of a second, so that most waits go beyond it.
static NOW: AtomicU64 = AtomicU64::new(5_990_000_000);
/// The number of sleeps of threads in a [`Script`] that only another thread ends.
static SLEEPS: AtomicU32 = AtomicU32::new(0);

/// Whether threads watch that would do so rarely.
static ALWAYS_WATCH: AtomicBool = AtomicBool::new(true);

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
            polling.watch = polling.budget;
            (polling.short, polling.long) = (PAUSE as u32, 8 * PAUSE as u32);
            polling
        }
        fn once_in(_: u32) -> bool {
            // Also where those of other waits have failed in this bucket.
            ALWAYS_WATCH.load(Ordering::SeqCst)
        }
        fn may_relax() -> bool {
            true
        }
        fn pause() {
            NOW.fetch_add(PAUSE, Ordering::SeqCst);
            Script::change(|script| {
                script.pauses += 1;
                // It polls for the time of a wake before a sleep, or, as it arrives, for a few of
                // them.
                let most = (10 + u64::from(script.calls)) * (WAKE / PAUSE + 10);
                assert!(u64::from(script.pauses) <= most, "{} polls on", script.what);
            });
        }
        fn before_sleep(is_of_table: bool) {
            Script::change(|script| {
                script.calls += 1;
                // It polls once before its first sleep, and a mutex is tried a few times before
                // that.
                let is_late = script.calls == 1 && u64::from(script.pauses) > WAKE / PAUSE * 3 / 2;
                assert!(!is_late, "{} polls twice: {} pauses", script.what, script.pauses);
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

pub(super) type Machine = Hooked<Timed>;

/// A thread waits by `wait`. Each wait with a deadline fails at that moment; the one without
/// succeeds because of `wake`.
///
/// A sleep lasts for `longest` at most. A thread that waits wakes no other.
pub(super) fn wait(
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
        let least = begun.after(LONG.saturating_sub(longest));
        assert!(longest > LONG || Machine::now() >= least, "{what}");
        wake();
        waiting.join().expect("no panic");
    });
    Machine::until_at_rest();
}

/// A thread watches before it sleeps. In a new bucket, watches become rare after a few of them have
/// failed.
pub(super) fn watch_in_vain(wait: impl Fn(Timestamp) -> bool) {
    ALWAYS_WATCH.store(false, Ordering::SeqCst);
    let watches = |_: &usize| {
        let deadline = Machine::now().after(SHORT);
        Script::begins("watches", deadline, true, IDLE);
        assert!(!wait(deadline));
        SCRIPT.take().is_some_and(|script| script.pauses != 0)
    };
    assert_eq!((0..20).filter(watches).count(), 8);
    ALWAYS_WATCH.store(true, Ordering::SeqCst);
}

/// The longest slice of a thread that is parked for a lock, and of one that waits to be notified.
pub(super) const SLICED: Duration = Duration::from_millis(640);
pub(super) const IDLE: Duration = Duration::from_millis(20 << 11);
pub(super) const UNSLICED: Duration = Duration::MAX;
