//! Threads of a real-time scheduling class: which unlocks see them, and that they have the lock in the end.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, Hooks, calls_of, hooks, until};
use super::{no_polling, unlock, watched};

std::thread_local! {
    static PRIORITY: Cell<u32> = const { Cell::new(0) };
    static POLLS: Cell<bool> = const { Cell::new(false) };
}

/// Some threads poll, for ever as these tests go.
fn polling() -> Polling {
    let mut polling = no_polling();
    if POLLS.get() {
        polling.budget = u32::MAX - 1;
    }
    polling
}

/// A thread that parks for a lock, which is taken. First it does `before`.
fn park<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Hooked<H>>,
    before: impl FnOnce() + Send + 'scope,
) -> ScopedJoinHandle<'scope, ()> {
    let sleeps = Hooked::<H>::sleeps();
    let thread = scope.spawn(move || {
        before();
        mutex.lock();
        unlock(mutex);
    });
    Hooked::<H>::until_sleeps(sleeps + 1);
    thread
}

mod before_the_store {
    use super::*;

    static BEFORE_THE_STORE: Gate = Gate::new();
    static PAUSE: Gate = Gate::new();

    hooks! {
        /// Unlocks have no fences, and threads that park leave it at that.
        Calm {
            fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                BEFORE_THE_STORE.pass();
                byte.store(value, order);
            }
            fn pause() {
                PAUSE.pass();
                Linux::pause();
            }
            fn polling() -> Polling {
                polling()
            }
            fn priority() -> u32 {
                PRIORITY.get()
            }
            // A single unlock pays for a heavy fence.
            fn spins(_: u32) -> u32 {
                0
            }
        }
    }

    /// There is a poller, and an unlock finds that it may leave its work to that one. Before its store a thread
    /// of a real-time class parks.
    #[test]
    fn a_thread_of_a_real_time_class_parks_beside_an_unlock_that_relies_on_the_poller() {
        let _watchdog = watched();
        let mutex = &RawMutex::<Hooked<Calm>>::new();
        // The first unlock finds out that nothing is known.
        mutex.lock();
        unlock(mutex);
        mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                POLLS.set(true);
                PAUSE.stop_me();
                mutex.lock();
                unlock(mutex);
            });
            PAUSE.until_reached();
            // From now on unlocks look at the record.
            park(scope, mutex, || ());
            let unlocks = scope.spawn(|| {
                BEFORE_THE_STORE.stop_me();
                calls_of(|| unlock(mutex)).wakes
            });
            BEFORE_THE_STORE.until_reached();
            let urgent = park(scope, mutex, || PRIORITY.set(1));
            BEFORE_THE_STORE.open();
            let wakes = unlocks.join().expect("no panic");
            assert_eq!(wakes, 1, "it waits for the poller");
            urgent.join().expect("no panic");
            PAUSE.open();
        });
        Hooked::<Calm>::until_at_rest();
    }
}

mod in_vain {
    use super::*;

    static WOKE: Gate = Gate::new();

    hooks! {
        /// Each thread is overdue as soon as it is parked.
        InVain {
            fn ticks_in(nanos: u32) -> usize {
                if nanos == 1_000_000 { 0 } else { Linux::ticks_in(nanos) }
            }
            fn polling() -> Polling {
                no_polling()
            }
            fn priority() -> u32 {
                PRIORITY.get()
            }
            fn woke() {
                WOKE.pass();
            }
        }
    }

    /// It is woken, and another thread locks first. The next unlock hands it the lock.
    #[test]
    fn a_thread_of_a_real_time_class_that_competed_in_vain_is_handed_the_lock() {
        let _watchdog = watched();
        let mutex = &RawMutex::<Hooked<InVain>>::new();
        let goes = &AtomicBool::new(false);
        mutex.lock();
        thread::scope(|scope| {
            let before = || {
                PRIORITY.set(1);
                WOKE.stop_me();
            };
            let sleeps = Hooked::<InVain>::sleeps();
            scope.spawn(move || {
                before();
                mutex.lock();
                until(|| goes.load(Ordering::SeqCst));
                unlock(mutex);
            });
            Hooked::<InVain>::until_sleeps(sleeps + 1);
            unlock(mutex);
            WOKE.until_reached();
            assert!(mutex.try_lock());
            WOKE.open();
            Hooked::<InVain>::until_sleeps(sleeps + 2);
            unlock(mutex);
            let handed = !mutex.try_lock();
            if !handed {
                unlock(mutex);
            }
            goes.store(true, Ordering::SeqCst);
            assert!(handed, "the next thread that comes may be faster again");
        });
        Hooked::<InVain>::until_at_rest();
    }
}

/// A thread of a real-time class is in flight beside an ordinary one, and takes the mark of both away.
mod unmarked {
    use super::*;

    static WOKE: Gate = Gate::new();
    static FOUND: Gate = Gate::new();
    /// How often a thread that polls has paused.
    static PAUSES: AtomicU32 = AtomicU32::new(0);

    std::thread_local! {
        /// The lock that this thread polls for when it was woken, by its address.
        static WILL_WANT: Cell<usize> = const { Cell::new(0) };
        static WANTS: Cell<usize> = const { Cell::new(0) };
    }

    hooks! {
        /// Unlocks take no records away.
        Unmarked {
            fn load_number(number: &AtomicUsize, order: Ordering) -> usize {
                let value = number.load(order);
                if value != 0 && value == WANTS.get() {
                    FOUND.pass();
                }
                value
            }
            fn polling() -> Polling {
                polling()
            }
            fn pause() {
                if POLLS.get() {
                    PAUSES.fetch_add(1, Ordering::SeqCst);
                }
                Linux::pause();
            }
            fn may_relax() -> bool {
                false
            }
            fn priority() -> u32 {
                PRIORITY.get()
            }
            fn woke() {
                WOKE.pass();
                if WILL_WANT.get() != 0 {
                    WANTS.set(WILL_WANT.take());
                    POLLS.set(true);
                    FOUND.stop_me();
                }
            }
        }
    }

    type Lock = RawMutex<Hooked<Unmarked>>;

    /// Then the record goes to another lock, while the ordinary thread has just found it: that thread does not
    /// become the poller there, where unlocks would rely on it.
    #[test]
    fn a_woken_thread_that_has_lost_its_mark_does_not_poll_for_the_next_lock_that_has_the_record() {
        let _watchdog = watched();
        let [mutex, other, next] = &[0; 3].map(|_| Lock::new());
        // The first unlock finds out that nothing is known.
        mutex.lock();
        unlock(mutex);
        mutex.lock();
        other.lock();
        next.lock();
        thread::scope(|scope| {
            // One of the bucket's two records is that lock's for as long as this goes on.
            park(scope, other, || ());
            let woken = park(scope, mutex, || {
                WILL_WANT.set(std::ptr::from_ref(mutex).addr());
                WOKE.stop_me();
            });
            unlock(mutex);
            WOKE.until_reached();
            mutex.lock();
            let urgent = park(scope, mutex, || PRIORITY.set(1));
            unlock(mutex);
            urgent.join().expect("no panic");
            mutex.lock();
            WOKE.open();
            FOUND.until_reached();
            park(scope, next, || ());
            let (pauses, sleeps) = (PAUSES.load(Ordering::SeqCst), Hooked::<Unmarked>::sleeps());
            FOUND.open();
            until(|| {
                PAUSES.load(Ordering::SeqCst) > pauses + 100
                    || Hooked::<Unmarked>::sleeps() > sleeps
            });
            let wakes = calls_of(|| unlock(next)).wakes;
            unlock(mutex);
            woken.join().expect("no panic");
            // Has it woken if it was missed.
            next.lock();
            unlock(next);
            unlock(other);
            assert_eq!(wakes, 1, "an unlock relies on a thread that polls for another lock");
        });
        Hooked::<Unmarked>::until_at_rest();
    }
}
