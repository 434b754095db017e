//! Which threads may be awake: the poller, a thread in flight, and what others do meanwhile.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, hooks, until};
use super::{SHORT, no_polling, unlock, watched};

/// A poller polls for longer than any of these tests takes; another thread stays near for hardly any time.
fn polls() -> Polling {
    let mut polling = Polling::default();
    (polling.budget, polling.near) = (u32::MAX - 1, 1_000);
    polling.short = SHORT;
    polling
}

mod in_flight {
    use super::*;

    static WOKE: Gate = Gate::new();
    static POLLS: AtomicBool = AtomicBool::new(false);
    static PAUSES: AtomicU32 = AtomicU32::new(0);

    hooks! {
        InFlight {
            fn woke() {
                WOKE.pass();
            }
            fn pause() {
                PAUSES.fetch_add(1, Ordering::SeqCst);
            }
            fn polling() -> Polling {
                if POLLS.load(Ordering::SeqCst) { polls() } else { no_polling() }
            }
        }
    }

    /// A woken thread has not run yet. Another thread, which runs, finds the lock locked: it polls.
    #[test]
    fn a_running_thread_does_not_park_because_another_is_in_flight() {
        let _watchdog = watched();
        let mutex = RawMutex::<Hooked<InFlight>>::new();
        mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                WOKE.stop_me();
                mutex.lock();
                unlock(&mutex);
            });
            Hooked::<InFlight>::until_sleeps(1);
            unlock(&mutex);
            WOKE.until_reached();
            mutex.lock();
            POLLS.store(true, Ordering::SeqCst);
            let runs = scope.spawn(|| {
                mutex.lock();
                unlock(&mutex);
            });
            until(|| PAUSES.load(Ordering::SeqCst) > 100 || Hooked::<InFlight>::sleeps() > 1);
            assert_eq!(Hooked::<InFlight>::sleeps(), 1, "it polls");
            unlock(&mutex);
            runs.join().expect("no panic");
            assert_eq!(Hooked::<InFlight>::sleeps(), 1);
            WOKE.open();
        });
        Hooked::<InFlight>::until_at_rest();
    }
}

mod replaced {
    use super::*;

    /// How far the clock is ahead, in ticks.
    static AHEAD: AtomicU64 = AtomicU64::new(0);
    static PAUSE: Gate = Gate::new();
    static POLLS: AtomicU32 = AtomicU32::new(0);

    std::thread_local! {
        static IS_SECOND: Cell<bool> = const { Cell::new(false) };
    }

    hooks! {
        Replaced {
            fn ticks() -> u64 {
                Linux::ticks() + AHEAD.load(Ordering::SeqCst)
            }
            fn pause() {
                PAUSE.pass();
                if IS_SECOND.get() {
                    POLLS.fetch_add(1, Ordering::SeqCst);
                }
            }
            fn polling() -> Polling {
                polls()
            }
        }
    }

    /// The poller loses its CPU. The next thread that arrives takes its place, and does not park.
    #[test]
    fn a_poller_that_has_lost_its_cpu_is_replaced_by_the_next_that_comes() {
        let _watchdog = watched();
        let mutex = RawMutex::<Hooked<Replaced>>::new();
        mutex.lock();
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                PAUSE.stop_me();
                mutex.lock();
                unlock(&mutex);
            });
            PAUSE.until_reached();
            // Far longer than a poller ever pauses, and far shorter than it polls altogether.
            AHEAD.store(Linux::ticks_in(100_000_000) as u64, Ordering::SeqCst);
            let second = scope.spawn(|| {
                IS_SECOND.set(true);
                mutex.lock();
                unlock(&mutex);
            });
            let sleeps = Hooked::<Replaced>::sleeps;
            until(|| POLLS.load(Ordering::SeqCst) > 1_000 || sleeps() != 0);
            assert_eq!(sleeps(), 0, "it polls");
            unlock(&mutex);
            second.join().expect("no panic");
            assert_eq!(sleeps(), 0);
            assert!(!first.is_finished());
            PAUSE.open();
        });
        Hooked::<Replaced>::until_at_rest();
    }
}
