//! A captured lock: what shows that it is one, the turns of its owners, and the thread that has the
//! next turn.

use super::hooked_platform::until;
use super::steered::*;

/// Lets all threads that wait go on.
fn time_passes_until(is_so: impl Fn() -> bool) {
    until(|| {
        try_poll();
        time_passes(MICRO);
        is_so()
    });
}

/// Lets the threads that poll go on. No other time passes, in which a parked thread would look
/// after the others.
fn polls_until(is_so: impl Fn() -> bool) {
    until(|| {
        try_poll();
        is_so()
    });
}

/// Unlocks for the owner, which waits for the displaced owner first. Returns the number of woken
/// threads.
fn settles(owner: &Actor, mutex: &'static Lock) -> u32 {
    assert_eq!(owner.ends(), 1, "it is the owner");
    unlocks_beside_others(owner, mutex)
}

/// Unlocks for the owner, which may have to wait for the bucket's lock. Returns the number of woken
/// threads.
fn unlocks_beside_others(owner: &Actor, mutex: &'static Lock) -> u32 {
    owner.begins(|| unlock(mutex));
    polls_until(|| !owner.is_busy());
    owner.ends()
}

/// The heir polls once more, and acquires the lock that its owner unlocks.
fn displaces(heir: &Actor, owner: &Actor, mutex: &'static Lock) {
    until_polls();
    owner.unlocks(mutex);
    poll();
    assert_eq!(heir.ends(), 1);
}

/// Makes the lock captured but for the arrival of `one`, which `two` has just displaced: before,
/// each of them has displaced the other and come back at once, seven times together. Calls `beside`
/// when the first of them waits.
fn is_about_to_be_captured(mutex: &'static Lock, [one, two]: [&Actor; 2], beside: impl FnOnce()) {
    one.does(|| lock(mutex));
    two.polls_for(mutex);
    beside();
    displaces(two, one, mutex);
    // The mutex has a history only since then.
    for (heir, owner) in [(one, two), (two, one)].into_iter().cycle().take(8) {
        heir.polls_for(mutex);
        displaces(heir, owner, mutex);
    }
}

#[test]
fn the_displaced_owner_of_a_captured_lock_leaves_it_alone_for_a_turn() {
    let (_alone, mutex, [one, two]) = steered();
    is_about_to_be_captured(mutex, [&one, &two], || ());
    one.sleeps_for(mutex);
    for _ in 0..10 {
        assert_eq!((two.unlocks(mutex), Machine::mode()), (0, 0));
        two.does(|| lock(mutex));
    }
    time_passes(TURN);
    until_polls();
    assert_eq!(two.unlocks(mutex), 1, "the turn is over, and the lock is offered");
    assert!(mutex.is_locked());
    poll();
    assert_eq!(one.unlocks(mutex), 0);
}

#[test]
fn the_heir_of_a_captured_lock_keeps_its_role_while_it_naps() {
    let (_alone, mutex, [one, two, other]) = steered();
    is_about_to_be_captured(mutex, [&one, &two], || ());
    one.sleeps_for(mutex);
    time_passes(WAKE + MICRO);
    other.sleeps_for(mutex);
    time_passes(TURN);
    until(|| Machine::mode() != 0);
    assert_eq!(two.unlocks(mutex), 1);
    polls_until(|| !one.is_busy() || !other.is_busy());
    assert_eq!(settles(&one, mutex), 1);
    time_passes_until(|| !other.is_busy());
    assert_eq!(other.unlocks(mutex), 0);
}

#[test]
fn the_heir_of_a_captured_lock_does_not_nap_beyond_its_deadline() {
    let (_alone, mutex, [one, two]) = steered();
    is_about_to_be_captured(mutex, [&one, &two], || ());
    one.sleeps_until(mutex, after(MICRO));
    time_passes(MICRO);
    assert_eq!(one.ends(), 0);
    assert_eq!(two.unlocks(mutex), 0);
}

/// The owner has gone within its turn.
#[test]
fn the_heir_of_a_captured_lock_acquires_it_between_two_naps() {
    let (_alone, mutex, [one, two]) = steered();
    is_about_to_be_captured(mutex, [&one, &two], || ());
    one.sleeps_for(mutex);
    acquires_between_two_naps(&one, &two, mutex);
    assert_eq!(one.unlocks(mutex), 0);
}

/// The owner of a captured lock leaves, and the heir acquires the lock.
fn acquires_between_two_naps(heir: &Actor, owner: &Actor, mutex: &'static Lock) {
    owner.unlocks(mutex);
    time_passes(TURN / 2);
    polls_until(|| !heir.is_busy());
}

/// The heir has lost its CPU in a nap.
#[test]
fn a_displaced_owner_that_is_parked_looks_after_a_turn_whether_the_heir_runs() {
    let (_alone, mutex, [one, two, lost]) = steered();
    is_about_to_be_captured(mutex, [&one, &two], || ());
    one.sleeps_for(mutex);
    acquires_between_two_naps(&one, &two, mutex);
    lost.stops_at(&SLEEP, 1, || lock(mutex));
    two.sleeps_for(mutex);
    time_passes(TURN + 2 * WAKE);
    until(|| Machine::mode() != 0);
    assert_eq!(one.unlocks(mutex), 1);
    polls_until(|| !two.is_busy());
    // Its turn has come meanwhile, so it looks at once, and settles the debt.
    SLEEP.open();
    until(|| Machine::mode() == 0);
    assert_eq!(two.unlocks(mutex), 0);
    time_passes_until(|| !lost.is_busy());
    assert_eq!(lost.unlocks(mutex), 0);
}

/// Circulating threads arrive at any time, and some arrive just after a change of owner.
#[test]
fn a_lock_to_which_other_threads_come_is_not_captured() {
    let (_alone, mutex, [one, two, other]) = steered();
    one.does(|| lock(mutex));
    two.polls_for(mutex);
    for _ in 0..8 {
        for (heir, owner) in [(&two, &one), (&one, &two)] {
            displaces(heir, owner, mutex);
            owner.polls_for(mutex);
            assert_eq!(other.does(|| lock_until(mutex, after(0))), 0);
        }
    }
    displaces(&two, &one, mutex);
    assert_eq!(two.unlocks(mutex), 0);
}

/// A third thread is parked. `one`, the displaced owner, has come back. If `stops`, it stops when
/// it is woken.
fn comes_back_beside(parked: &Actor, [one, two]: [&Actor; 2], stops: bool, mutex: &'static Lock) {
    let parks = || parked.stops_when_woken_in(|| lock(mutex));
    is_about_to_be_captured(mutex, [one, two], parks);
    assert_ne!(Machine::mode(), 0, "the owner owes a wake");
    one.sleeps_in(move || {
        if stops {
            WOKE.stop_me_at(2);
        }
        lock(mutex)
    });
    WOKE.until_reached();
    // It naps until the woken thread has taken the role, and parks. That thread naps.
    let before = sleeps();
    WOKE.open();
    until(|| sleeps() >= before + 2);
    assert_eq!(Machine::mode(), 0, "its debt is settled");
}

/// Ends a test in which both threads wait for the captured lock, and `next` has the next turn.
fn have_their_turns(mutex: &'static Lock, owner: &Actor, [next, last]: [&Actor; 2]) {
    assert_eq!(owner.unlocks(mutex), 0);
    owner.does(|| lock(mutex));
    time_passes(TURN);
    until(|| Machine::mode() != 0);
    assert_eq!(owner.unlocks(mutex), 1);
    polls_until(|| !next.is_busy());
    assert_eq!(settles(next, mutex), 1);
    time_passes_until(|| !last.is_busy());
    assert_eq!(last.unlocks(mutex), 0);
}

/// That thread has the next turn, if it runs.
#[test]
fn a_displaced_owner_wakes_the_thread_with_the_next_turn() {
    let (_alone, mutex, [one, two, parked]) = steered();
    comes_back_beside(&parked, [&one, &two], false, mutex);
    have_their_turns(mutex, &two, [&parked, &one]);
}

/// An ordinary thread would nap until after the turn, and lose the role to the woken thread
/// meanwhile.
#[test]
fn a_displaced_real_time_owner_asks_for_the_lock_at_the_end_of_the_turn() {
    let (_alone, mutex, [one, two, parked]) = steered();
    let parks = || parked.stops_when_woken_in(|| lock(mutex));
    is_about_to_be_captured(mutex, [&one, &two], parks);
    one.sleeps_in(|| {
        PRIORITY.set(1);
        lock(mutex)
    });
    WOKE.until_reached();
    time_passes(TURN);
    until(|| Machine::mode() != 0);
    assert_eq!(two.unlocks(mutex), 1);
    polls_until(|| !one.is_busy());
    WOKE.open();
    unlocks_beside_others(&one, mutex);
    time_passes_until(|| !parked.is_busy());
    assert_eq!(parked.unlocks(mutex), 0);
}

/// It has lost its CPU, and so has the thread that it has woken.
#[test]
fn a_displaced_owner_that_has_not_run_since_the_turn_loses_its_role() {
    let (_alone, mutex, [one, two, parked, other]) = steered();
    let parks = || parked.stops_when_woken_in(|| lock(mutex));
    is_about_to_be_captured(mutex, [&one, &two], parks);
    one.stops_at(&SLEEP, 1, || lock(mutex));
    WOKE.until_reached();
    time_passes(TURN + WAKE);
    other.begins(|| lock(mutex));
    until(|| Machine::mode() != 0);
    assert_eq!(two.unlocks(mutex), 1);
    polls_until(|| !other.is_busy());
    SLEEP.open();
    WOKE.open();
    unlocks_beside_others(&other, mutex);
    time_passes_until(|| !one.is_busy() || !parked.is_busy());
    for thread in if one.is_busy() { [&parked, &one] } else { [&one, &parked] } {
        time_passes_until(|| !thread.is_busy());
        unlocks_beside_others(thread, mutex);
    }
}

/// The owner unlocks with a debt. The thread that it has displaced comes back meanwhile, or later.
/// Returns the number of threads that the unlock wakes.
fn wakes_beside_a_displaced_owner(comes_at_once: bool) -> u32 {
    let (_alone, mutex, [one, displaced, owner]) = steered();
    comes_back_beside(&owner, [&one, &displaced], true, mutex);
    time_passes(TURN);
    until(|| Machine::mode() != 0);
    assert_eq!(displaced.unlocks(mutex), 1);
    assert_eq!(owner.ends(), 1);
    owner.polls_at_once_in(|| unlock(mutex));
    assert!(mutex.is_locked());
    if comes_at_once {
        displaced.sleeps_for(mutex);
    }
    polls_until(|| !owner.is_busy());
    let wakes = owner.ends();
    WOKE.until_reached();
    WOKE.open();
    if !comes_at_once {
        displaced.begins(|| lock(mutex));
    }
    time_passes_until(|| !one.is_busy() || !displaced.is_busy());
    for thread in if one.is_busy() { [&displaced, &one] } else { [&one, &displaced] } {
        time_passes_until(|| !thread.is_busy());
        thread.begins(|| unlock(mutex));
    }
    time_passes_until(|| !one.is_busy() && !displaced.is_busy());
    wakes
}

#[test]
fn an_unlock_leaves_its_debt_to_the_displaced_owner_that_comes_at_once() {
    assert_eq!(wakes_beside_a_displaced_owner(true), 0);
}

#[test]
fn an_unlock_does_not_rely_on_a_displaced_owner_that_does_not_come() {
    assert_eq!(wakes_beside_a_displaced_owner(false), 1);
}
