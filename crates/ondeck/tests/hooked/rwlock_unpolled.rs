//! Where no thread polls, as with `ONDECK_SPIN=0` or on one CPU: a thread that finds the reader-writer lock taken
//! does not read it again and again before it parks.

use std::cell::Cell;
use std::thread;

use ondeck::platform::{Linux, Platform};
use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks};
use super::{no_polling, watched};

std::thread_local! {
    /// How often this thread has paused.
    static PAUSES: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Unpolled {
        fn pause() {
            PAUSES.set(PAUSES.get() + 1);
            Linux::pause();
        }
        fn polling() -> Polling {
            no_polling()
        }
        // A short section would take a hundred turns.
        fn transfer_ticks() -> usize {
            Linux::ticks_in(100_000)
        }
    }
}

type Machine = Hooked<Unpolled>;

#[test]
fn a_thread_that_does_not_poll_parks_without_a_pause() {
    let _watchdog = watched();
    let lock = &RawRwLock::<Machine>::new();
    lock.lock_exclusive();
    let pauses = thread::scope(|scope| {
        let waits = scope.spawn(|| {
            lock.lock_exclusive();
            // SAFETY: this thread has just locked it.
            unsafe { lock.unlock_exclusive() };
            PAUSES.get()
        });
        Machine::until_sleeps(1);
        // SAFETY: this thread owns it.
        unsafe { lock.unlock_exclusive() };
        waits.join().expect("no panic")
    });
    assert_eq!(pauses, 0);
}
