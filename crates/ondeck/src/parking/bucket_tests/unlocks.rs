//! What unlocks read: how fences are paired, and the unlock mode.

use super::{leave, park, waiter, waiter_for, with_bucket};
use crate::parking::record::{SHARED, fence};
use crate::parking::unlock_mode::{ASKED, LOOK, SKIP, SOME};
use crate::parking::{BUCKETS, Guard, Kind, Record, bucket_of};
use crate::platform::{Host, Native, Ordering};

#[test]
fn a_heavy_fence_from_before_a_step_back_changes_nothing() {
    let record = Record::<Native>::new();
    record.give_to(8, false);
    let before = record.fence();
    record.step_back();
    record.heavy_fence_made(before);
    assert_eq!(record.fence() & fence::KIND, fence::NOT_YET);
    record.heavy_fence_made(record.fence());
    assert_eq!(record.fence() & fence::KIND, fence::FENCED);
    assert!(!record.is_light());
}

#[test]
fn a_request_does_not_make_a_heavy_fence_void() {
    let record = Record::<Native>::new();
    record.give_to(8, false);
    let before = record.fence();
    record.request(true);
    record.heavy_fence_made(before);
    assert_eq!(record.fence() & fence::KIND, fence::FENCED);
    assert!(record.is_requested());
    record.give_to(16, true);
    assert!(record.is_light() && !record.is_requested());
    record.request(true);
    assert!(record.is_light() && record.is_requested());
}

#[test]
fn unlocks_do_without_fences_unless_a_waiter_of_a_condition_variable_relies_on_them() {
    with_bucket(|guard| {
        let waiter = waiter_for(8);
        let record = guard.claim(8);
        guard.lighten(record);
        assert!(!record.is_light(), "there was no heavy fence");
        record.heavy_fence_made(record.fence());
        guard.pin(record, &waiter);
        assert_eq!(
            record.fence() & fence::KIND,
            fence::NOT_YET,
            "unlocks did not look here before"
        );
        record.heavy_fence_made(record.fence());
        guard.lighten(record);
        assert!(!record.is_light());
        guard.unpin(&waiter);
        guard.lighten(record);
        assert!(record.is_light());
    });
}

/// Locks of one bucket, whose unlock mode no other test uses.
fn addresses<const PLACE: usize>() -> [usize; 3] {
    const FIRST: usize = 1 << (usize::BITS - 2);
    const { assert!(PLACE < BUCKETS) };
    let mut addresses = (0..usize::MAX).map(|n| FIRST | n << 3).filter(|a| bucket_of(*a) == PLACE);
    [0; 3].map(|_| addresses.next().expect("some"))
}

#[test]
fn the_unlock_mode_says_whether_an_owner_is_asked_for_its_lock() {
    let [one, two, three] = addresses::<78>();
    let mode = Native::unlock_mode(one);
    let now = || mode.load(Ordering::Relaxed);
    let ask = |guard: &Guard<'_, Native>, address| {
        guard.claim(address).request(true);
        guard.set_mode(mode);
    };
    with_bucket(|guard| {
        let nodes = [one, two, three].map(|address| waiter(Kind::Lock, address, 1));
        park(guard, &nodes[0]);
        ask(guard, one);
        assert_eq!((now(), guard.mode_by_records()), (LOOK, ASKED), "nothing is known");
        mode.store(guard.mode_by_records(), Ordering::Relaxed);
        park(guard, &nodes[1]);
        assert_eq!(now(), ASKED, "a thread of another lock parks");
        ask(guard, two);
        park(guard, &nodes[2]);
        leave(guard, &nodes[0]);
        assert_eq!(now(), ASKED, "another lock's owner is asked");
        leave(guard, &nodes[1]);
        assert_eq!(now(), SOME, "the requests went with the last threads");
        park(guard, &nodes[0]);
        assert_eq!(now(), SOME);
        leave(guard, &nodes[0]);
        leave(guard, &nodes[2]);
        guard.take_quiet_records(mode);
        assert_eq!(now(), SKIP);
    });
    mode.store(LOOK, Ordering::Relaxed);
}

#[test]
fn the_unlock_mode_says_which_locks_have_records() {
    let [one, two, three] = addresses::<77>();
    let mode = Native::unlock_mode(one);
    let now = || mode.load(Ordering::Relaxed);
    with_bucket(|guard| {
        let nodes = [one, two, three].map(|address| waiter(Kind::Lock, address, 1));
        park(guard, &nodes[0]);
        assert_eq!(now(), LOOK, "nothing is known");
        leave(guard, &nodes[0]);
        guard.take_quiet_records(mode);
        assert_eq!((now(), guard.mode_by_records()), (LOOK, SKIP));
        mode.store(SKIP, Ordering::Relaxed);
        let record = guard.claim(one);
        assert!(record.is_light());
        assert_eq!(now(), SKIP, "a thread that polls does not concern unlocks");
        park(guard, &nodes[0]);
        assert_eq!(now(), SOME);
        park(guard, &nodes[1]);
        leave(guard, &nodes[0]);
        guard.take_quiet_records(mode);
        assert_eq!(now(), SOME, "one is left");
        park(guard, &nodes[0]);
        park(guard, &nodes[2]);
        leave(guard, &nodes[0]);
        leave(guard, &nodes[1]);
        guard.take_quiet_records(mode);
        assert_eq!(now(), SOME, "one shares a record");
        assert!(guard.bucket().shared.is_of(SHARED));
        leave(guard, &nodes[2]);
        guard.take_quiet_records(mode);
        assert_eq!(now(), SKIP);
    });
    mode.store(LOOK, Ordering::Relaxed);
}
