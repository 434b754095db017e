//! How long a thread that waits awake for the reader-writer lock may keep parked ones asleep. Locks share the
//! words that say when parked threads went on. Time passes only where a test says so, and with each pause.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use ondeck::platform::{Linux, Platform};
use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, calls_of, hooks};
use super::watched;

/// The time, in ticks of a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(1 << 40);
/// Where a thread that waits awake stops in its first pause: it has the mark by then, if it may have it.
static AWAKE: Gate = Gate::new();

/// After this a thread is overdue. Marks are taken for half of it.
const OVERDUE: u64 = 1_000_000;

hooks! {
    Marks {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn pause() {
            NOW.fetch_add(1, Ordering::SeqCst);
            AWAKE.pass();
        }
        fn polling() -> Polling {
            let mut polling = Polling::default();
            polling.budget = 1_000;
            (polling.short, polling.long, polling.offer) = (100, 100, 0);
            polling.watch = 0;
            polling
        }
    }
}

type Machine = Hooked<Marks>;
type Lock = RawRwLock<Machine>;

/// The tests share a table and a clock.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn time_passes(ticks: u64) {
    NOW.fetch_add(ticks, Ordering::SeqCst);
}

fn unlock(lock: &Lock) {
    // SAFETY: the tests unlock what they have locked, if maybe in another thread.
    unsafe { lock.unlock_exclusive() };
}

/// A thread that is parked for a lock, which is taken. When it has the lock, it does `owned`.
fn park<'scope>(
    scope: &'scope Scope<'scope, '_>,
    lock: &'scope Lock,
    owned: impl FnOnce() + Send + 'scope,
) -> ScopedJoinHandle<'scope, ()> {
    let sleeps = Machine::sleeps();
    let thread = scope.spawn(move || {
        lock.lock_exclusive();
        owned();
    });
    Machine::until_sleeps(sleeps + 1);
    thread
}

/// How many threads the unlock of `lock`, which is taken, wakes beside a thread that waits awake.
fn wakes_beside_an_awake_thread(lock: &Lock) -> u32 {
    thread::scope(|scope| {
        scope.spawn(|| {
            AWAKE.stop_me();
            lock.lock_exclusive();
            unlock(lock);
        });
        AWAKE.until_reached();
        let calls = calls_of(|| unlock(lock));
        AWAKE.open();
        calls.wakes
    })
}

/// The lock is taken, a thread is parked, and another one was parked and has gone on just now. Then `meanwhile`
/// happens. Returns how many threads the unlock wakes beside a thread that waits awake.
fn wakes_after(meanwhile: impl FnOnce(&Lock)) -> u32 {
    let lock = &Lock::new();
    let wakes = thread::scope(|scope| {
        lock.lock_exclusive();
        let goes_on = park(scope, lock, || ());
        park(scope, lock, || unlock(lock));
        unlock(lock);
        goes_on.join().expect("no panic");
        meanwhile(lock);
        wakes_beside_an_awake_thread(lock)
    });
    assert!(!lock.is_locked());
    wakes
}

#[test]
fn an_awake_thread_keeps_parked_ones_asleep_for_a_while() {
    let _watchdog = watched();
    let _alone = alone();
    assert_eq!(wakes_after(|_| ()), 0);
    assert_eq!(wakes_after(|_| time_passes(OVERDUE / 2)), 1);
}

#[test]
fn threads_of_another_lock_that_go_on_do_not_keep_those_of_this_one_asleep() {
    let _watchdog = watched();
    let _alone = alone();
    let busy = &Lock::new();
    let wakes = wakes_after(|_| {
        thread::scope(|scope| {
            busy.lock_exclusive();
            park(scope, busy, || unlock(busy));
            unlock(busy);
        });
    });
    assert_eq!(wakes, 1);
}

#[test]
fn threads_that_give_up_do_not_keep_parked_ones_asleep() {
    let _watchdog = watched();
    let _alone = alone();
    let wakes = wakes_after(|lock| {
        time_passes(OVERDUE * 3 / 8);
        // It takes the mark, and gives it back.
        assert!(!lock.try_lock_exclusive_until(Linux::now()));
        time_passes(OVERDUE * 3 / 8);
    });
    assert_eq!(wakes, 1);
}

/// A writer is parked. Before each turn a reader parks, too, and goes on beside the upgradable read that the write becomes;
/// then another thread waits awake for that one.
#[test]
fn readers_that_go_on_beside_an_upgradable_one_do_not_keep_a_writer_asleep() {
    const MOST: u32 = 20;
    let _watchdog = watched();
    let _alone = alone();
    let lock = &Lock::new();
    let mut turns = 0;
    thread::scope(|scope| {
        lock.lock_exclusive();
        park(scope, lock, || unlock(lock));
        loop {
            turns += 1;
            let sleeps = Machine::sleeps();
            let reader = scope.spawn(|| {
                lock.lock_shared_counted();
                // SAFETY: it was just taken.
                unsafe { lock.unlock_shared_counted() };
            });
            Machine::until_sleeps(sleeps + 1);
            time_passes(OVERDUE / 4);
            // SAFETY: a thread of this test owns it.
            unsafe { lock.downgrade_to_upgradable() };
            reader.join().expect("no panic");
            let next = scope.spawn(|| {
                AWAKE.stop_me();
                lock.lock_upgradable();
            });
            AWAKE.until_reached();
            // SAFETY: as above.
            let calls = calls_of(|| unsafe { lock.unlock_upgradable() });
            AWAKE.open();
            next.join().expect("no panic");
            if calls.wakes != 0 || turns == MOST {
                // SAFETY: as above.
                unsafe { lock.unlock_upgradable() };
                break;
            }
            // SAFETY: as above.
            unsafe { lock.upgrade() };
        }
    });
    assert!(turns < 5, "{turns} turns");
}

/// Ticks of another CPU, or ticks that have gone back.
#[test]
fn a_time_that_has_not_come_keeps_no_thread_asleep() {
    let _watchdog = watched();
    let _alone = alone();
    assert_eq!(wakes_after(|_| _ = NOW.fetch_sub(OVERDUE, Ordering::SeqCst)), 1);
}
