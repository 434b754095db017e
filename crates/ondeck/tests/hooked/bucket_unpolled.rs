//! The lock of a bucket where no thread polls.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::parking::Parked;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, Hooks, hooks, until};
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
        fn polling() -> Polling {
            no_polling()
        }
    }
}

hooks! {
    /// Time does not pass, as in tests that let it pass where they say so.
    Frozen {
        fn ticks() -> u64 {
            1 << 40
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn polling() -> Polling {
            no_polling()
        }
    }
}

/// How often a thread pauses that comes to a mutex's bucket while that is locked.
fn pauses_of<H: Hooks>() -> u32 {
    let _watchdog = watched();
    let mutex = &RawMutex::<Hooked<H>>::new();
    let comes = &AtomicBool::new(false);
    let word = 0_u32;
    mutex.lock();
    thread::scope(|scope| {
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
        let parked = keys::park::<Hooked<H>>((&raw const word).addr(), validate, || (), None);
        assert_eq!(parked, Parked::Invalid);
        Hooked::<H>::until_sleeps(1);
        unlock(mutex);
        waits.take().expect("spawned").join().expect("no panic")
    })
}

#[test]
fn a_thread_that_does_not_poll_does_not_poll_a_bucket_either() {
    assert_eq!(pauses_of::<Unpolled>(), 0);
}

#[test]
fn a_bucket_s_lock_is_had_though_the_clock_stands() {
    pauses_of::<Frozen>();
}
