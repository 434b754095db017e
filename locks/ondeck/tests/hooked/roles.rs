//! The thread that is responsible while others are parked, and the next owner of the lock.

use super::hooked_platform::until;
use super::steered::*;

/// The heir has lost its CPU between a load of its status and its attempt, and another thread has
/// replaced it. It still acquires the lock: the request belongs to the other.
#[test]
fn a_heir_that_acquires_after_it_was_replaced_leaves_the_role_to_the_other() {
    let (_alone, mutex, [owner, late, next]) = steered();
    owner.does(|| lock(mutex));
    late.stops_at(&ATTEMPTS, 2, || lock(mutex));
    time_passes(WAKE);
    next.sleeps_for(mutex);
    let request = Machine::mode();
    assert_ne!(request, 0, "it has the role");
    owner.stops_at(&HAS_STORED, 1, || unlock(mutex));
    ATTEMPTS.open();
    assert_eq!(late.ends(), 1);
    assert_eq!(Machine::mode(), request);
    assert_eq!(late.unlocks(mutex), 1);
    assert_eq!(next.ends(), 1);
    HAS_STORED.open();
    assert_eq!(owner.ends(), 0);
    assert_eq!(next.unlocks(mutex), 0);
}

#[test]
fn a_heir_that_runs_is_not_replaced() {
    let (_alone, mutex, [heir, parked]) = owned();
    heir.stops_at(&ATTEMPTS, 2, || lock(mutex));
    time_passes(WAKE - 1);
    parked.sleeps_for(mutex);
    assert_eq!((unlock(mutex), Machine::mode()), (0, 0));
    ATTEMPTS.open();
    assert_eq!(heir.unlocks(mutex), 1);
    assert_eq!(parked.unlocks(mutex), 0);
}

#[test]
fn an_owner_that_leaves_parked_threads_alone_wakes_the_oldest_when_it_unlocks() {
    let (_alone, mutex, [heir, oldest, newest]) = owned();
    for thread in [&heir, &oldest, &newest] {
        thread.sleeps_for(mutex);
    }
    assert_eq!(unlock(mutex), 1);
    for thread in [&heir, &oldest] {
        assert_eq!(thread.unlocks(mutex), 1);
    }
    assert_eq!(newest.unlocks(mutex), 0);
}

#[test]
fn a_debt_to_threads_that_have_given_up_is_gone() {
    let (_alone, mutex, [heir, hurried]) = owned();
    heir.sleeps_for(mutex);
    hurried.sleeps_until(mutex, after(MICRO));
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.ends(), 1);
    assert_ne!(Machine::mode(), 0);
    time_passes(MICRO);
    assert_eq!(hurried.ends(), 0);
    assert_eq!(Machine::mode(), 0);
    assert_eq!(heir.unlocks(mutex), 0);
}

/// A parked thread gives up while another one owns the lock and has the debt: the debt stays.
#[test]
fn a_thread_that_gives_up_leaves_the_debt_to_others() {
    let (_alone, mutex, [heir, hurried, patient]) = owned();
    heir.sleeps_for(mutex);
    hurried.sleeps_until(mutex, after(MICRO));
    patient.sleeps_for(mutex);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.ends(), 1);
    time_passes(MICRO);
    assert_eq!(hurried.ends(), 0);
    assert_eq!(heir.unlocks(mutex), 1);
    assert_eq!(patient.unlocks(mutex), 0);
}

/// The lock is free, and no unlock will follow.
#[test]
fn a_woken_thread_that_gives_up_wakes_the_next() {
    let (_alone, mutex, [heir, hurried, patient]) = owned();
    heir.sleeps_for(mutex);
    let deadline = after(MICRO);
    hurried.stops_at(&SLEEP, 1, move || lock_until(mutex, deadline));
    patient.sleeps_for(mutex);
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.unlocks(mutex), 1);
    time_passes(MICRO);
    SLEEP.open();
    assert_eq!(hurried.ends(), 0);
    assert_eq!(patient.unlocks(mutex), 0);
}

/// A thread that was handed the lock while it was parked has a debt like any other owner.
#[test]
fn a_fair_unlock_hands_the_lock_to_the_oldest() {
    let (_alone, mutex, [oldest, middle, newest]) = owned();
    for thread in [&oldest, &middle, &newest] {
        thread.sleeps_for(mutex);
    }
    unlock_fair(mutex);
    assert!(mutex.is_locked());
    assert_eq!(oldest.ends(), 1);
    oldest.does(|| unlock_fair(mutex));
    assert_eq!(middle.unlocks(mutex), 1);
    assert_eq!(newest.unlocks(mutex), 0);
}

/// Otherwise each thread that arrives could have the lock before the parked ones.
#[test]
fn a_thread_that_arrives_leaves_its_role_to_the_oldest_that_is_due() {
    let (_alone, mutex, [owner, oldest, arriving]) = owned();
    owner.polls_for(mutex);
    oldest.sleeps_for(mutex);
    assert_eq!(unlock(mutex), 0);
    poll();
    assert_eq!(owner.ends(), 1);
    time_passes(TURN);
    arriving.sleeps_for(mutex);
    assert_eq!(owner.unlocks(mutex), 1);
    assert_eq!(oldest.unlocks(mutex), 1);
    assert_eq!(arriving.unlocks(mutex), 0);
}

/// The lock is held for long, and the heir will acquire it first.
#[test]
fn a_woken_thread_parks_again_beside_a_heir_that_sleeps() {
    let (_alone, mutex, [first, woken, heir]) = owned();
    first.sleeps_for(mutex);
    woken.stops_when_woken_in(|| lock(mutex));
    assert_eq!(unlock(mutex), 1);
    assert_eq!(first.unlocks(mutex), 1);
    WOKE.until_reached();
    lock(mutex);
    heir.sleeps_for(mutex);
    until_a_sleep_after(|| WOKE.open());
    assert_eq!(unlock(mutex), 1);
    assert_eq!(heir.unlocks(mutex), 1);
    assert_eq!(woken.unlocks(mutex), 0);
}

/// The waker is near cache 0 of node 0. Two threads are parked near these caches and nodes, the
/// first is older. Returns whether the older one is woken first, this time after the last turn of
/// the oldest.
fn older_one_is_woken_first(places: [(usize, usize); 2], after: u64) -> bool {
    let (_alone, mutex, [owner, far, near]) = owned();
    owner.sleeps_for(mutex);
    for (thread, place) in [&far, &near].into_iter().zip(places) {
        thread.sleeps_in(move || {
            PLACE.set(place);
            lock(mutex)
        });
    }
    assert_eq!(unlock(mutex), 1);
    assert_eq!(owner.ends(), 1);
    time_passes(after);
    assert_eq!(owner.unlocks(mutex), 1, "wakes one of the two");
    until(|| !far.is_busy() || !near.is_busy());
    let is_far = !far.is_busy();
    for thread in if is_far { [&far, &near] } else { [&near, &far] } {
        thread.unlocks(mutex);
    }
    is_far
}

#[test]
fn a_parked_thread_of_the_wakers_cache_is_woken_before_an_older_one() {
    assert!(!older_one_is_woken_first([(1, 0), (0, 0)], 0));
}

#[test]
fn a_parked_thread_of_the_wakers_node_is_woken_before_an_older_one() {
    assert!(!older_one_is_woken_first([(1, 1), (2, 0)], 0));
}

#[test]
fn a_real_time_thread_of_another_cache_is_woken_before_ordinary_ones() {
    let (_alone, mutex, [ordinary, first, far]) = owned();
    ordinary.sleeps_for(mutex);
    let before = sleeps();
    for (thread, priority, place) in [(&first, 2, (0, 0)), (&far, 1, (1, 0))] {
        thread.begins(move || {
            PRIORITY.set(priority);
            PLACE.set(place);
            lock(mutex)
        });
        // The first takes the place of the heir, which parks; the second parks.
        until(|| sleeps() == before + 2 + u32::from(priority == 1));
    }
    assert_eq!(unlock(mutex), 1);
    for thread in [&first, &far] {
        assert_eq!(thread.unlocks(mutex), 1);
    }
    assert_eq!(ordinary.unlocks(mutex), 0);
}

#[test]
fn a_thread_of_another_cache_is_not_passed_over_for_long() {
    assert!(older_one_is_woken_first([(1, 0), (0, 0)], TURN));
}

/// On the waker's CPU the woken thread has to wait until the waker leaves it.
#[test]
fn only_a_wake_on_another_cpu_is_measured() {
    let here = CPU.get();
    for (cpu, measured) in [(here, 0), (here + 1_000, 1)] {
        let (_alone, mutex, [heir]) = owned();
        heir.sleeps_in(move || {
            CPU.set(cpu);
            lock(mutex)
        });
        assert_eq!(unlock(mutex), 1);
        assert_eq!(heir.unlocks(mutex), 0);
        assert_eq!(heir.does(|| MEASURED.get()), measured);
    }
}

#[test]
fn a_parked_thread_takes_the_place_of_a_heir_that_gets_no_cpu() {
    let (_alone, mutex, [lost, parked]) = owned();
    lost.polls_for(mutex);
    parked.sleeps_for(mutex);
    until_a_sleep_after(|| time_passes(SLICE));
    assert_eq!(unlock(mutex), 1);
    assert_eq!(parked.unlocks(mutex), 1, "the other one is parked now");
    poll();
    assert_eq!(lost.unlocks(mutex), 0);
}

/// The same of an heir that was woken before, by an unlock that it had asked.
#[test]
fn a_parked_thread_takes_the_place_of_a_heir_that_gets_no_cpu_after_a_wake_in_vain() {
    let (_alone, mutex, [lost, parked]) = owned();
    becomes_the_heir_again(mutex, &lost);
    parked.sleeps_for(mutex);
    until_a_sleep_after(|| time_passes(SLICE));
    assert_eq!(unlock(mutex), 1, "the other is the heir, and has asked");
    assert_eq!(parked.unlocks(mutex), 1);
    poll();
    assert_eq!(lost.unlocks(mutex), 0);
}

/// The lock is free: the slice of the parked thread ends, and the woken thread has not run.
#[test]
fn a_parked_thread_acquires_beside_a_woken_thread_that_gets_no_cpu() {
    let (_alone, mutex, [lost, parked]) = owned();
    lost.stops_when_woken_in(|| lock(mutex));
    parked.sleeps_for(mutex);
    assert_eq!(unlock(mutex), 1);
    WOKE.until_reached();
    time_passes(SLICE);
    assert_eq!(parked.ends(), 1);
    WOKE.open();
    // It has found the lock held, or is about to try it.
    parked.unlocks(mutex);
    assert_eq!(lost.unlocks(mutex), 0);
}

/// An heir acquires while a woken thread has not run for the given time, and another is parked.
fn debt_beside_a_woken_thread(for_so_long: u64) -> usize {
    let (_alone, mutex, [woken, parked, heir]) = owned();
    woken.stops_when_woken_in(|| lock(mutex));
    parked.sleeps_for(mutex);
    assert_eq!(unlock(mutex), 1);
    WOKE.until_reached();
    lock(mutex);
    heir.stops_at(&ATTEMPTS, 2, || lock(mutex));
    time_passes(for_so_long);
    assert_eq!(unlock(mutex), 0);
    ATTEMPTS.open();
    assert_eq!(heir.ends(), 1);
    let debt = Machine::mode();
    heir.unlocks(mutex);
    WOKE.open();
    until(|| !woken.is_busy() || !parked.is_busy());
    for thread in if woken.is_busy() { [&parked, &woken] } else { [&woken, &parked] } {
        thread.unlocks(mutex);
    }
    debt
}

#[test]
fn a_woken_thread_is_relied_on_for_a_millisecond() {
    assert_eq!(debt_beside_a_woken_thread(MILLI / 10), 0);
    assert_ne!(debt_beside_a_woken_thread(MILLI), 0);
}

#[test]
fn a_real_time_thread_has_the_lock_before_those_that_came_earlier() {
    let (_alone, mutex, [heir, parked, urgent, more_urgent]) = owned();
    heir.sleeps_for(mutex);
    parked.sleeps_for(mutex);
    for (thread, priority) in [(&urgent, 1), (&more_urgent, 2)] {
        let before = sleeps();
        thread.begins(move || {
            PRIORITY.set(priority);
            lock(mutex)
        });
        // It sleeps as the heir, and the heir that it has replaced parks.
        until(|| sleeps() == before + 2);
    }
    assert_eq!(unlock(mutex), 1);
    for thread in [&more_urgent, &urgent, &heir] {
        assert_eq!(thread.unlocks(mutex), 1);
    }
    assert_eq!(parked.unlocks(mutex), 0);
}
