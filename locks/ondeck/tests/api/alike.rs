//! Guarantees that many locks share: sections exclude each other, and a wait or an attempt with a
//! deadline does not time out early, and succeeds if its event comes before the deadline.

use std::cell::Cell;
use std::time::{Duration, Instant};

#[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
use ondeck::PiMutex;
use ondeck::rwlock::ReadRecursive;
use ondeck::{
    Barrier, Condvar, FairMutex, Latch, Mutex, Once, ReentrantMutex, RwLock,
    RwLockUpgradableReadGuard as Upgradable, Semaphore, poison,
};

use crate::line::until_waiting;
use crate::rest::until_at_rest;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn each_is_small_and_constant() {
    let (mutex, fair) = const { (Mutex::new(()), FairMutex::new(())) };
    let (condvar, lock) = const { (Condvar::new(), RwLock::new(())) };
    let reentrant = const { ReentrantMutex::new(()) };
    // Where names are shown, each lock has a word for its own.
    let is_small = !cfg!(any(feature = "deadlock_detection", feature = "stats"));
    if is_small {
        assert_eq!([size_of_val(&mutex), size_of_val(&fair), size_of_val(&condvar)], [1; 3]);
        assert_eq!(size_of_val(&lock), 4);
    }
    if is_small && usize::BITS == 64 {
        assert_eq!(size_of_val(&reentrant), 24);
    }
    assert!(!condvar.notify_one());
    assert_eq!(condvar.notify_all(), 0);
    assert!(mutex.try_lock().is_some() && fair.try_lock().is_some());
    assert!(lock.try_write().is_some());
}

/// A const function cannot drop a value that has a destructor.
#[test]
fn const_functions_can_drop_each() {
    const fn drops() -> usize {
        let _mutexes = (Mutex::new(0_u8), FairMutex::new(0_u8), ReentrantMutex::new(0_u8));
        let _more = RwLock::new(0_u8);
        let _poisoned = (poison::Mutex::new(0_u8), poison::RwLock::new(0_u8));
        let _conditions = (Condvar::new(), poison::Condvar::new());
        let _others = (Once::new(), Latch::new(1), Barrier::new(1));
        let _semaphores = (Semaphore::new(1), Semaphore::fair(1));
        #[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
        let _of_linux = PiMutex::new(0_u8);
        1
    }
    assert_eq!(const { drops() }, 1);
}

#[test]
#[cfg(feature = "arc_lock")]
fn guards_can_own_a_share() {
    use std::sync::Arc;
    assert_eq!(*Arc::new(Mutex::new(5)).lock_arc(), 5);
    assert_eq!(*Arc::new(FairMutex::new(5)).lock_arc(), 5);
    assert_eq!(*Arc::new(ReentrantMutex::new(5)).lock_arc(), 5);
}

/// So many threads add, each so often.
fn crowd(add: impl Fn() + Sync) -> u32 {
    const THREADS: u32 = 6;
    const SECTIONS: u32 = 5_000;
    watchdog::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..SECTIONS).for_each(|_| add()));
        }
    });
    THREADS * SECTIONS
}

#[test]
fn contended_increments_are_all_there() {
    let mutex = Mutex::new(0);
    assert_eq!(crowd(|| *mutex.lock() += 1), *mutex.lock());
    until_at_rest(&raw const mutex);
    let fair = FairMutex::new(0);
    assert_eq!(crowd(|| *fair.lock() += 1), *fair.lock());
    until_at_rest(&raw const fair);
    let reentrant = ReentrantMutex::new(Cell::new(0));
    let sections = crowd(|| {
        let outer = reentrant.lock();
        let inner = reentrant.lock();
        inner.set(inner.get() + 1);
        drop(outer);
        inner.set(inner.get() + 1);
    });
    assert_eq!(2 * sections, reentrant.lock().get());
    let lock = poison::RwLock::new(0);
    let sections = crowd(|| {
        *lock.write().expect("no panic") += 1;
        assert!(*lock.read().expect("no panic") > 0);
    });
    assert_eq!(sections, lock.into_inner().expect("no panic"));
    #[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
    {
        let pi = PiMutex::new(0);
        assert_eq!(crowd(|| *pi.lock() += 1), *pi.lock());
    }
}

/// With each of the two methods, a wait or an attempt fails when its time is over, and not before.
pub(crate) fn fails_in_time(
    what: &str,
    lasting: impl Fn(Duration) -> bool,
    until: impl Fn(Instant) -> bool,
) {
    let start = Instant::now();
    assert!(!lasting(SHORT), "{what}: there is nothing to be had");
    assert!(start.elapsed() >= SHORT, "{what}");
    let deadline = Instant::now() + SHORT;
    assert!(!until(deadline), "{what}: there is nothing to be had");
    assert!(Instant::now() >= deadline, "{what}");
    assert!(!until(deadline), "{what}: the deadline has long passed");
    assert!(!lasting(Duration::ZERO), "{what}");
}

/// The same of `taken`, and a wait or an attempt succeeds at `free`.
fn in_time<T>(
    what: &str,
    [free, taken]: [&T; 2],
    lasting: impl Fn(&T, Duration) -> bool,
    until: impl Fn(&T, Instant) -> bool,
) {
    const LONG: Duration = Duration::from_hours(1);
    assert!(lasting(free, LONG) && until(free, Instant::now() + LONG), "{what}");
    fails_in_time(what, |time| lasting(taken, time), |end| until(taken, end));
}

/// The methods of a lock succeed or fail in time, which say by `$succeeds` whether they have
/// succeeded.
macro_rules! in_time {
    ($($free:expr, $taken:expr => $lasting:ident $until:ident $succeeds:path;)*) => {$(
        in_time(
            stringify!($taken.$lasting),
            [&$free, &$taken],
            |it, time| $succeeds(&it.$lasting(time)),
            |it, end| $succeeds(&it.$until(end)),
        );
    )*};
}

#[test]
fn none_ends_before_its_deadline() {
    let (mutex, fair, reentrant) = (Mutex::new(()), FairMutex::new(()), ReentrantMutex::new(()));
    let [written, read] = [(); 2].map(RwLock::new);
    let guards = (mutex.lock(), fair.lock(), reentrant.lock(), written.write(), read.read());
    let done = Once::new();
    done.call_once(|| ());
    #[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
    let pi = PiMutex::new(());
    #[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
    let _owned = pi.lock();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            in_time! {
                Mutex::new(()), mutex => try_lock_for try_lock_until Option::is_some;
                FairMutex::new(()), fair => try_lock_for try_lock_until Option::is_some;
                ReentrantMutex::new(()), reentrant => try_lock_for try_lock_until Option::is_some;
                RwLock::new(()), written => try_read_for try_read_until Option::is_some;
                RwLock::new(()), written =>
                    try_read_recursive_for try_read_recursive_until Option::is_some;
                RwLock::new(()), written =>
                    try_upgradable_read_for try_upgradable_read_until Option::is_some;
                RwLock::new(()), written => try_write_for try_write_until Option::is_some;
                Barrier::new(1), Barrier::new(2) => wait_for wait_until Option::is_some;
                Latch::new(0), Latch::new(1) => wait_for wait_until bool::clone;
                done, Once::new() => wait_for wait_until bool::clone;
            }
            #[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
            in_time!(PiMutex::new(()), pi => try_lock_for try_lock_until Option::is_some;);
            in_time(
                "an upgrade",
                [&RwLock::new(()), &read],
                |it, time| Upgradable::try_upgrade_for(it.upgradable_read(), time).is_ok(),
                |it, end| Upgradable::try_upgrade_until(it.upgradable_read(), end).is_ok(),
            );
            for new in [Semaphore::new, Semaphore::fair] {
                in_time(
                    "a semaphore",
                    [&new(4), &new(1)],
                    |it, time| it.try_acquire_many_for(2, time),
                    |it, end| it.try_acquire_many_until(2, end),
                );
                in_time!(new(2), new(0) => try_acquire_for try_acquire_until bool::clone;);
            }
            let (own, condvar) = (Mutex::new(()), Condvar::new());
            fails_in_time(
                "a condition variable",
                |time| !condvar.wait_for(&mut own.lock(), time).timed_out(),
                |end| !condvar.wait_until(&mut own.lock(), end).timed_out(),
            );
        });
    });
    drop(guards);
    assert!(mutex.try_lock_for(Duration::ZERO).is_some(), "a free lock needs no time");
    assert!(mutex.try_lock_until(Instant::now()).is_some(), "nor does it need a deadline");
    assert!(fair.try_lock_for(Duration::ZERO).is_some());
    assert!(Semaphore::new(1).try_acquire_until(Instant::now()));
    until_at_rest(&raw const mutex);
    until_at_rest(&raw const fair);
}

/// A thread waits at `place` for very long, another one gives up during that wait, and then `come`
/// lets the first one continue.
fn succeeds_in_time<T: Sync>(place: &T, wait: fn(&T, Duration) -> bool, come: impl FnOnce()) {
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| wait(place, Duration::MAX));
        until_waiting(place, 1);
        assert!(!wait(place, SHORT));
        come();
        assert!(waiter.join().expect("no panic"));
    });
    until_at_rest(place);
}

#[test]
fn what_comes_before_the_deadline_is_had_although_others_give_up() {
    let once = Once::new();
    succeeds_in_time(&once, Once::wait_for, || once.call_once(|| ()));
    let latch = Latch::new(2);
    succeeds_in_time(&latch, Latch::wait_for, || latch.count_down_by(2));
    let semaphore = Semaphore::new(0);
    succeeds_in_time(&semaphore, Semaphore::try_acquire_for, || semaphore.release(1));
    let fair = FairMutex::new(());
    let guard = fair.lock();
    succeeds_in_time(&fair, |fair, time| fair.try_lock_for(time).is_some(), || drop(guard));
}
