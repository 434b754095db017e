//! A writer that waits beside an upgradable reader: whether readers, which may go on there, take its turn. Time passes
//! only where the test says so.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks, until};
use super::{no_polling, watched};

static NOW: AtomicU64 = AtomicU64::new(1 << 40);
static IS_LATE: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static STARVED: Cell<bool> = const { Cell::new(false) };
}

const OVERDUE: u64 = 1_000_000;

hooks! {
    Beside {
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
            if STARVED.get() {
                until(|| !IS_LATE.load(Ordering::SeqCst));
            }
        }
    }
}

type Machine = Hooked<Beside>;

/// One thread makes its upgradable read a write and back, again and again, with hardly a pause. A reader parks during
/// each write, and a writer is overdue.
#[test]
fn readers_beside_an_upgradable_one_do_not_take_the_turn_of_a_writer() {
    const MOST: u32 = 20;
    let _watchdog = watched();
    let lock = &RawRwLock::<Machine>::new();
    let mut turns = 0;
    thread::scope(|scope| {
        lock.lock_upgradable();
        // SAFETY: locked above.
        unsafe { lock.upgrade() };
        let sleeps = Machine::sleeps();
        scope.spawn(|| {
            STARVED.set(true);
            lock.lock_exclusive();
            // SAFETY: locked above.
            unsafe { lock.unlock_exclusive() };
        });
        Machine::until_sleeps(sleeps + 1);
        loop {
            turns += 1;
            let sleeps = Machine::sleeps();
            let reader = scope.spawn(|| {
                lock.lock_shared_counted();
                // SAFETY: it was just taken.
                unsafe { lock.unlock_shared_counted() };
            });
            Machine::until_sleeps(sleeps + 1);
            NOW.fetch_add(2 * OVERDUE, Ordering::SeqCst);
            // SAFETY: this thread owns the lock.
            unsafe { lock.downgrade_to_upgradable() };
            reader.join().expect("no panic");
            IS_LATE.store(true, Ordering::SeqCst);
            // SAFETY: this thread has the upgradable read.
            unsafe { lock.unlock_upgradable() };
            let handed = !lock.try_lock_upgradable();
            if handed || turns == MOST {
                if !handed {
                    // SAFETY: this thread has the upgradable read.
                    unsafe { lock.unlock_upgradable() };
                }
                IS_LATE.store(false, Ordering::SeqCst);
                break;
            }
            // SAFETY: as above.
            unsafe { lock.upgrade() };
            let sleeps = Machine::sleeps();
            IS_LATE.store(false, Ordering::SeqCst);
            // It competes in vain, and parks again.
            Machine::until_sleeps(sleeps + 1);
        }
    });
    assert_eq!(turns, 1, "the overdue writer was passed over");
}
