//! A poller loses its CPU, and another thread takes its place. When it runs again and becomes the owner, it
//! brings no mark back of a poller that has left: unlocks would rely on that one, which does not poll.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, Hooks, calls_of, hooks, until};
use super::{no_polling, unlock, watched};

/// Longer than any of these tests takes.
const FOR_EVER: u32 = u32::MAX - 1;
const A_MOMENT: u32 = 1_000;
/// Far longer than a poller ever pauses, and far shorter than one polls altogether.
const LATE: u32 = 100_000_000;

std::thread_local! {
    /// How long this thread polls, in nanoseconds.
    static BUDGET: Cell<u32> = const { Cell::new(0) };
}

fn polling() -> Polling {
    let mut polling = no_polling();
    polling.budget = BUDGET.get();
    polling
}

/// A thread that locks a mutex, and polls for it for so long.
fn locks<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Hooked<H>>,
    budget: u32,
) -> ScopedJoinHandle<'scope, ()> {
    scope.spawn(move || {
        BUDGET.set(budget);
        mutex.lock();
        unlock(mutex);
    })
}

mod becomes_the_owner {
    use super::*;

    static AHEAD: AtomicU64 = AtomicU64::new(0);
    static PAUSE: Gate = Gate::new();
    /// How often threads have paused.
    static PAUSES: AtomicUsize = AtomicUsize::new(0);

    hooks! {
        Late {
            fn ticks() -> u64 {
                Linux::ticks() + AHEAD.load(Ordering::SeqCst)
            }
            fn pause() {
                PAUSE.pass();
                PAUSES.fetch_add(1, Ordering::SeqCst);
                Linux::pause();
            }
            fn polling() -> Polling {
                polling()
            }
        }
    }

    /// The thread that took its place has been the owner, and has left by its turn.
    #[test]
    fn a_poller_that_was_replaced_owns_the_lock_after_the_one_that_took_its_place() {
        let _watchdog = watched();
        let mutex = &RawMutex::<Hooked<Late>>::new();
        let owns = &Gate::new();
        mutex.lock();
        thread::scope(|scope| {
            let late = scope.spawn(|| {
                BUDGET.set(FOR_EVER);
                PAUSE.stop_me();
                mutex.lock();
                owns.stop_me();
                owns.pass();
                calls_of(|| unlock(mutex)).wakes
            });
            PAUSE.until_reached();
            AHEAD.store(Linux::ticks_in(LATE) as u64, Ordering::SeqCst);
            let other = locks(scope, mutex, FOR_EVER);
            until(|| PAUSES.load(Ordering::SeqCst) != 0);
            unlock(mutex);
            other.join().expect("no panic");
            PAUSE.open();
            owns.until_reached();
            let parks = locks(scope, mutex, 0);
            Hooked::<Late>::until_sleeps(1);
            owns.open();
            assert_eq!(late.join().expect("no panic"), 1, "a thread that has left polls");
            parks.join().expect("no panic");
        });
        Hooked::<Late>::until_at_rest();
    }
}

mod is_about_to_leave {
    use super::*;

    /// Times and addresses are larger, turns smaller.
    const LARGE: usize = 1 << 40;

    static AHEAD: AtomicU64 = AtomicU64::new(LARGE as u64);
    /// Before a turn is stored.
    static TURN: Gate = Gate::new();
    /// How many threads that poll for ever have paused.
    static PAUSED: AtomicUsize = AtomicUsize::new(0);

    std::thread_local! {
        /// How many turns this thread has stored: in its node, and in the record when it leaves.
        static TURNS: Cell<u32> = const { Cell::new(0) };
        static HAS_PAUSED: Cell<bool> = const { Cell::new(false) };
    }

    hooks! {
        AboutToLeave {
            fn store_number(number: &AtomicUsize, value: usize, order: Ordering) {
                // The unlock mode is smaller than all turns.
                if BUDGET.get() != 0 && (4..LARGE).contains(&value) {
                    TURNS.set(TURNS.get() + 1);
                    if TURNS.get() == 2 {
                        TURN.pass();
                    }
                }
                number.store(value, order);
            }
            fn ticks() -> u64 {
                Linux::ticks() + AHEAD.load(Ordering::SeqCst)
            }
            fn pause() {
                if BUDGET.get() == FOR_EVER && !HAS_PAUSED.replace(true) {
                    PAUSED.fetch_add(1, Ordering::SeqCst);
                }
                Linux::pause();
            }
            fn polling() -> Polling {
                polling()
            }
        }
    }

    type Lock = RawMutex<Hooked<AboutToLeave>>;

    /// It owns the lock, and stops before it stores its turn. Another takes its place and gives up, so that the
    /// record goes to another lock. That one's poller becomes the owner and leaves.
    #[test]
    fn a_poller_leaves_when_its_record_is_another_locks() {
        let _watchdog = watched();
        let [mutex, kept, next] = &[0; 3].map(|_| Lock::new());
        let owns = &Gate::new();
        // At the first unlock nothing is known of the bucket.
        mutex.lock();
        unlock(mutex);
        for mutex in [mutex, kept, next] {
            mutex.lock();
        }
        thread::scope(|scope| {
            // One of the bucket's two records is that lock's for as long as this goes on.
            let keeps = locks(scope, kept, 0);
            Hooked::<AboutToLeave>::until_sleeps(1);
            let late = scope.spawn(|| {
                BUDGET.set(FOR_EVER);
                TURN.stop_me();
                mutex.lock();
                unlock(mutex);
            });
            until(|| PAUSED.load(Ordering::SeqCst) == 1);
            unlock(mutex);
            TURN.until_reached();
            AHEAD.fetch_add(Linux::ticks_in(LATE) as u64, Ordering::SeqCst);
            let gives_up = scope.spawn(|| {
                BUDGET.set(A_MOMENT);
                assert!(!mutex.try_lock_until(Linux::now().after(Duration::from_millis(1))));
            });
            gives_up.join().expect("no panic");
            let wakes = scope.spawn(|| {
                BUDGET.set(FOR_EVER);
                next.lock();
                owns.stop_me();
                owns.pass();
                calls_of(|| unlock(next)).wakes
            });
            until(|| PAUSED.load(Ordering::SeqCst) == 2);
            unlock(next);
            owns.until_reached();
            TURN.open();
            late.join().expect("no panic");
            let sleeps = Hooked::<AboutToLeave>::sleeps();
            let parks = locks(scope, next, 0);
            Hooked::<AboutToLeave>::until_sleeps(sleeps + 1);
            owns.open();
            assert_eq!(wakes.join().expect("no panic"), 1, "a thread that has left polls");
            parks.join().expect("no panic");
            unlock(kept);
            keeps.join().expect("no panic");
        });
        Hooked::<AboutToLeave>::until_at_rest();
    }
}
