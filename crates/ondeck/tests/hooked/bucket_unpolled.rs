//! The lock of a bucket where no thread polls.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::parking::Parked;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks, until};
use super::{keys, no_polling, unlock, watched};

std::thread_local! {
    static PAUSES: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Unpolled {
        fn pause() {
            PAUSES.set(PAUSES.get() + 1);
            Linux::pause();
        }
        // The heir's first attempt is at once.
        fn polling() -> Polling {
            let mut polling = no_polling();
            polling.short = 0;
            polling
        }
    }
}

type Machine = Hooked<Unpolled>;

#[test]
fn a_thread_that_does_not_poll_does_not_poll_a_bucket_either() {
    let _watchdog = watched();
    let mutex = &RawMutex::<Machine>::new();
    let comes = &AtomicBool::new(false);
    let word = 0_u32;
    mutex.lock();
    let pauses = thread::scope(|scope| {
        let mut waits = None;
        let validate = || {
            waits = Some(scope.spawn(|| {
                comes.store(true, Ordering::SeqCst);
                mutex.lock();
                unlock(mutex);
                PAUSES.get()
            }));
            until(|| comes.load(Ordering::SeqCst));
            thread::sleep(Duration::from_millis(20));
            false
        };
        let parked = keys::park::<Machine>((&raw const word).addr(), validate, || (), None);
        assert_eq!(parked, Parked::Invalid);
        Machine::until_sleeps(1);
        unlock(mutex);
        waits.take().expect("spawned").join().expect("no panic")
    });
    assert_eq!(pauses, 0);
}
