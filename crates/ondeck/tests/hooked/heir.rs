//! The heir: the unlocks that it relies on, the time for which it leaves the lock alone, and the state that it leaves.

use std::sync::atomic::Ordering;

use super::hooked_platform::until;
use super::steered::*;

/// The unlock is over before the request is stored, so the request does not reach it.
#[test]
fn a_heir_tries_the_lock_again_after_its_request() {
    let (_alone, mutex, [heir]) = owned();
    // A thread that becomes the heir withdraws the request of the previous heir.
    heir.stops_at(&MODE, 2, || lock(mutex));
    assert_eq!(unlock(mutex), 0);
    let before = sleeps();
    MODE.open();
    until(|| !heir.is_busy() || sleeps() > before);
    assert!(!heir.is_busy(), "it sleeps though the lock is free");
    assert_eq!(heir.unlocks(mutex), 0);
}

/// The heir publishes its request after an unlock has read that there is none, and before that unlock's store.
#[test]
fn an_unlock_reads_the_mode_again_behind_its_store() {
    let (_alone, mutex, [owner, heir]) = steered();
    owner.does(|| lock(mutex));
    owner.stops_at(&HAS_READ, 1, || unlock(mutex));
    heir.sleeps_for(mutex);
    HAS_READ.open();
    assert_eq!(owner.ends(), 1);
    assert_eq!(heir.unlocks(mutex), 0);
}

/// The store of an unlock is still in the buffer of its CPU when the heir tries the lock, and the unlock has not seen
/// the request.
#[test]
fn an_unlock_whose_store_is_late_is_noticed_before_the_heir_sleeps_for_long() {
    let (_alone, mutex, [owner, heir]) = steered();
    owner.does(|| lock(mutex));
    let wakes = owner.does(|| {
        BUFFER.begin();
        unlock(mutex)
    });
    assert!(wakes == 0 && mutex.is_locked(), "the store is late");
    heir.sleeps_for(mutex);
    for before_a_fence in [TENURE, MILLI] {
        let before = sleeps();
        time_passes(before_a_fence);
        until(|| !heir.is_busy() || sleeps() > before);
    }
    assert!(!heir.is_busy(), "it sleeps for long though the lock is free");
    assert_eq!(heir.unlocks(mutex), 0);
}

/// The same if the kernel refuses heavy fences after granting them: the heir tries the lock again after each slice.
#[test]
fn without_a_heavy_fence_a_heir_looks_again_after_each_slice() {
    let (_alone, mutex, [owner, heir]) = steered();
    owner.does(|| lock(mutex));
    owner.does(|| {
        BUFFER.begin();
        unlock(mutex)
    });
    REFUSED.store(true, Ordering::SeqCst);
    heir.sleeps_for(mutex);
    for before_a_fence in [TENURE, MILLI] {
        until_a_sleep_after(|| time_passes(before_a_fence));
    }
    BUFFER.drain();
    time_passes(SLICE);
    assert_eq!(heir.unlocks(mutex), 0);
    REFUSED.store(false, Ordering::SeqCst);
}

#[test]
fn a_sleeping_heir_is_woken_by_the_unlock_and_by_no_other() {
    let (_alone, mutex, [heir]) = owned();
    heir.sleeps_for(mutex);
    let other = new_lock();
    lock(other);
    assert_eq!(unlock(other), 0);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.unlocks(mutex), 0);
}

/// The owner takes the lock again before a thread can wake.
#[test]
fn a_heir_that_was_woken_in_vain_is_handed_the_lock() {
    let (_alone, mutex, [heir]) = owned();
    heir.stops_when_woken_in(|| lock(mutex));
    for is_in_vain in [false, true] {
        assert_eq!(unlock(mutex), 1);
        if is_in_vain {
            break;
        }
        WOKE.until_reached();
        assert!(!mutex.is_locked(), "the first unlock wakes it");
        lock(mutex);
        until_a_sleep_after(|| WOKE.open());
    }
    assert!(mutex.is_locked(), "the second hands it the lock");
    assert_eq!(heir.unlocks(mutex), 0);
}

#[test]
fn a_heir_that_asks_for_a_handoff_sleeps_after_a_while() {
    let (_alone, mutex, [heir]) = owned();
    becomes_the_heir_again(mutex, &heir);
    polls_until_it_sleeps();
    assert_eq!(unlock(mutex), 1);
    assert!(mutex.is_locked(), "it is handed the lock");
    assert_eq!(heir.unlocks(mutex), 0);
}

/// The heir notices that the lock is handed to it, however it waits.
#[test]
fn a_polling_heir_is_handed_the_lock() {
    let (_alone, mutex, [heir]) = owned();
    heir.polls_for(mutex);
    unlock_fair(mutex);
    assert!(mutex.is_locked());
    poll();
    assert_eq!(heir.unlocks(mutex), 0);
}

#[test]
fn a_heir_is_handed_the_lock_as_its_deadline_passes() {
    let (_alone, mutex, [heir]) = owned();
    // The first attempt is the one of an arriving thread.
    heir.stops_at(&ATTEMPTS, 2, || lock_until(mutex, after(MICRO)));
    unlock_fair(mutex);
    time_passes(MICRO);
    ATTEMPTS.open();
    assert_eq!(heir.ends(), 1, "it would leave the lock locked for ever");
    assert_eq!(unlock(mutex), 0);
}

#[test]
fn a_heir_that_gives_up_leaves_no_request() {
    let (_alone, mutex, [heir, parked]) = owned();
    heir.sleeps_until(mutex, after(MICRO));
    assert_ne!(Machine::mode(), 0);
    time_passes(MICRO);
    assert_eq!(heir.ends(), 0);
    assert_eq!(Machine::mode(), 0);
    // A thread that is parked behind it is woken, and becomes the heir when it runs.
    heir.sleeps_until(mutex, after(MICRO));
    parked.stops_when_woken_in(|| lock(mutex));
    time_passes(MICRO);
    assert_eq!(heir.ends(), 0);
    WOKE.until_reached();
    assert_eq!(Machine::mode(), 0);
    until_a_sleep_after(|| WOKE.open());
    assert_eq!(unlock(mutex), 1);
    assert_eq!(parked.unlocks(mutex), 0);
}

/// The heir of one mutex has the bucket's unlock mode.
#[test]
fn the_heir_of_another_mutex_of_the_bucket_naps() {
    let _alone = alone();
    let [one, other] = [(); 2].map(|()| new_lock());
    let [asks, naps, parked] = Actor::some();
    lock(one);
    lock(other);
    asks.sleeps_for(one);
    naps.sleeps_for(other);
    parked.sleeps_for(other);
    assert_eq!(unlock(other), 0, "nothing is asked of this unlock");
    let before = sleeps();
    time_passes(TENURE);
    // It cannot leave a debt, so it has woken the thread parked behind it, which naps now.
    assert_eq!(naps.ends(), 1);
    until(|| sleeps() > before);
    assert_eq!(naps.unlocks(other), 0);
    time_passes(TENURE);
    assert_eq!(parked.unlocks(other), 0);
    assert_eq!(unlock(one), 1);
    assert_eq!(asks.unlocks(one), 0);
}

/// A thread that was woken on its waker's CPU does not poll there before it publishes a request. If it cannot publish a
/// request, it polls.
#[test]
fn a_heir_that_stands_aside_polls_once_another_mutex_has_the_bucket() {
    let _alone = alone();
    let [mutex, other] = [(); 2].map(|()| new_lock());
    let [heir, asks] = Actor::some();
    let here = CPU.get();
    lock(mutex);
    heir.sleeps_in(move || {
        CPU.set(here);
        WOKE.stop_me();
        lock(mutex)
    });
    assert_eq!(unlock(mutex), 1);
    WOKE.until_reached();
    lock(mutex);
    lock(other);
    asks.sleeps_for(other);
    until_a_sleep_after(|| WOKE.open());
    assert_eq!(unlock(mutex), 0, "nothing is asked of this unlock");
    time_passes(TENURE);
    assert_eq!(heir.unlocks(mutex), 0);
    assert_eq!(unlock(other), 1);
    assert_eq!(asks.unlocks(other), 0);
}

/// The first thread owns the lock. Two of three displaced owners come back at once: the second then waits as a thread
/// that leaves the lock alone.
fn is_captured(mutex: &'static Lock, [one, two]: [&Actor; 2]) {
    lock(mutex);
    one.polls_for(mutex);
    for (owner, heir) in [(None, one), (Some(one), two)] {
        if owner.is_some() {
            heir.polls_for(mutex);
        }
        time_passes(MICRO);
        match owner {
            None => unlock(mutex),
            Some(owner) => owner.unlocks(mutex),
        };
        poll();
        assert_eq!(heir.ends(), 1);
        // A thread that arrives now was not displaced.
        time_passes(if owner.is_none() { MICRO } else { 0 });
    }
    one.comes_back_to(mutex);
    time_passes(MICRO);
    two.unlocks(mutex);
    poll();
    assert_eq!(one.ends(), 1);
    two.sleeps_for(mutex);
}

#[test]
fn the_displaced_owner_of_a_captured_lock_leaves_it_alone_for_a_tenure() {
    let (_alone, mutex, [one, two]) = steered();
    is_captured(mutex, [&one, &two]);
    for _ in 0..10 {
        assert_eq!((one.unlocks(mutex), Machine::mode()), (0, 0));
        one.does(|| lock(mutex));
    }
    assert_eq!(one.unlocks(mutex), 0);
    assert!(two.is_busy());
    time_passes(TENURE);
    assert_eq!(two.unlocks(mutex), 0);
}

/// Runs until it naps or polls.
fn poll_until_owner(actor: &Actor) {
    until(|| {
        if actor.is_busy() {
            try_poll();
        }
        !actor.is_busy()
    });
}

/// The napping heir displaces the owner of a captured lock, which comes back at once.
fn comes_back_once_more(mutex: &'static Lock, [owner, heir]: [&Actor; 2]) {
    time_passes(TENURE);
    assert_eq!(owner.unlocks(mutex), 0);
    poll_until_owner(heir);
    owner.sleeps_for(mutex);
}

/// Circulating threads arrive at any time: a lock at which many of them arrive is not captured, although some arrive
/// just after a change of owner.
#[test]
fn a_lock_to_which_other_threads_come_is_not_captured() {
    let (_alone, mutex, [one, two, other]) = steered();
    is_captured(mutex, [&one, &two]);
    comes_back_once_more(mutex, [&one, &two]);
    time_passes(MICRO);
    for _ in 0..3 {
        assert_eq!(other.does(|| lock_until(mutex, after(0))), 0);
    }
    // The heir naps because the lock was captured when it arrived.
    time_passes(TENURE);
    assert_eq!(two.unlocks(mutex), 0);
    poll_until_owner(&one);
    // The displaced owner comes back at once, and does not nap.
    two.comes_back_to(mutex);
    assert_eq!(one.unlocks(mutex), 0);
    poll_until_owner(&two);
    assert_eq!(two.unlocks(mutex), 0);
}

/// Runs until it sleeps with a request, or naps because it cannot publish one.
#[test]
fn no_heir_sleeps_beyond_its_deadline() {
    let _alone = alone();
    let [one, other] = [(); 2].map(|()| new_lock());
    let [asks, naps] = Actor::some();
    lock(one);
    lock(other);
    let soon = after(TENURE / 2);
    asks.sleeps_until(one, soon);
    naps.sleeps_until(other, soon);
    time_passes(TENURE / 2);
    assert_eq!((asks.ends(), naps.ends()), (0, 0));
    assert_eq!((unlock(one), unlock(other)), (0, 0));
}
