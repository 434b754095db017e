//! Woken threads that do not run.

use super::*;

static WOKE: Gate = Gate::new();

hooks! {
    NeverRuns {
        fn ticks_in(nanos: u32) -> usize {
            at_once(nanos)
        }
        fn polling() -> Polling {
            no_polling()
        }
        fn woke() {
            WOKE.pass();
        }
        fn once_in(_: u32) -> bool {
            true
        }
    }
}

/// An overdue thread was woken to compete and does not run. The next overdue thread is handed the lock
/// nevertheless.
#[test]
fn an_overdue_thread_does_not_wait_for_one_in_flight_that_never_runs() {
    /// A parked thread looks after itself now and then. It may just not be in the queue to be handed
    /// the lock.
    const TRIES: u32 = 20;
    let _watchdog = watched();
    let mutex = RawMutex::<Hooked<NeverRuns>>::new();
    mutex.lock();
    let mut handed = false;
    thread::scope(|scope| {
        park_as(scope, &mutex, || WOKE.stop_me(), || ());
        unlock(&mutex);
        WOKE.until_reached();
        for _ in 0..TRIES {
            mutex.lock();
            let (goes, is_served) = (&AtomicBool::new(false), &AtomicBool::new(false));
            thread::scope(|scope| {
                park(scope, &mutex, || {
                    is_served.store(true, Ordering::SeqCst);
                    until(|| goes.load(Ordering::SeqCst));
                });
                unlock(&mutex);
                handed = mutex.is_locked();
                until(|| is_served.load(Ordering::SeqCst));
                goes.store(true, Ordering::SeqCst);
            });
            if handed {
                break;
            }
        }
        WOKE.open();
    });
    assert!(handed, "the unlock relied on a thread that does not run");
    Hooked::<NeverRuns>::until_at_rest();
}
