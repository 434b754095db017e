//! Each operation with a deadline, by a time and by an instant: it succeeds where it need not wait, and fails when the
//! deadline has passed, not before.

use std::mem::forget;
use std::thread;
use std::time::{Duration, Instant};

use ondeck::RwLockUpgradableReadGuard;
use ondeck::rwlock::ReadRecursive;
use ondeck::{Barrier, Event, FairMutex, Latch, Mutex, Once, Parker, RwLock, Semaphore};

fn check<L>(
    [free, taken]: [&L; 2],
    within: impl Fn(&L, Duration) -> bool,
    until: impl Fn(&L, Instant) -> bool,
) {
    const SHORT: Duration = Duration::from_millis(2);
    const LONG: Duration = Duration::from_hours(1);
    assert!(within(free, LONG));
    assert!(until(free, Instant::now() + LONG));
    let end = Instant::now() + SHORT;
    assert!(!within(taken, SHORT));
    assert!(Instant::now() >= end);
    let end = Instant::now() + SHORT;
    assert!(!until(taken, end));
    assert!(Instant::now() >= end);
}

#[test]
fn waits_of_threads_for_each_other() {
    let barriers = [&Barrier::new(1), &Barrier::new(2)];
    check(barriers, |it, time| it.wait_for(time).is_some(), |it, end| it.wait_until(end).is_some());
    check([&Latch::new(0), &Latch::new(1)], Latch::wait_for, Latch::wait_until);
    let set = Event::new();
    set.set();
    check([&set, &Event::new()], Event::wait_for, Event::wait_until);
    let done = Once::new();
    done.call_once(|| ());
    check([&done, &Once::new()], Once::wait_for, Once::wait_until);
    let given = |(parker, is_given): &(Parker, bool)| {
        if *is_given {
            parker.unparker().unpark();
        }
    };
    check(
        [&(Parker::new(), true), &(Parker::new(), false)],
        |it, time| {
            given(it);
            it.0.park_for(time)
        },
        |it, end| {
            given(it);
            it.0.park_until(end)
        },
    );
    for [many, one] in
        [[Semaphore::new(4), Semaphore::new(1)], [Semaphore::fair(4), Semaphore::fair(1)]]
    {
        let (within, until) = (Semaphore::try_acquire_many_for, Semaphore::try_acquire_many_until);
        check([&many, &one], |it, time| within(it, 2, time), |it, end| until(it, 2, end));
        many.release(2);
        one.acquire();
        check([&many, &one], Semaphore::try_acquire_for, Semaphore::try_acquire_until);
    }
}

#[test]
fn acquisitions_of_locks() {
    let (free, taken) = (Mutex::new(()), Mutex::new(()));
    thread::scope(|scope| {
        scope.spawn(|| forget(taken.lock()));
    });
    check(
        [&free, &taken],
        |it, time| it.try_lock_for(time).is_some(),
        |it, end| it.try_lock_until(end).is_some(),
    );
    let taken = FairMutex::new(());
    forget(taken.lock());
    check(
        [&FairMutex::new(()), &taken],
        |it, time| it.try_lock_for(time).is_some(),
        |it, end| it.try_lock_until(end).is_some(),
    );
    let (free, written) = (RwLock::new(()), RwLock::new(()));
    forget(written.write());
    let locks = [&free, &written];
    check(
        locks,
        |it, time| it.try_read_for(time).is_some(),
        |it, end| it.try_read_until(end).is_some(),
    );
    check(
        locks,
        |it, time| it.try_read_recursive_for(time).is_some(),
        |it, end| it.try_read_recursive_until(end).is_some(),
    );
    check(
        locks,
        |it, time| it.try_upgradable_read_for(time).is_some(),
        |it, end| it.try_upgradable_read_until(end).is_some(),
    );
    check(
        locks,
        |it, time| it.try_write_for(time).is_some(),
        |it, end| it.try_write_until(end).is_some(),
    );
    let read = RwLock::new(());
    let reader = read.read();
    check(
        [&free, &read],
        |it, time| RwLockUpgradableReadGuard::try_upgrade_for(it.upgradable_read(), time).is_ok(),
        |it, end| RwLockUpgradableReadGuard::try_upgrade_until(it.upgradable_read(), end).is_ok(),
    );
    drop(reader);
}
