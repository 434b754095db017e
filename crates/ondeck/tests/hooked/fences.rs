//! The store of an unlock without a fence is still in the store buffer of its CPU when the unlock is over.
//! A thread that parks then sees the lock locked, and the unlock has not seen that thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform, Timestamp};
use ondeck::spin::Polling;

use super::hooked_platform::{Buffer, Gate, Hooked, Hooks, calls_of, hooks, until};
use super::{no_polling, unlock, watched};

mod asked_after_the_store {
    use super::*;

    static BUFFER: Buffer = Buffer::new();
    static BEFORE_THE_STORE: Gate = Gate::new();
    /// Whether unlocks may go without fences from now on.
    static MAY_RELAX: AtomicBool = AtomicBool::new(true);

    hooks! {
        /// Unlocks that find no parked thread soon leave out their fences.
        Relaxed {
            fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                BEFORE_THE_STORE.pass();
                BUFFER.store(byte, value, order);
            }
            fn fence(_: Ordering) {
                BUFFER.fence();
            }
            fn presumed_light_fence() {}
            fn heavy_fence() {
                BUFFER.drain();
            }
            fn may_relax() -> bool {
                MAY_RELAX.load(Ordering::Relaxed)
            }
            fn once_in(_: u32) -> bool {
                true
            }
            fn spins(count: u32) -> u32 {
                count.min(100)
            }
            fn polling() -> Polling {
                no_polling()
            }
        }
    }

    /// An unlock reads that it needs no fence. Before its store a thread parks, with a heavy fence after
    /// which the next threads that park make full fences only, and gives up. Then the unlock goes on, and
    /// another thread parks while the store is in the buffer.
    #[test]
    fn a_thread_parks_beside_an_unlock_that_needed_no_fence_a_moment_ago() {
        let _watchdog = watched();
        let mutex = &RawMutex::<Hooked<Relaxed>>::new();
        // At the first unlock nothing is known of the bucket. Then a thread parks, so that there is a
        // record, and unlocks look there.
        mutex.lock();
        unlock(mutex);
        mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                mutex.lock();
                unlock(mutex);
            });
            Hooked::<Relaxed>::until_sleeps(1);
            unlock(mutex);
        });
        Hooked::<Relaxed>::until_at_rest();
        // It counts for more than a hundred unlocks, after which the next ones leave out their fences.
        mutex.lock();
        unlock(mutex);
        MAY_RELAX.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            let unlocks = scope.spawn(|| {
                mutex.lock();
                BUFFER.begin();
                BEFORE_THE_STORE.stop_me();
                unlock(mutex);
            });
            BEFORE_THE_STORE.until_reached();
            let soon = Linux::now().after(Duration::from_millis(5));
            assert!(
                !mutex.try_lock_until(soon),
                "it is locked, and the heavy fence changes nothing"
            );
            assert_eq!(Hooked::<Relaxed>::sleeps(), 2);
            BEFORE_THE_STORE.open();
            unlocks.join().expect("no panic");
            let parks = scope.spawn(|| {
                mutex.lock();
                unlock(mutex);
            });
            until(|| Hooked::<Relaxed>::sleeps() == 3 || parks.is_finished());
            BUFFER.drain();
        });
        Hooked::<Relaxed>::until_at_rest();
    }
}

mod refused {
    use super::*;

    static BUFFER: Buffer = Buffer::new();
    static REFUSED: AtomicBool = AtomicBool::new(false);

    hooks! {
        /// From some moment on the kernel refuses heavy fences.
        Refusing {
            fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                BUFFER.store(byte, value, order);
            }
            fn fence(_: Ordering) {
                BUFFER.fence();
            }
            fn presumed_light_fence() {}
            fn heavy_fence() {
                if REFUSED.load(Ordering::SeqCst) {
                    BUFFER.fence();
                } else {
                    BUFFER.drain();
                }
            }
            fn fences_are_asymmetric() -> bool {
                !REFUSED.load(Ordering::SeqCst)
            }
            fn heavy_fences_are_refused() -> bool {
                REFUSED.load(Ordering::SeqCst)
            }
            fn polling() -> Polling {
                no_polling()
            }
        }
    }

    /// An unlock without a fence is over, and its store becomes visible only after a thread has parked,
    /// which no unlock will see. That thread looks again by itself.
    #[test]
    fn a_thread_parks_after_heavy_fences_were_refused_beside_an_unlock_without_a_fence() {
        let _watchdog = watched();
        let mutex = RawMutex::<Hooked<Refusing>>::new();
        mutex.lock();
        unlock(&mutex);
        mutex.lock();
        thread::scope(|scope| {
            let unlocks = scope.spawn(|| {
                BUFFER.begin();
                unlock(&mutex);
            });
            unlocks.join().expect("no panic");
            assert!(mutex.is_locked(), "the store is in the buffer");
            REFUSED.store(true, Ordering::SeqCst);
            let parks = scope.spawn(|| {
                mutex.lock();
                unlock(&mutex);
            });
            Hooked::<Refusing>::until_sleeps(1);
            assert!(!parks.is_finished());
            BUFFER.drain();
            parks.join().expect("no panic");
        });
        Hooked::<Refusing>::until_at_rest();
    }
}

mod evicted {
    use super::*;

    static BUFFER: Buffer = Buffer::new();
    static BEFORE_THE_STORE: Gate = Gate::new();
    static MAY_RELAX: AtomicBool = AtomicBool::new(true);
    /// How many threads that poll have paused.
    static PAUSED: AtomicUsize = AtomicUsize::new(0);

    std::thread_local! {
        static POLLS: Cell<bool> = const { Cell::new(false) };
        static HAS_PAUSED: Cell<bool> = const { Cell::new(false) };
    }

    hooks! {
        /// The same as `Relaxed`, but some threads poll for as long as the test takes.
        Evicting {
            fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                BEFORE_THE_STORE.pass();
                BUFFER.store(byte, value, order);
            }
            fn fence(_: Ordering) {
                BUFFER.fence();
            }
            fn presumed_light_fence() {}
            fn heavy_fence() {
                BUFFER.drain();
            }
            fn may_relax() -> bool {
                MAY_RELAX.load(Ordering::Relaxed)
            }
            fn once_in(_: u32) -> bool {
                true
            }
            fn spins(count: u32) -> u32 {
                count.min(100)
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
        }
    }

    type Lock = RawMutex<Hooked<Evicting>>;

    /// A thread that polls for a mutex which the caller has locked.
    fn poll<'scope>(
        scope: &'scope Scope<'scope, '_>,
        mutex: &'scope Lock,
    ) -> ScopedJoinHandle<'scope, ()> {
        let paused = PAUSED.load(Ordering::SeqCst);
        let thread = scope.spawn(|| {
            POLLS.set(true);
            mutex.lock();
            unlock(mutex);
        });
        until(|| PAUSED.load(Ordering::SeqCst) > paused);
        thread
    }

    /// A thread parks for a mutex that the caller owns, and then locks it.
    fn park_once(mutex: &Lock) {
        let sleeps = Hooked::<Evicting>::sleeps();
        mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                mutex.lock();
                unlock(mutex);
            });
            Hooked::<Evicting>::until_sleeps(sleeps + 1);
            unlock(mutex);
        });
    }

    /// A bucket has records for two locks. A thread polls for one of them. When `work` is called with the
    /// other one, `light`, the unlocks of that lock have no fences. In the shared record a thread has
    /// parked, with a heavy fence.
    fn with_a_light_lock(work: impl FnOnce(&Lock)) {
        let [one, two, light, shared] = &[0; 4].map(|_| Lock::new());
        // At the first unlock nothing is known of the bucket.
        one.lock();
        unlock(one);
        MAY_RELAX.store(true, Ordering::Relaxed);
        thread::scope(|scope| {
            one.lock();
            poll(scope, one);
            two.lock();
            let polls = poll(scope, two);
            park_once(shared);
            unlock(two);
            polls.join().expect("no panic");
            // Its second unlock counts for as many unlocks as are worth a heavy fence.
            park_once(light);
            MAY_RELAX.store(false, Ordering::Relaxed);
            work(light);
            unlock(one);
        });
        Hooked::<Evicting>::until_at_rest();
    }

    /// The tests share a table.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// After an unlock without a fence the record of the lock goes to another lock. A thread that parks for
    /// the first lock now is counted in the shared record.
    #[test]
    fn a_thread_parks_in_the_shared_record_beside_an_unlock_without_a_fence() {
        let _watchdog = watched();
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, mut missed) = (Lock::new(), false);
        with_a_light_lock(|light| {
            thread::scope(|scope| {
                let unlocks = scope.spawn(|| {
                    light.lock();
                    BUFFER.begin();
                    unlock(light);
                });
                unlocks.join().expect("no panic");
                assert!(light.is_locked(), "the store is in the buffer");
                last.lock();
                poll(scope, &last);
                let sleeps = Hooked::<Evicting>::sleeps();
                let parks = scope.spawn(|| {
                    light.lock();
                    unlock(light);
                });
                until(|| Hooked::<Evicting>::sleeps() > sleeps || parks.is_finished());
                missed = !parks.is_finished();
                BUFFER.drain();
                unlock(&last);
                // If the parked thread was missed, this unlock wakes it.
                light.lock();
                unlock(light);
            });
        });
        assert!(!missed, "the thread has parked for a lock that was unlocked");
    }

    /// An unlock reads that it needs no fence. Before its store the record goes to another lock, which has
    /// a poller. The mark of that poller says nothing of the thread that has parked meanwhile.
    #[test]
    fn a_thread_parks_while_the_record_goes_to_a_lock_that_is_polled() {
        let _watchdog = watched();
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let last = Lock::new();
        let mut wakes = 0;
        with_a_light_lock(|light| {
            thread::scope(|scope| {
                let unlocks = scope.spawn(|| {
                    light.lock();
                    BEFORE_THE_STORE.stop_me();
                    calls_of(|| unlock(light)).wakes
                });
                BEFORE_THE_STORE.until_reached();
                last.lock();
                poll(scope, &last);
                let sleeps = Hooked::<Evicting>::sleeps();
                scope.spawn(|| {
                    light.lock();
                    unlock(light);
                });
                Hooked::<Evicting>::until_sleeps(sleeps + 1);
                BEFORE_THE_STORE.open();
                wakes = unlocks.join().expect("no panic");
                unlock(&last);
                // If the parked thread was missed, this unlock wakes it.
                light.lock();
                unlock(light);
            });
        });
        assert_eq!(wakes, 1);
    }
}

mod gave_up {
    use super::*;

    static BUFFER: Buffer = Buffer::new();
    static BEFORE_THE_FENCE: Gate = Gate::new();
    static BEHIND_THE_FENCE: Gate = Gate::new();

    std::thread_local! {
        static POLLS: Cell<bool> = const { Cell::new(false) };
    }

    /// Each test has a table of its own, where no record is armed.
    macro_rules! giving_up {
        ($name:ident) => {
            hooks! {
            $name {
                fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                    BUFFER.store(byte, value, order);
                }
                fn fence(_: Ordering) {
                    BUFFER.fence();
                }
                fn presumed_light_fence() {}
                fn heavy_fence() {
                    BEFORE_THE_FENCE.pass();
                    BUFFER.drain();
                    BEHIND_THE_FENCE.pass();
                }
                fn polling() -> Polling {
                    let mut polling = no_polling();
                    polling.budget = u32::from(POLLS.get());
                    polling
                }
            }
                }
        };
    }

    /// The tests share a buffer.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    fn give_up<H: Hooks>(mutex: &RawMutex<Hooked<H>>) {
        POLLS.set(true);
        assert!(!mutex.try_lock_until(Linux::now()));
    }

    /// The caller's unlock has no fence, and its store is still in the buffer when the unlock is over.
    fn unlock_into_the_buffer<H: Hooks>(mutex: &RawMutex<Hooked<H>>) {
        thread::scope(|scope| {
            scope.spawn(|| {
                BUFFER.begin();
                unlock(mutex);
            });
        });
        assert!(mutex.is_locked(), "the store is in the buffer");
    }

    /// A thread wants the lock while the unlock's store is in the buffer. Returns whether it parks.
    fn parks<'scope, H: Hooks>(
        scope: &'scope Scope<'scope, '_>,
        mutex: &'scope RawMutex<Hooked<H>>,
    ) -> bool {
        let sleeps = Hooked::<H>::sleeps();
        let parks = scope.spawn(|| {
            mutex.lock();
            unlock(mutex);
        });
        until(|| Hooked::<H>::sleeps() > sleeps || parks.is_finished());
        !parks.is_finished()
    }

    /// A locked mutex in a bucket where no record is armed.
    fn locked<H: Hooks>() -> RawMutex<Hooked<H>> {
        let mutex = RawMutex::new();
        mutex.lock();
        unlock(&mutex);
        mutex.lock();
        mutex
    }

    giving_up! { Two }

    /// Of two heavy fences one was made before the unlock, and the other is not over yet. A third thread
    /// makes one, too.
    #[test]
    fn a_thread_parks_before_the_heavy_fence_of_another_is_over() {
        let _watchdog = watched();
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mutex = &locked::<Two>();
        let mut missed = false;
        thread::scope(|scope| {
            let gives_up = scope.spawn(|| {
                BEHIND_THE_FENCE.stop_me();
                give_up(mutex);
            });
            BEHIND_THE_FENCE.until_reached();
            unlock_into_the_buffer(mutex);
            let sleeps = Hooked::<Two>::sleeps();
            scope.spawn(|| {
                BEFORE_THE_FENCE.stop_me();
                mutex.lock();
                unlock(mutex);
            });
            until(|| BEFORE_THE_FENCE.is_reached() || Hooked::<Two>::sleeps() > sleeps);
            BEHIND_THE_FENCE.open();
            gives_up.join().expect("no panic");
            missed = Hooked::<Two>::sleeps() > sleeps || parks(scope, mutex);
            BEFORE_THE_FENCE.open();
            // If parked threads were missed, this unlock wakes them.
            BUFFER.drain();
            mutex.lock();
            unlock(mutex);
        });
        Hooked::<Two>::until_at_rest();
        assert!(!missed, "the thread has parked for a lock that was unlocked");
    }

    giving_up! { One }

    /// A thread has given up, with a heavy fence, in a record at which unlocks do not look. A thread that
    /// parks there later makes a heavy fence, too.
    #[test]
    fn a_thread_parks_where_one_has_given_up_beside_an_unlock_without_a_fence() {
        let _watchdog = watched();
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mutex = &locked::<One>();
        let mut missed = false;
        thread::scope(|scope| {
            scope.spawn(|| give_up(mutex)).join().expect("no panic");
            unlock_into_the_buffer(mutex);
            missed = parks(scope, mutex);
            // If the parked thread was missed, this unlock wakes it.
            BUFFER.drain();
            mutex.lock();
            unlock(mutex);
        });
        Hooked::<One>::until_at_rest();
        assert!(!missed, "the thread has parked for a lock that was unlocked");
    }
}

mod landed {
    use super::*;

    static BUFFER: Buffer = Buffer::new();
    static WOKE: Gate = Gate::new();
    /// Whether all deadlines have passed.
    static IS_LATE: AtomicBool = AtomicBool::new(false);
    /// Whether the poller was allowed to let unlocks do without fences.
    static MAY_RELAX: AtomicBool = AtomicBool::new(false);
    /// How often a thread that polls has paused.
    static PAUSES: AtomicUsize = AtomicUsize::new(0);

    std::thread_local! {
        static POLLS: Cell<bool> = const { Cell::new(false) };
    }

    hooks! {
        /// No thread is ever overdue; otherwise the poller would ask the owner to hand the lock over.
        Landing {
            fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                BUFFER.store(byte, value, order);
            }
            fn fence(_: Ordering) {
                BUFFER.fence();
            }
            fn presumed_light_fence() {}
            fn heavy_fence() {
                BUFFER.drain();
            }
            fn may_relax() -> bool {
                MAY_RELAX.fetch_or(POLLS.get(), Ordering::SeqCst);
                POLLS.get()
            }
            fn once_in(_: u32) -> bool {
                false
            }
            fn ticks_in(nanos: u32) -> usize {
                if nanos >= 500_000 { usize::MAX / 4 } else { Linux::ticks_in(nanos) }
            }
            fn now() -> Timestamp {
                let late = if IS_LATE.load(Ordering::SeqCst) { 2 * HOUR } else { Duration::ZERO };
                Linux::now().after(late)
            }
            fn polling() -> Polling {
                let mut polling = no_polling();
                if POLLS.get() {
                    polling.budget = u32::MAX - 1;
                }
                polling
            }
            fn pause() {
                if POLLS.get() {
                    PAUSES.fetch_add(1, Ordering::SeqCst);
                }
                Linux::pause();
            }
            fn woke() {
                WOKE.pass();
            }
        }
    }

    const HOUR: Duration = Duration::from_hours(1);

    /// An unlock without a fence relies on a thread that was woken and has not run yet. That thread runs
    /// while the unlock's store is in the buffer, finds the lock locked, and its deadline has passed: it
    /// wakes the other parked thread.
    #[test]
    fn a_woken_thread_gives_up_beside_an_unlock_without_a_fence() {
        let _watchdog = watched();
        let mutex = &RawMutex::<Hooked<Landing>>::new();
        // At the first unlock nothing is known of the bucket.
        mutex.lock();
        unlock(mutex);
        mutex.lock();
        let mut wakes = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                mutex.lock();
                unlock(mutex);
            });
            Hooked::<Landing>::until_sleeps(1);
            let gives_up = scope.spawn(|| {
                WOKE.stop_me();
                let mut owner = true;
                let late = Linux::now().after(HOUR);
                let calls = calls_of(|| owner = mutex.try_lock_until(late));
                if owner {
                    unlock(mutex);
                }
                calls.wakes
            });
            Hooked::<Landing>::until_sleeps(2);
            unlock(mutex);
            WOKE.until_reached();
            mutex.lock();
            // The poller lets unlocks do without fences, and becomes the owner.
            let unlocks = scope.spawn(|| {
                POLLS.set(true);
                mutex.lock();
                BUFFER.begin();
                unlock(mutex);
            });
            until(|| MAY_RELAX.load(Ordering::SeqCst));
            let pauses = PAUSES.load(Ordering::SeqCst);
            until(|| PAUSES.load(Ordering::SeqCst) > pauses);
            unlock(mutex);
            unlocks.join().expect("no panic");
            assert!(mutex.is_locked(), "the store is in the buffer");
            IS_LATE.store(true, Ordering::SeqCst);
            WOKE.open();
            wakes = gives_up.join().expect("no panic");
            BUFFER.drain();
            // If the other thread was missed, this unlock wakes it.
            mutex.lock();
            unlock(mutex);
        });
        Hooked::<Landing>::until_at_rest();
        assert_eq!(wakes, 1, "the thread that unlocks relied on has woken none");
    }
}
