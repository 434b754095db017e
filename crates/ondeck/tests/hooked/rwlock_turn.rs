//! A thread of the reader-writer lock that was woken for its age and competed in vain: whether its turn is put off by
//! threads that came later. Time passes only where a test says so.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::{FutexWait, Linux, Platform, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks, until};
use super::{no_polling, watched};

static NOW: AtomicU64 = AtomicU64::new(1 << 40);
static IS_LATE: AtomicBool = AtomicBool::new(false);
static TIMED_SLEEPS: AtomicU32 = AtomicU32::new(0);
static TIMES_OUT: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static STARVED: Cell<bool> = const { Cell::new(false) };
    static TIMED: Cell<bool> = const { Cell::new(false) };
    static PASSED: Cell<bool> = const { Cell::new(false) };
}

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
            TIMED.get().then(|| {
                TIMED_SLEEPS.fetch_add(1, Ordering::SeqCst);
                until(|| TIMES_OUT.load(Ordering::SeqCst));
                PASSED.set(true);
                FutexWait::TimedOut
            })
        }
    }
}

type Machine = Hooked<Turns>;

fn time_passes(ticks: u64) {
    NOW.fetch_add(ticks, Ordering::SeqCst);
}

/// The same for a writer; the other threads have short deadlines.
#[test]
fn the_turn_of_a_writer_is_not_put_off_by_one_that_parks_while_it_is_awake() {
    const MOST: u32 = 50;
    let _watchdog = watched();
    let lock = &RawRwLock::<Machine>::new();
    let give_up = || {
        // SAFETY: the tests unlock what they have locked.
        unsafe { lock.unlock_exclusive() };
    };
    let begun = NOW.load(Ordering::SeqCst);
    lock.lock_exclusive();
    let mut turns = 0;
    thread::scope(|scope| {
        let sleeps = Machine::sleeps();
        scope.spawn(move || {
            STARVED.set(true);
            lock.lock_exclusive();
            // SAFETY: locked above.
            unsafe { lock.unlock_exclusive() };
        });
        Machine::until_sleeps(sleeps + 1);
        loop {
            turns += 1;
            time_passes(OVERDUE * 3 / 10);
            IS_LATE.store(true, Ordering::SeqCst);
            give_up();
            let handed = !lock.try_lock_exclusive();
            if handed || turns == MOST {
                IS_LATE.store(false, Ordering::SeqCst);
                if !handed {
                    give_up();
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
                IS_LATE.store(false, Ordering::SeqCst);
                Machine::until_sleeps(sleeps + 1);
                TIMES_OUT.store(true, Ordering::SeqCst);
            });
        }
    });
    let waited = NOW.load(Ordering::SeqCst) - begun;
    assert!(turns < 10, "{turns} turns, {waited} ns");
}
