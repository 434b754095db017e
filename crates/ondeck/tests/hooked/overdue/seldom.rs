//! Threads are overdue after a long time, and only one of them is served within the same time again.

use super::*;

static WOKE: Gate = Gate::new();
/// How many threads that poll have paused.
static PAUSED: AtomicU32 = AtomicU32::new(0);
/// How far the clock is ahead, in ticks.
static AHEAD: AtomicU64 = AtomicU64::new(0);
const LONG: usize = usize::MAX >> 8;

std::thread_local! {
    static POLLS: Cell<bool> = const { Cell::new(false) };
    static HAS_PAUSED: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    /// Some threads poll for as long as the test takes.
    Seldom {
        fn ticks() -> u64 {
            Linux::ticks() + AHEAD.load(Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            match nanos {
                1_000_000 => LONG,
                FOR_EVER => 4 * LONG,
                others => Linux::ticks_in(others),
            }
        }
        fn polling() -> Polling {
            let mut polling = no_polling();
            if POLLS.get() {
                polling.budget = FOR_EVER;
            }
            polling
        }
        /// Threads are served once in 20 wakes, and once in a millisecond at least.
        fn wake_ticks() -> usize {
            LONG
        }
        fn pause() {
            if POLLS.get() && !HAS_PAUSED.replace(true) {
                PAUSED.fetch_add(1, Ordering::SeqCst);
            }
            Linux::pause();
        }
        fn woke() {
            WOKE.pass();
        }
    }
}

const FOR_EVER: u32 = u32::MAX - 1;

type Lock = RawMutex<Hooked<Seldom>>;

/// Of two parked threads the first is handed the lock. Its own unlock wakes the other one to compete.
#[test]
fn one_unlock_in_a_while_hands_over_a_lock_that_shares_a_record() {
    let _watchdog = watched();
    let [one, two, three] = &[0; 3].map(|_| Lock::new());
    let goes = AtomicBool::new(false);
    let (mut handed, mut handed_again) = (false, true);
    thread::scope(|scope| {
        for mutex in [one, two] {
            let paused = PAUSED.load(Ordering::SeqCst);
            mutex.lock();
            scope.spawn(|| {
                POLLS.set(true);
                mutex.lock();
                unlock(mutex);
            });
            until(|| PAUSED.load(Ordering::SeqCst) > paused);
        }
        three.lock();
        let sleeps = Hooked::<Seldom>::sleeps();
        let first = scope.spawn(|| {
            three.lock();
            until(|| goes.load(Ordering::SeqCst));
            unlock(three);
            three.is_locked()
        });
        Hooked::<Seldom>::until_sleeps(sleeps + 1);
        park_as(scope, three, || WOKE.stop_me(), || ());
        AHEAD.store(LONG as u64, Ordering::SeqCst);
        unlock(three);
        handed = three.is_locked();
        goes.store(true, Ordering::SeqCst);
        handed_again = first.join().expect("no panic");
        WOKE.open();
        unlock(one);
        unlock(two);
    });
    assert!(handed && !handed_again, "{handed} {handed_again}");
    Hooked::<Seldom>::until_at_rest();
}
