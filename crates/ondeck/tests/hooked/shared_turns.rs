//! Locks that share a record, and with it the time of the next handoff: a lock whose threads have not waited for
//! long does not put off the turn of another lock's overdue thread. Time passes only where a test says so.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Scope};

use ondeck::mutex::RawMutex;
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, hooks, until};
use super::{no_polling, unlock, watched};

/// The time, in ticks of a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(0);
static WOKE: Gate = Gate::new();

/// After this a thread is overdue.
const OVERDUE: u64 = 1_000_000;

hooks! {
    SharedTurns {
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
    }
}

type Machine = Hooked<SharedTurns>;

/// A thread that is parked for a lock, which is taken.
fn park<'scope>(scope: &'scope Scope<'scope, '_>, mutex: &'scope RawMutex<Machine>) {
    let sleeps = Machine::sleeps();
    scope.spawn(move || {
        mutex.lock();
        unlock(mutex);
    });
    Machine::until_sleeps(sleeps + 1);
}

/// One lock's owner locks it again each time before the thread that it has woken runs. Shortly before each of its
/// unlocks a thread that has waited for less than a millisecond gets the other lock.
#[test]
fn a_turn_is_not_put_off_by_a_lock_whose_threads_are_not_overdue() {
    const MOST: u32 = 50;
    let _watchdog = watched();
    let [first, second, starved, busy] = &[0; 4].map(|_| RawMutex::<Machine>::new());
    let has_had_it = &AtomicBool::new(false);
    let mut turns = 0;
    thread::scope(|scope| {
        // The bucket's two records are those of other locks.
        for other in [first, second] {
            other.lock();
            park(scope, other);
        }
        starved.lock();
        let sleeps = Machine::sleeps();
        scope.spawn(move || {
            starved.lock();
            has_had_it.store(true, Ordering::SeqCst);
            unlock(starved);
        });
        Machine::until_sleeps(sleeps + 1);
        while turns < MOST {
            turns += 1;
            NOW.fetch_add(OVERDUE * 9 / 10, Ordering::SeqCst);
            busy.lock();
            park(scope, busy);
            NOW.fetch_add(OVERDUE / 10, Ordering::SeqCst);
            unlock(busy);
            until(|| busy.try_lock());
            unlock(busy);
            let sleeps = Machine::sleeps();
            unlock(starved);
            if !starved.try_lock() {
                // It was handed the lock.
                break;
            }
            // The woken thread was too late, and parks again.
            until(|| has_had_it.load(Ordering::SeqCst) || Machine::sleeps() > sleeps);
        }
        if turns == MOST {
            unlock(starved);
        }
        unlock(first);
        unlock(second);
    });
    assert!(turns <= 3, "an overdue thread was passed over {turns} times");
    Machine::until_at_rest();
}
