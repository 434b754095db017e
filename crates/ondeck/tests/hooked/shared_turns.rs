//! Locks that share a record, and with it the time of the next handoff: a lock whose threads have not waited for
//! long does not put off the turn of another lock's overdue thread. Time passes only where a test says so.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use ondeck::mutex::RawMutex;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks, until};
use super::{no_polling, unlock, watched};

/// The time, in ticks of a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(0);
/// Whether the starved thread, once it is woken, does not run yet.
static IS_LATE: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static STARVED: Cell<bool> = const { Cell::new(false) };
}

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
        fn once_in(_: u32) -> bool {
            true
        }
        fn woke() {
            if STARVED.get() {
                until(|| !IS_LATE.load(Ordering::SeqCst));
            }
        }
    }
}

type Machine = Hooked<SharedTurns>;

/// A thread that is parked for a lock, which is taken.
fn park<'scope>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Machine>,
) -> ScopedJoinHandle<'scope, ()> {
    let sleeps = Machine::sleeps();
    let thread = scope.spawn(move || {
        mutex.lock();
        unlock(mutex);
    });
    Machine::until_sleeps(sleeps + 1);
    thread
}

/// How often an overdue thread is passed over, whose lock's owner locks it again each time before the thread that it
/// has woken runs. Before each of its unlocks a thread that has waited for so long gets the other lock.
fn passed_over(waited: u64) -> u32 {
    const MOST: u32 = 50;
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
            STARVED.set(true);
            starved.lock();
            has_had_it.store(true, Ordering::SeqCst);
            unlock(starved);
        });
        Machine::until_sleeps(sleeps + 1);
        loop {
            turns += 1;
            NOW.fetch_add(OVERDUE * 9 / 10, Ordering::SeqCst);
            busy.lock();
            let others = park(scope, busy);
            NOW.fetch_add(waited, Ordering::SeqCst);
            unlock(busy);
            others.join().expect("no panic");
            let sleeps = Machine::sleeps();
            IS_LATE.store(true, Ordering::SeqCst);
            unlock(starved);
            let is_handed_over = !starved.try_lock();
            IS_LATE.store(false, Ordering::SeqCst);
            if is_handed_over {
                break;
            }
            // The woken thread was too late, and parks again; or it has looked by itself before.
            until(|| has_had_it.load(Ordering::SeqCst) || Machine::sleeps() > sleeps);
            if has_had_it.load(Ordering::SeqCst) || turns == MOST {
                unlock(starved);
                break;
            }
        }
        unlock(first);
        unlock(second);
    });
    Machine::until_at_rest();
    turns
}

/// The tests share a table and a clock.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn a_turn_is_not_put_off_by_a_lock_whose_threads_are_not_overdue() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let turns = passed_over(OVERDUE / 10);
    assert!(turns <= 3, "an overdue thread was passed over {turns} times");
}

#[test]
fn a_lock_whose_threads_are_always_overdue_does_not_have_every_turn() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let turns = passed_over(OVERDUE);
    assert!(turns <= 20, "an overdue thread was passed over {turns} times");
}
