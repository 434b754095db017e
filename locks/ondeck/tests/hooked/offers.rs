//! An offer of the lock: to a thread that runs, to one that is stopped, and to the thread that
//! takes the place of that one.

use super::steered::*;

/// Offers the lock to a thread that is stopped after its wake.
fn offered(mutex: &'static Lock, stopped: &Actor) {
    stopped.stops_when_woken_in(|| lock(mutex));
    assert_eq!(unlock_fair(mutex), 1);
    WOKE.until_reached();
    assert!(mutex.is_locked());
}

/// Lets the thread run, which no longer has the offer, and ends the test.
fn has_lost_its_offer(stopped: &Actor, owner: &Actor, mutex: &'static Lock) {
    until_a_sleep_after(|| WOKE.open());
    assert!(stopped.is_busy(), "two threads own the lock");
    assert_eq!(owner.unlocks(mutex), 1);
    assert_eq!(stopped.unlocks(mutex), 0);
}

/// The heir was woken and found the lock taken, and is stopped when an unlock offers it the lock.
/// The thread that unlocked locks again.
#[test]
fn a_thread_that_is_stopped_does_not_keep_the_lock() {
    let (_alone, mutex, [owner, stopped]) = steered();
    owner.does(|| lock(mutex));
    stopped.sleeps_in(|| {
        WOKE.stop_me_at(2);
        lock(mutex)
    });
    owner.stops_at(&HAS_STORED, 1, || unlock(mutex));
    lock(mutex);
    until_a_sleep_after(|| HAS_STORED.open());
    assert_eq!(owner.ends(), 1, "in vain");
    let before = sleeps();
    assert_eq!(owner.does(|| unlock(mutex)), 1);
    WOKE.until_reached();
    assert!(mutex.is_locked() && sleeps() == before);
    owner.sleeps_for(mutex);
    time_passes(SLICE);
    assert_eq!(owner.ends(), 1);
    has_lost_its_offer(&stopped, &owner, mutex);
}

#[test]
fn an_offer_stands_for_a_turn() {
    let (_alone, mutex, [stopped, parked]) = owned();
    offered(mutex, &stopped);
    time_passes(TURN + WAKE - 1);
    parked.sleeps_for(mutex);
    WOKE.open();
    assert_eq!(stopped.unlocks(mutex), 1);
    assert_eq!(parked.unlocks(mutex), 0);
}

#[test]
fn an_arriving_thread_takes_an_offer_that_has_expired() {
    let (_alone, mutex, [stopped, other]) = owned();
    offered(mutex, &stopped);
    time_passes(TURN + WAKE);
    let before = sleeps();
    assert_eq!(other.does(|| lock(mutex)), 1);
    assert_eq!(sleeps(), before);
    has_lost_its_offer(&stopped, &other, mutex);
}

/// A real-time thread does not wait until the offer expires, and nor does the thread that had it
/// wake then.
#[test]
fn a_real_time_thread_takes_an_offer_at_once() {
    let (_alone, mutex, [stopped, urgent]) = owned();
    offered(mutex, &stopped);
    urgent.does(|| {
        PRIORITY.set(1);
        lock(mutex)
    });
    let slice_ends = after(SLICE);
    has_lost_its_offer(&stopped, &urgent, mutex);
    assert_eq!(sleeps_until(), Some(slice_ends), "it waits for no offer");
}

/// The thread that was offered the lock gives up: it has the lock, or another one has it.
#[test]
fn a_thread_whose_offer_has_expired_gives_up() {
    let (_alone, mutex, [stopped, other]) = owned();
    let deadline = after(TURN);
    stopped.stops_when_woken_in(move || lock_until(mutex, deadline));
    assert_eq!(unlock_fair(mutex), 1);
    WOKE.until_reached();
    time_passes(TURN + WAKE);
    assert_eq!(other.does(|| lock(mutex)), 1);
    WOKE.open();
    assert_eq!(stopped.ends(), 0);
    assert_eq!(other.does(|| unlock(mutex)), 0);
}
