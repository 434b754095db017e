//! The turns of overdue threads: when each comes, and that none is lost. Time passes only where a test says so.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};

use ondeck::mutex::RawMutex;
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, calls_of, hooks};
use super::{no_polling, unlock, watched};

/// The time, in ticks of a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(0);
static WOKE: Gate = Gate::new();

/// After this a thread is overdue.
const OVERDUE: u64 = 1_000_000;

hooks! {
    Turns {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn polling() -> Polling {
            no_polling()
        }
        fn woke() {
            WOKE.pass();
        }
        // Each unlock beside a thread in flight looks after the others.
        fn once_in(_: u32) -> bool {
            true
        }
    }
}

type Machine = Hooked<Turns>;

fn time_passes(ticks: u64) {
    NOW.fetch_add(ticks, Ordering::SeqCst);
}

/// A thread that is parked for a lock, which is taken: first it does `before`, and `owned` when it has the lock.
fn park<'scope>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Machine>,
    before: impl FnOnce() + Send + 'scope,
    owned: impl FnOnce() + Send + 'scope,
) {
    let sleeps = Machine::sleeps();
    scope.spawn(move || {
        before();
        mutex.lock();
        owned();
        unlock(mutex);
    });
    Machine::until_sleeps(sleeps + 1);
}

/// While a thread is in flight another becomes overdue, and an unlock puts its turn off. It comes when that time is
/// over, before one that has parked later.
#[test]
fn the_turn_of_an_overdue_thread_that_was_put_off_comes_soon() {
    /// Longer than a turn is put off for, and far shorter than the time between two turns.
    const SOON: u64 = OVERDUE / 4;
    let _watchdog = watched();
    let mutex = &RawMutex::<Machine>::new();
    let order = &Mutex::new(Vec::new());
    let note = |name| order.lock().unwrap_or_else(PoisonError::into_inner).push(name);
    mutex.lock();
    thread::scope(|scope| {
        park(scope, mutex, || (), move || note("overdue"));
        // No thread is overdue yet, so the newest is woken. It does not run for a while.
        time_passes(OVERDUE / 2);
        let owned = move || {
            note("in flight");
            time_passes(SOON);
        };
        park(scope, mutex, || WOKE.stop_me(), owned);
        assert_eq!(calls_of(|| unlock(mutex)).wakes, 1);
        WOKE.until_reached();
        mutex.lock();
        park(scope, mutex, || (), move || note("newest"));
        time_passes(OVERDUE / 2);
        assert_eq!(calls_of(|| unlock(mutex)).wakes, 0, "another is in flight");
        WOKE.open();
    });
    assert_eq!(*order.lock().expect("no panic"), ["in flight", "overdue", "newest"]);
    Machine::until_at_rest();
}
