//! The heir: the unlocks that it relies on, the time for which it leaves the lock alone, and the
//! state that it leaves.

use std::sync::atomic::Ordering;

use super::hooked_platform::until;
use super::steered::*;

/// The unlock is over before the request is stored, so the request does not reach it.
#[test]
fn a_heir_tries_the_lock_again_after_its_request() {
    let (_alone, mutex, [heir]) = owned();
    heir.stops_at(&MODE, 1, || lock(mutex));
    assert_eq!(unlock(mutex), 0);
    let before = sleeps();
    MODE.open();
    until(|| !heir.is_busy() || sleeps() > before);
    assert!(!heir.is_busy(), "it sleeps though the lock is free");
    assert_eq!(heir.unlocks(mutex), 0);
}

/// The heir publishes its request after an unlock has read that there is none, and before that
/// unlock's store.
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

/// The store of an unlock is still in the buffer of its CPU when the heir tries the lock, and the
/// unlock has not seen the request.
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
    let before = sleeps();
    time_passes(MILLI);
    until(|| !heir.is_busy() || sleeps() > before);
    assert!(!heir.is_busy(), "it sleeps for long though the lock is free");
    assert_eq!(heir.unlocks(mutex), 0);
}

/// The same if the kernel refuses heavy fences after granting them: the heir tries the lock again
/// after each slice.
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
    until_a_sleep_after(|| time_passes(MILLI));
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

/// Two mutexes of one bucket.
#[test]
fn the_heirs_of_two_mutexes_of_a_bucket_both_sleep_with_a_request() {
    let _alone = alone();
    let mutexes = [(); 2].map(|()| new_lock());
    let heirs: [_; 2] = Actor::some();
    for (heir, mutex) in heirs.iter().zip(mutexes) {
        lock(mutex);
        heir.sleeps_for(mutex);
    }
    let before = sleeps();
    time_passes(TURN);
    assert_eq!(sleeps(), before, "neither naps");
    for (heir, mutex) in heirs.iter().zip(mutexes) {
        assert_eq!(unlock(mutex), 1);
        assert_eq!(heir.unlocks(mutex), 0);
    }
}

/// As above, and one of the two leaves a debt.
#[test]
fn a_debt_is_noted_beside_the_request_of_another_mutex() {
    let _alone = alone();
    let [one, other] = [(); 2].map(|()| new_lock());
    let [asks, heir, parked] = Actor::some();
    lock(one);
    lock(other);
    asks.sleeps_for(one);
    heir.sleeps_for(other);
    parked.sleeps_for(other);
    assert_eq!(unlock(other), 1);
    assert_eq!(heir.unlocks(other), 1, "it owes a wake");
    assert_eq!(parked.unlocks(other), 0);
    assert_eq!(unlock(one), 1);
    assert_eq!(asks.unlocks(one), 0);
}

/// These are more than the unlock mode has entries: each unlock of the bucket searches.
#[test]
fn each_of_five_mutexes_of_a_bucket_keeps_its_request() {
    const FULL: usize = usize::MAX;
    let _alone = alone();
    let mutexes = [(); 5].map(|()| new_lock());
    let heirs: [_; 5] = Actor::some();
    for (heir, mutex) in heirs.iter().zip(mutexes) {
        lock(mutex);
        heir.sleeps_for(mutex);
    }
    assert_eq!(Machine::mode(), FULL);
    let other = new_lock();
    lock(other);
    assert_eq!(unlock(other), 0);
    for (heir, mutex) in heirs.iter().zip(mutexes) {
        assert_eq!(unlock(mutex), 1);
        assert_eq!(heir.unlocks(mutex), 0);
    }
}

/// The newest thread of a queue, which has the state of the whole queue, leaves first.
#[test]
fn a_request_outlives_the_newest_thread_of_its_queue() {
    let (_alone, mutex, [heir, hurried]) = owned();
    heir.sleeps_for(mutex);
    hurried.sleeps_until(mutex, after(MICRO));
    time_passes(MICRO);
    assert_eq!(hurried.ends(), 0);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.unlocks(mutex), 0);
}

#[test]
fn no_heir_sleeps_beyond_its_deadline() {
    let _alone = alone();
    let [one, other] = [(); 2].map(|()| new_lock());
    let [asks, naps] = Actor::some();
    lock(one);
    lock(other);
    let soon = after(MICRO);
    asks.sleeps_until(one, soon);
    naps.sleeps_until(other, soon);
    time_passes(MICRO);
    assert_eq!((asks.ends(), naps.ends()), (0, 0));
    assert_eq!((unlock(one), unlock(other)), (0, 0));
}
