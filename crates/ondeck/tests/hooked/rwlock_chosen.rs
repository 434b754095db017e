//! A thread that waits for the reader-writer lock and was chosen to go on, but is not told yet: the thread that
//! is to tell it may have lost its CPU.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use ondeck::platform::{FutexWait, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, hooks, until};
use super::{no_polling, watched};

/// Where the thread that unlocks stops: it has told the first of two readers, and not yet the second.
static HALF_WAY: Gate = Gate::new();
/// Whether the second reader is about to sleep for the first time.
static IS_PARKED: AtomicBool = AtomicBool::new(false);
/// How often it has slept with an end after it was chosen.
static LOOKS: AtomicU32 = AtomicU32::new(0);
/// Whether it sleeps until it is told.
static SLEEPS: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static IS_SECOND: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    Chosen {
        fn sleep(end: Option<Timestamp>) -> Option<FutexWait> {
            if !IS_SECOND.get() {
                return None;
            }
            if end.is_none() {
                SLEEPS.store(true, Ordering::SeqCst);
                return None;
            }
            if IS_PARKED.swap(true, Ordering::SeqCst) {
                LOOKS.fetch_add(1, Ordering::SeqCst);
            }
            HALF_WAY.until_reached();
            Some(FutexWait::TimedOut)
        }
        fn wakes() {
            HALF_WAY.pass();
        }
        fn polling() -> Polling {
            no_polling()
        }
    }
}

type Machine = Hooked<Chosen>;

#[test]
fn a_chosen_reader_sleeps_until_it_is_told() {
    let _watchdog = watched();
    let lock = &*Box::leak(Box::new(RawRwLock::<Machine>::new()));
    let read = |is_second| {
        thread::spawn(move || {
            IS_SECOND.set(is_second);
            lock.lock_shared_counted();
            // SAFETY: it was just taken.
            unsafe { lock.unlock_shared_counted() };
        })
    };
    lock.lock_exclusive();
    let first = read(false);
    Machine::until_sleeps(1);
    let second = read(true);
    until(|| IS_PARKED.load(Ordering::SeqCst));
    let writer = thread::spawn(move || {
        HALF_WAY.stop_me();
        // SAFETY: the thread that locked it leaves the unlock to this one.
        unsafe { lock.unlock_exclusive_fair() };
    });
    HALF_WAY.until_reached();
    until(|| SLEEPS.load(Ordering::SeqCst) || LOOKS.load(Ordering::SeqCst) > 10);
    assert!(SLEEPS.load(Ordering::SeqCst), "it looks again and again");
    HALF_WAY.open();
    for thread in [first, second, writer] {
        thread.join().expect("no panic");
    }
    assert!(!lock.is_locked());
}
