//! Overdue threads and threads of a real-time scheduling class: which of them is served next. On these
//! machines a thread is overdue as soon as it is parked.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, Hooks, calls_of, hooks, until};
use super::{no_polling, unlock, watched};

/// The time after which a thread is overdue, and the time between two that are served: zero.
fn at_once(nanos: u32) -> usize {
    match nanos {
        1_000_000 => 0,
        others => Linux::ticks_in(others),
    }
}

/// A thread that is parked for a locked mutex, and does `owned` when it has locked it.
fn park<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Hooked<H>>,
    owned: impl FnOnce() + Send + 'scope,
) {
    park_as(scope, mutex, || (), owned);
}

/// The same as `park`, but the thread does `before` first.
fn park_as<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Hooked<H>>,
    before: impl FnOnce() + Send + 'scope,
    owned: impl FnOnce() + Send + 'scope,
) {
    let sleeps = Hooked::<H>::sleeps();
    scope.spawn(move || {
        before();
        mutex.lock();
        owned();
        unlock(mutex);
    });
    Hooked::<H>::until_sleeps(sleeps + 1);
}

/// Two threads have a lock in turn. Each begins to poll while the other owns the lock, and finds it
/// unlocked at its first poll.
mod turns {
    use super::*;

    static FREE: AtomicBool = AtomicBool::new(false);
    /// Whether the parked thread has had the lock.
    static SERVED: AtomicBool = AtomicBool::new(false);
    /// Between two polls, in nanoseconds.
    const PAUSE: u32 = 900_000;
    /// How far the clock is ahead, in ticks.
    static AHEAD: AtomicU64 = AtomicU64::new(0);
    /// Which of the two threads pauses between polls, as bits.
    static PAUSING: AtomicU32 = AtomicU32::new(0);

    std::thread_local! {
        /// The bit of one of the two, while it wants the lock.
        static BIT: Cell<u32> = const { Cell::new(0) };
        static POLLS: Cell<bool> = const { Cell::new(false) };
    }

    hooks! {
        Turns {
            fn ticks_in(nanos: u32) -> usize {
                at_once(nanos)
            }
            fn polling() -> Polling {
                let mut polling = no_polling();
                if POLLS.get() {
                    (polling.budget, polling.near) = (u32::MAX - 1, u32::MAX - 1);
                    polling.offer = 0;
                    (polling.short, polling.long) = (PAUSE, PAUSE);
                }
                polling
            }
            fn pause() {
                PAUSING.fetch_or(BIT.get(), Ordering::SeqCst);
                // The wait is bounded, because a thread that waits for the bucket's lock comes here, too.
                let most = if BIT.get() == 0 { 0 } else { 10_000 };
                (0..most).take_while(|_| !FREE.load(Ordering::SeqCst)).for_each(|_| thread::yield_now());
                if most != 0 {
                    // The other's pause ends, so that the lock is free for hardly any time.
                    AHEAD.fetch_add(Linux::ticks_in(PAUSE) as u64, Ordering::SeqCst);
                }
            }
            fn ticks() -> u64 {
                Linux::ticks() + AHEAD.load(Ordering::SeqCst)
            }
        }
    }

    /// How many turns the two have until the parked and overdue thread has had the lock.
    fn turns_until_served() -> u32 {
        const MOST: u32 = 100;
        let mutex = RawMutex::<Hooked<Turns>>::new();
        let (owner, turn) = (AtomicU32::new(0), AtomicU32::new(0));
        SERVED.store(false, Ordering::SeqCst);
        FREE.store(false, Ordering::SeqCst);
        PAUSING.store(0, Ordering::SeqCst);
        let served = || SERVED.load(Ordering::SeqCst) || turn.load(Ordering::SeqCst) >= MOST;
        let turns = |mine: u32, begins: bool| {
            POLLS.set(true);
            let mut owns = begins;
            while !served() {
                if !owns {
                    BIT.set(mine);
                    mutex.lock();
                    BIT.set(0);
                }
                owns = false;
                FREE.store(false, Ordering::SeqCst);
                PAUSING.fetch_and(!mine, Ordering::SeqCst);
                owner.store(mine, Ordering::SeqCst);
                turn.fetch_add(1, Ordering::SeqCst);
                until(|| PAUSING.load(Ordering::SeqCst) & (3 - mine) != 0 || served());
                unlock(&mutex);
                FREE.store(true, Ordering::SeqCst);
                until(|| owner.load(Ordering::SeqCst) != mine || served());
            }
            FREE.store(true, Ordering::SeqCst);
        };
        mutex.lock();
        thread::scope(|scope| {
            park(scope, &mutex, || SERVED.store(true, Ordering::SeqCst));
            scope.spawn(|| turns(1, true));
            scope.spawn(|| turns(2, false));
        });
        Hooked::<Turns>::until_at_rest();
        turn.into_inner()
    }

    #[test]
    fn an_overdue_thread_is_served_although_each_poller_succeeds_at_its_first_poll() {
        let _watchdog = watched();
        let mut turns = [0; 9].map(|_| turns_until_served());
        turns.sort_unstable();
        // Each attempt takes 3 to 5 turns. Now and then the thread locks earlier, or gets no CPU when it is
        // woken.
        assert!(turns[turns.len() / 2] < 8, "{turns:?}");
    }
}

mod real_time {
    use super::*;

    std::thread_local! {
        static PRIORITY: Cell<u32> = const { Cell::new(0) };
    }

    hooks! {
        RealTime {
            fn ticks_in(nanos: u32) -> usize {
                at_once(nanos)
            }
            fn polling() -> Polling {
                no_polling()
            }
            fn priority() -> u32 {
                PRIORITY.get()
            }
        }
    }

    /// Threads of these priorities park one after the other. Returns the order in which they have the lock.
    /// With `handed` the first one is handed the lock.
    fn order(priorities: &[u32], handed: bool) -> Vec<u32> {
        let _watchdog = watched();
        let mutex = RawMutex::<Hooked<RealTime>>::new();
        let order = Mutex::new(Vec::new());
        mutex.lock();
        thread::scope(|scope| {
            for &priority in priorities {
                let order = &order;
                let note = move || order.lock().expect("no panic").push(priority);
                park_as(scope, &mutex, move || PRIORITY.set(priority), note);
            }
            if handed {
                // SAFETY: locked above.
                unsafe { mutex.unlock_fair() };
            } else {
                unlock(&mutex);
            }
        });
        Hooked::<RealTime>::until_at_rest();
        order.into_inner().expect("no panic")
    }

    #[test]
    fn a_thread_of_a_real_time_class_comes_before_those_that_are_overdue() {
        for handed in [false, true] {
            assert_eq!(order(&[0, 5, 0], handed)[0], 5);
            assert_eq!(order(&[0, 3, 9, 3, 0], handed)[..3], [9, 3, 3]);
        }
    }
}

mod beside {
    use super::*;

    static WOKE: Gate = Gate::new();

    std::thread_local! {
        static PRIORITY: Cell<u32> = const { Cell::new(0) };
    }

    hooks! {
        Beside {
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

    /// An ordinary thread was woken and has not run yet. A thread of a real-time class does not wait for it.
    #[test]
    fn a_thread_of_a_real_time_class_is_woken_beside_one_in_flight() {
        let _watchdog = watched();
        let mutex = RawMutex::<Hooked<Beside>>::new();
        let is_served = AtomicBool::new(false);
        mutex.lock();
        thread::scope(|scope| {
            park_as(scope, &mutex, || WOKE.stop_me(), || ());
            unlock(&mutex);
            WOKE.until_reached();
            mutex.lock();
            let served = || is_served.store(true, Ordering::SeqCst);
            park_as(scope, &mutex, || PRIORITY.set(1), served);
            let calls = calls_of(|| unlock(&mutex));
            assert_eq!(calls.wakes, 1);
            until(|| is_served.load(Ordering::SeqCst));
            WOKE.open();
        });
        Hooked::<Beside>::until_at_rest();
    }
}

/// Locks whose addresses differ in their upper halves only.
mod halves {
    use super::*;

    static UNLOCKED: Gate = Gate::new();
    static WOKE: Gate = Gate::new();

    hooks! {
        Halves {
            fn ticks_in(nanos: u32) -> usize {
                at_once(nanos)
            }
            fn polling() -> Polling {
                no_polling()
            }
            fn presumed_light_fence() {
                UNLOCKED.pass();
            }
            fn fence(order: Ordering) {
                UNLOCKED.pass();
                std::sync::atomic::fence(order);
            }
            fn woke() {
                WOKE.pass();
            }
        }
    }

    type Lock = RawMutex<Hooked<Halves>>;

    /// A mutex at this address, or None if the address is in use.
    fn at(address: usize) -> Option<&'static Lock> {
        const PAGE: usize = 4_096;
        // SAFETY: a new mapping, in which nothing else lies.
        unsafe {
            let page = libc::mmap(
                std::ptr::with_exposed_provenance_mut(address),
                PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            );
            if page == libc::MAP_FAILED {
                return None;
            }
            page.cast::<Lock>().write(Lock::new());
            Some(&*page.cast::<Lock>())
        }
    }

    /// Unlocks. Between the store and the look another thread has the lock, and `meanwhile` runs.
    fn unlock_while(mutex: &'static Lock, meanwhile: impl FnOnce()) {
        thread::scope(|scope| {
            let unlocks = scope.spawn(|| {
                UNLOCKED.stop_me();
                unlock(mutex);
            });
            UNLOCKED.until_reached();
            assert!(mutex.try_lock());
            UNLOCKED.open();
            unlocks.join().expect("no panic");
            meanwhile();
        });
    }

    #[test]
    fn a_request_to_hand_a_lock_over_is_not_for_the_one_with_an_equal_half_of_its_address() {
        let _watchdog = watched();
        let places = (1..64_usize).map(|upper| upper << 32).filter_map(at);
        let two: Vec<_> = places.take(2).collect();
        let [mutex, other] = two[..] else {
            println!("skipped: needs two addresses whose lower halves are 0");
            return;
        };
        mutex.lock();
        other.lock();
        let (served, other_served) = (AtomicBool::new(false), AtomicBool::new(false));
        let may_unlock = AtomicBool::new(false);
        thread::scope(|scope| {
            park(scope, mutex, || {
                served.store(true, Ordering::SeqCst);
                until(|| may_unlock.load(Ordering::SeqCst));
            });
            // It is woken while the other thread owns the lock, and goes back to its place in the queue.
            let sleeps = Hooked::<Halves>::sleeps();
            unlock_while(mutex, || Hooked::<Halves>::until_sleeps(sleeps + 1));
            // Now it would be handed the lock, but another thread has locked it again, and that owner is
            // asked for it.
            unlock_while(mutex, || ());
            park_as(scope, other, || WOKE.stop_me(), || other_served.store(true, Ordering::SeqCst));
            unlock(other);
            WOKE.until_reached();
            assert!(!other.is_locked(), "its owner was not asked for it");
            WOKE.open();
            until(|| other_served.load(Ordering::SeqCst));
            assert!(!served.load(Ordering::SeqCst));
            unlock(mutex);
            assert!(mutex.is_locked(), "it was handed over");
            until(|| served.load(Ordering::SeqCst));
            may_unlock.store(true, Ordering::SeqCst);
        });
        Hooked::<Halves>::until_at_rest();
    }
}

/// Woken threads that do not run.
mod never_runs {
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
}

/// Three contended locks, of which one has no record of its own.
mod shared {
    use super::*;

    static WOKE: Gate = Gate::new();
    /// How many threads that poll have paused.
    static PAUSED: AtomicU32 = AtomicU32::new(0);

    std::thread_local! {
        static POLLS: Cell<bool> = const { Cell::new(false) };
        static HAS_PAUSED: Cell<bool> = const { Cell::new(false) };
    }

    hooks! {
        /// Some threads poll for as long as the test takes.
        Shares {
            fn ticks_in(nanos: u32) -> usize {
                at_once(nanos)
            }
            fn polling() -> Polling {
                let mut polling = no_polling();
                if POLLS.get() {
                    polling.budget = u32::MAX - 1;
                }
                polling
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

    type Lock = RawMutex<Hooked<Shares>>;

    /// A thread that polls for a mutex, which is locked.
    fn poll<'scope>(
        scope: &'scope Scope<'scope, '_>,
        mutex: &'scope Lock,
    ) -> ScopedJoinHandle<'scope, ()> {
        let paused = PAUSED.load(Ordering::SeqCst);
        mutex.lock();
        let thread = scope.spawn(|| {
            POLLS.set(true);
            mutex.lock();
            unlock(mutex);
        });
        until(|| PAUSED.load(Ordering::SeqCst) > paused);
        thread
    }

    /// The tests share a table.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// A thread that is handed the lock owns it before it runs.
    #[test]
    fn an_overdue_thread_of_a_lock_that_shares_a_record_is_handed_the_lock() {
        let _watchdog = watched();
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let [one, two, three] = &[0; 3].map(|_| Lock::new());
        let mut handed = false;
        thread::scope(|scope| {
            poll(scope, one);
            poll(scope, two);
            three.lock();
            park_as(scope, three, || WOKE.stop_me(), || ());
            unlock(three);
            handed = three.is_locked();
            WOKE.open();
            unlock(one);
            unlock(two);
        });
        assert!(handed);
        Hooked::<Shares>::until_at_rest();
    }

    /// Two threads park for a lock that shares a record. Before the second one parks, another lock gives up
    /// its own record.
    #[test]
    fn threads_of_a_lock_that_shares_a_record_are_counted_together() {
        let _watchdog = watched();
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let [one, two, three] = &[0; 3].map(|_| Lock::new());
        let served = &AtomicU32::new(0);
        let serve = move || _ = served.fetch_add(1, Ordering::SeqCst);
        thread::scope(|scope| {
            poll(scope, one);
            let polls = poll(scope, two);
            three.lock();
            park(scope, three, serve);
            unlock(two);
            polls.join().expect("no panic");
            park(scope, three, serve);
            unlock(three);
            until(|| served.load(Ordering::SeqCst) == 2);
            unlock(one);
        });
        Hooked::<Shares>::until_at_rest();
    }
}

/// Threads are overdue after a long time, and only one of them is served within the same time again.
mod seldom {
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
}
