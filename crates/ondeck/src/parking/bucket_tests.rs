//! What the bucket's lock guards, without threads: when a handover is due, and of which lock.

use core::ptr;

use super::{Bucket, Guard};
use crate::parking::Node;
use crate::platform::Linux;

const PATIENCE: usize = 100;

/// Sleepers for the locks at the addresses, one since each moment, in a bucket of their own.
fn with_sleepers<const COUNT: usize>(
    sleepers: [(usize, usize); COUNT],
    check: impl FnOnce(&Guard<'_, Linux>, &[Node<Linux>; COUNT]),
) {
    let bucket = Bucket::<Linux>::new();
    let nodes = sleepers.map(|(address, since)| Node::new(address, ptr::null(), since));
    let guard = bucket.lock();
    for node in &nodes {
        // SAFETY: it is new, stays where it is, and is unlinked below.
        unsafe { guard.link(node) };
        guard.count_parked(node, PATIENCE);
    }
    check(&guard, &nodes);
    for node in &nodes {
        guard.uncount_parked();
        // SAFETY: linked above.
        unsafe { guard.unlink(node) };
    }
    drop(guard);
    assert!(bucket.is_at_rest());
}

#[test]
fn the_first_to_sleep_says_when_a_handover_is_due_and_who_comes_later_does_not_put_it_off() {
    with_sleepers([(8, 1_000), (8, 1_050), (16, 1_090)], |guard, _| {
        assert!(!guard.bucket().may_be_due(1_000 + PATIENCE - 1));
        assert!(guard.bucket().may_be_due(1_000 + PATIENCE));
        guard.set_due(2_000);
        assert!(!guard.bucket().may_be_due(1_999));
        assert!(guard.bucket().may_be_due(2_000));
    });
}

#[test]
fn a_demand_is_for_the_oldest_sleeper_of_one_lock() {
    with_sleepers([(8, 0), (16, 1), (16, 2)], |guard, nodes| {
        let demanded = |address| {
            guard.set_demand(address);
            guard.demanded().map(ptr::from_ref)
        };
        assert_eq!(demanded(0), None);
        assert_eq!(demanded(8), Some(ptr::from_ref(&nodes[0])));
        assert_eq!(demanded(16), Some(ptr::from_ref(&nodes[1])));
        assert_eq!(demanded(24), None);
        guard.set_demand(0);
    });
}
