//! Notifications: their effect on a waiter, and the system calls that they take.

use std::sync::atomic::Ordering;

use ondeck::condvar::RawCondvar;

use super::hooked_platform::{Calls, calls_of, until};
use super::steered::*;

type Condvar = RawCondvar<Machine>;

/// The machine for one test, a mutex and a condition variable, and threads.
fn with_a_condvar<const COUNT: usize>(
    alone: Alone,
) -> (Alone, &'static Lock, &'static Condvar, [Actor; COUNT]) {
    (alone, new_lock(), Box::leak(Box::new(Condvar::new())), Actor::some())
}

/// Waits, and is then the owner.
fn wait(mutex: &Lock, condvar: &Condvar) -> u32 {
    mutex.lock();
    // SAFETY: locked above.
    assert!(unsafe { condvar.wait(mutex, None) });
    1
}

/// Notifies `count` waiters, without a heavy fence. Returns the number of woken threads.
fn notify(condvar: &Condvar, count: usize) -> u32 {
    let calls = calls_of(|| {
        let notified = if count == 1 { condvar.notify_one() } else { condvar.notify_all() };
        assert_eq!(notified, count);
    });
    let Calls { wakes, heavy_fences, .. } = calls;
    assert_eq!(heavy_fences, 0);
    wakes
}

/// Notifies a waiter, without a wake: a heavy fence lets the owner of its mutex see the debt.
fn is_left_to_the_owner(condvar: &Condvar) {
    let calls = calls_of(|| assert_eq!(condvar.notify_one(), 1));
    assert_eq!((calls.wakes, calls.heavy_fences), (0, 1));
}

/// Each of the threads acquires the mutex and unlocks it. Returns the numbers of woken threads.
fn unlock_in_turn(threads: &[Actor], mutex: &'static Lock) -> Vec<u32> {
    let mut left = threads.iter().collect::<Vec<_>>();
    let unlocks = |_| {
        until(|| left.iter().any(|thread| !thread.is_busy()));
        let owner = left.iter().position(|thread| !thread.is_busy()).expect("as just seen");
        left.remove(owner).unlocks(mutex)
    };
    (0..threads.len()).map(unlocks).collect()
}

#[test]
fn of_waiters_that_are_moved_to_a_free_mutex_one_is_woken() {
    let (_alone, mutex, condvar, waiters) = with_a_condvar::<3>(alone());
    for waiter in &waiters {
        waiter.sleeps_in(|| wait(mutex, condvar));
    }
    assert_eq!(notify(condvar, 3), 1);
    let wakes = unlock_in_turn(&waiters, mutex);
    assert_eq!(wakes, [1, 1, 0]);
}

#[test]
fn a_waiter_that_is_moved_to_a_locked_mutex_is_its_heir() {
    let (_alone, mutex, condvar, [waiter]) = with_a_condvar(alone());
    waiter.sleeps_in(|| wait(mutex, condvar));
    lock(mutex);
    until_a_sleep_after(|| assert_eq!(notify(condvar, 1), 1));
    assert_eq!(unlock(mutex), 1);
    assert_eq!(waiter.unlocks(mutex), 0);
}

#[test]
fn a_waiter_that_is_moved_to_a_mutex_with_a_heir_sleeps_on() {
    let (_alone, mutex, condvar, [waiter, heir]) = with_a_condvar(alone());
    waiter.sleeps_in(|| wait(mutex, condvar));
    lock(mutex);
    heir.sleeps_for(mutex);
    assert_eq!(notify(condvar, 1), 0);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.unlocks(mutex), 1);
    assert_eq!(waiter.unlocks(mutex), 0);
}

/// The mutex's bucket already has an owner's debt.
#[test]
fn a_waiter_that_is_moved_to_a_mutex_whose_owner_has_a_debt_sleeps_on() {
    let (_alone, mutex, condvar, [waiter, heir, parked]) = with_a_condvar(alone());
    waiter.sleeps_in(|| wait(mutex, condvar));
    lock(mutex);
    heir.sleeps_for(mutex);
    parked.sleeps_for(mutex);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.ends(), 1);
    assert_eq!(notify(condvar, 1), 0);
    assert_eq!(heir.unlocks(mutex), 1);
    assert_eq!(parked.unlocks(mutex), 1);
    assert_eq!(waiter.unlocks(mutex), 0);
}

/// The first waiter was woken, but has not run yet.
#[test]
fn a_second_waiter_of_a_free_mutex_is_woken_beside_the_first() {
    let (_alone, mutex, condvar, [second, first]) = with_a_condvar(alone());
    second.sleeps_in(|| wait(mutex, condvar));
    first.stops_when_woken_in(|| wait(mutex, condvar));
    assert_eq!(notify(condvar, 1), 1);
    WOKE.until_reached();
    assert_eq!(notify(condvar, 1), 1);
    assert_eq!(second.unlocks(mutex), 0);
    WOKE.open();
    assert_eq!(first.unlocks(mutex), 0);
}

/// A woken thread would take the CPU from the notifying owner.
#[test]
fn on_one_cpu_a_waiter_is_left_to_the_owner_of_its_mutex() {
    let (_alone, mutex, condvar, [waiter]) = with_a_condvar(alone_on_one_cpu());
    waiter.sleeps_in(|| wait(mutex, condvar));
    lock(mutex);
    is_left_to_the_owner(condvar);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(waiter.unlocks(mutex), 0);
}

/// The same on two CPUs, if it last ran on its notifier's.
#[test]
fn a_waiter_that_ran_on_its_notifiers_cpu_is_left_to_the_owner() {
    let (_alone, mutex, condvar, [waiter]) = with_a_condvar(alone());
    let here = CPU.get();
    waiter.sleeps_in(move || {
        CPU.set(here);
        wait(mutex, condvar)
    });
    lock(mutex);
    is_left_to_the_owner(condvar);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(waiter.unlocks(mutex), 0);
}

/// A waiter that slept on `cpu`, on which its notifier also runs, is woken although the mutex is
/// locked, and waits for it.
fn is_not_left_to_the_owner(cpu: u32) {
    let (mutex, waiter) = (new_lock(), Actor::new());
    let condvar = &*Box::leak(Box::new(Condvar::new()));
    waiter.sleeps_in(move || {
        CPU.set(cpu);
        wait(mutex, condvar)
    });
    lock(mutex);
    let (before, own) = (sleeps(), CPU.replace(cpu));
    assert_eq!(notify(condvar, 1), 1);
    CPU.set(own);
    until(|| sleeps() > before);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(waiter.unlocks(mutex), 0);
}

/// A real-time thread would wait for the bucket during the fence.
#[test]
fn no_waiter_is_left_to_an_owner_beside_real_time_threads() {
    let _alone = alone();
    REAL_TIME.store(true, Ordering::SeqCst);
    is_not_left_to_the_owner(CPU.get());
    REAL_TIME.store(false, Ordering::SeqCst);
}

#[test]
fn no_waiter_is_left_to_an_owner_where_a_heavy_fence_is_expensive() {
    let _alone = alone();
    HEAVY_COST.store(usize::MAX, Ordering::SeqCst);
    is_not_left_to_the_owner(CPU.get());
    HEAVY_COST.store(0, Ordering::SeqCst);
}

/// All threads of such a machine seem to run on one CPU.
#[test]
fn no_waiter_is_left_to_an_owner_where_no_thread_knows_its_cpu() {
    let _alone = alone();
    is_not_left_to_the_owner((1 << 20) - 1);
}

/// The notifier is not the owner, whose store is still in the buffer of its CPU: its unlock does
/// not see the debt.
#[test]
fn a_waiter_is_not_left_to_an_owner_whose_unlock_is_under_way() {
    let (_alone, mutex, condvar, [owner, waiter]) = with_a_condvar(alone_on_one_cpu());
    waiter.sleeps_in(|| wait(mutex, condvar));
    owner.does(|| lock(mutex));
    let wakes = owner.does(|| {
        BUFFER.begin();
        unlock(mutex)
    });
    assert!(wakes == 0 && mutex.is_locked(), "the store is late");
    assert_eq!(calls_of(|| assert_eq!(condvar.notify_one(), 1)).wakes, 1);
    assert_eq!(waiter.unlocks(mutex), 0);
}

/// The same if the kernel refuses heavy fences after granting them.
#[test]
fn without_a_heavy_fence_no_waiter_is_left_to_an_owner() {
    let (_alone, mutex, condvar, [owner, waiter]) = with_a_condvar(alone_on_one_cpu());
    waiter.sleeps_in(|| wait(mutex, condvar));
    owner.does(|| lock(mutex));
    owner.does(|| {
        BUFFER.begin();
        unlock(mutex)
    });
    REFUSED.store(true, Ordering::SeqCst);
    // It finds the mutex locked, and tries it again after its first sleep.
    let notify = || assert_eq!(condvar.notify_one(), 1);
    assert_eq!(until_a_sleep_after(|| calls_of(notify)).wakes, 1);
    BUFFER.drain();
    time_passes(MILLI);
    assert_eq!(waiter.unlocks(mutex), 0);
    REFUSED.store(false, Ordering::SeqCst);
}

/// Two waiters were moved to the free mutex, and the woken one gets no CPU. The other tries the
/// mutex at the end of a slice, although it had no lock to try before it was notified.
#[test]
fn a_moved_waiter_looks_after_itself() {
    let (_alone, mutex, condvar, [lost, parked]) = with_a_condvar(alone());
    lost.stops_when_woken_in(|| wait(mutex, condvar));
    parked.sleeps_in(|| wait(mutex, condvar));
    assert_eq!(notify(condvar, 2), 1);
    WOKE.until_reached();
    until_a_sleep_after(|| time_passes(SLICE));
    time_passes(SLICE);
    assert_eq!(parked.ends(), 1);
    WOKE.open();
    parked.unlocks(mutex);
    assert_eq!(lost.unlocks(mutex), 0);
}

/// One in each millisecond: the others are the newest.
#[test]
fn now_and_then_the_oldest_waiter_is_notified() {
    let (_alone, mutex, condvar, waiters) = with_a_condvar::<4>(alone());
    for waiter in &waiters {
        waiter.sleeps_in(|| wait(mutex, condvar));
    }
    let next = |waiter: usize| {
        assert_eq!(notify(condvar, 1), 1);
        assert_eq!(waiters[waiter].unlocks(mutex), 0);
    };
    next(3);
    time_passes(MILLI);
    next(0);
    next(2);
    time_passes(MILLI);
    next(1);
}

/// The others use another mutex.
#[test]
fn now_and_then_the_oldest_waiter_is_notified_whatever_its_mutex() {
    let (_alone, mutex, condvar, [oldest, ..]) = with_a_condvar::<1>(alone());
    let other = new_lock();
    let others: [_; 4] = Actor::some();
    oldest.sleeps_in(|| wait(mutex, condvar));
    for waiter in &others {
        waiter.sleeps_in(|| wait(other, condvar));
    }
    assert_eq!(notify(condvar, 1), 1);
    assert_eq!(others[3].unlocks(other), 0);
    time_passes(MILLI);
    assert_eq!(notify(condvar, 1), 1);
    until(|| !oldest.is_busy() || others[..3].iter().any(|waiter| !waiter.is_busy()));
    assert!(!oldest.is_busy(), "a newer one was notified");
    assert_eq!(oldest.unlocks(mutex), 0);
    assert_eq!(notify(condvar, 3), 1);
    unlock_in_turn(&others[..3], other);
}

#[test]
fn a_near_waiter_is_notified_without_a_system_call() {
    let (_alone, mutex, condvar, [waiter]) = with_a_condvar(alone());
    waiter.polls_in(|| wait(mutex, condvar));
    lock(mutex);
    assert_eq!(notify(condvar, 1), 0);
    // It competes like any arriving thread: it polls.
    poll();
    until_polls();
    assert_eq!(unlock(mutex), 0);
    poll();
    assert_eq!(waiter.unlocks(mutex), 0);
}
