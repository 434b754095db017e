//! What the bucket's lock guards, without threads: its queues, which locks have records, the marks, the
//! unlock mode.

#[path = "bucket_tests/marks.rs"]
mod marks;
#[path = "bucket_tests/unlocks.rs"]
mod unlocks;

use core::ptr;

use super::{Bucket, Guard, Record};
use crate::parking::record::Turn;
use crate::parking::{Chosen, Kind, Node};
use crate::platform::{Host, Native, Ordering};

/// What no thread waits for any more.
fn with_bucket(check: impl FnOnce(&Guard<'_, Native>)) {
    let bucket = Bucket::<Native>::new();
    let guard = bucket.lock();
    assert!(!bucket.is_at_rest(), "it is locked");
    check(&guard);
    drop(guard);
    assert!(bucket.is_at_rest());
}

fn waiter(kind: Kind, address: usize, since: usize) -> Node<Native> {
    Node::new(kind, address, ptr::null(), since)
}

/// A waiter of a condition variable that wants the mutex at an address.
fn waiter_for(mutex: usize) -> Node<Native> {
    Node::new(Kind::Condvar, 1_000, ptr::without_provenance(mutex), 1)
}

/// A thread parks.
fn park(guard: &Guard<'_, Native>, node: &Node<Native>) {
    let record = guard.claim(node.address());
    // SAFETY: it is new, stays where it is, and is unlinked by `leave`.
    unsafe { guard.link(Kind::Lock, node) };
    guard.count(record, node, node.since.load(Ordering::Relaxed) + 100);
}

/// A thread that is parked leaves.
fn leave(guard: &Guard<'_, Native>, node: &Node<Native>) {
    guard.uncount(guard.claim(node.address()), node);
    // SAFETY: linked by `park`.
    unsafe { guard.unlink(Kind::Lock, node) };
}

/// A thread becomes the poller, in place of another if there is one.
fn poll(record: &Record<Native>) -> Turn {
    record.take_poll(record.awake(), 0).expect("no other thread changes the marks")
}

/// When those that wait began to, the oldest first.
fn queue(guard: &Guard<'_, Native>, kind: Kind, address: usize) -> [usize; 4] {
    let mut since = [0; 4];
    for (place, node) in since.iter_mut().zip(guard.oldest_first(kind, address)) {
        *place = node.since.load(Ordering::Relaxed);
    }
    since
}

#[test]
fn a_queue_is_in_order_of_arrival_and_apart_from_others() {
    with_bucket(|guard| {
        let kinds = [Kind::Lock, Kind::Condvar, Kind::Key];
        let nodes = kinds.map(|kind| {
            [(8, 1), (16, 2), (8, 3), (8, 4)].map(|(address, since)| waiter(kind, address, since))
        });
        for (kind, nodes) in kinds.iter().zip(&nodes) {
            for node in nodes {
                // SAFETY: new, and unlinked below.
                unsafe { guard.link(*kind, node) };
            }
        }
        for (kind, nodes) in kinds.iter().zip(&nodes) {
            assert_eq!(queue(guard, *kind, 8), [1, 3, 4, 0]);
            assert_eq!(queue(guard, *kind, 16), [2, 0, 0, 0]);
            assert!(
                guard.newest(*kind, 8).is_some_and(|newest| ptr::eq(newest, &raw const nodes[3]))
            );
            assert!(guard.newest(*kind, 24).is_none());
            // The one in the middle, the newest, the last; the oldest is the newest's next.
            for (gone, left) in [(2, [1, 4, 0, 0]), (3, [1, 0, 0, 0]), (0, [0; 4])] {
                // SAFETY: linked above.
                unsafe { guard.unlink(*kind, &nodes[gone]) };
                assert_eq!(queue(guard, *kind, 8), left);
                assert_eq!(queue(guard, *kind, 16), [2, 0, 0, 0]);
            }
            // SAFETY: linked above.
            unsafe { guard.unlink(*kind, &nodes[1]) };
        }
    });
}

#[test]
fn a_thread_that_comes_back_goes_to_its_place_by_age() {
    for order in [[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3], [1, 3, 2]] {
        with_bucket(|guard| {
            let nodes = order.map(|since| waiter(Kind::Lock, 8, since));
            for node in &nodes {
                // SAFETY: new, and unlinked below.
                unsafe { guard.link_by_age(Kind::Lock, node) };
            }
            assert_eq!(queue(guard, Kind::Lock, 8), [1, 2, 3, 0]);
            let newest = guard.newest(Kind::Lock, 8).expect("linked");
            assert_eq!(newest.since.load(Ordering::Relaxed), 3);
            for node in &nodes {
                // SAFETY: linked above.
                unsafe { guard.unlink(Kind::Lock, node) };
            }
        });
    }
}

#[test]
fn a_thread_is_the_newest_when_it_is_linked_first_and_keeps_that_place() {
    with_bucket(|guard| {
        let nodes = [5, 1, 3].map(|since| waiter(Kind::RwLock, 8, since));
        for (node, now) in nodes.iter().zip(10..) {
            // SAFETY: new, and unlinked below.
            unsafe { guard.link_in_turn(Kind::RwLock, node, now) };
        }
        assert_eq!(queue(guard, Kind::RwLock, 8), [10, 11, 12, 0]);
        let mut chosen = Chosen::new();
        for node in &nodes[1..] {
            // SAFETY: linked above; no thread waits with these nodes.
            unsafe {
                guard.unlink(Kind::RwLock, node);
                chosen.push(node);
            }
        }
        chosen.wake();
        for (node, now) in nodes[1..].iter().rev().zip(20..) {
            // SAFETY: unlinked above, and again below.
            unsafe { guard.link_in_turn(Kind::RwLock, node, now) };
        }
        assert_eq!(queue(guard, Kind::RwLock, 8), [10, 11, 12, 0]);
        for node in &nodes {
            // SAFETY: linked above.
            unsafe { guard.unlink(Kind::RwLock, node) };
        }
    });
}

#[test]
fn a_thread_that_parks_does_not_put_off_when_the_first_is_overdue() {
    with_bucket(|guard| {
        let nodes = [1_000, 1_050].map(|since| waiter(Kind::Lock, 8, since));
        let record = guard.claim(8);
        for node in &nodes {
            park(guard, node);
        }
        assert!(!record.may_be_due(1_099));
        assert!(record.may_be_due(1_100));
        record.set_due(2_000);
        assert!(!record.may_be_due(1_999));
        for node in &nodes {
            leave(guard, node);
        }
    });
}

#[test]
fn a_request_ends_with_the_last_parked_thread() {
    with_bucket(|guard| {
        let nodes = [1, 2].map(|since| waiter(Kind::Lock, 8, since));
        let record = guard.claim(8);
        for node in &nodes {
            park(guard, node);
        }
        record.request(true);
        leave(guard, &nodes[0]);
        assert!(record.is_requested());
        leave(guard, &nodes[1]);
        assert!(!record.is_requested());
    });
}

#[test]
fn a_third_contended_lock_shares_a_record_until_its_threads_have_left() {
    with_bucket(|guard| {
        let nodes = [8, 16, 24, 24].map(|address| waiter(Kind::Lock, address, 1));
        for node in &nodes {
            park(guard, node);
        }
        for node in &nodes[..2] {
            assert!(guard.claim(node.address()).is_of(node.address()));
        }
        assert!(guard.claim(24).is_shared());
        assert_eq!(guard.claim(24).parked(), 2);
        assert!(guard.bucket().record(32).is_some_and(Record::is_shared), "as of any other lock");
        leave(guard, &nodes[0]);
        assert!(guard.claim(24).is_shared(), "its threads are counted there");
        leave(guard, &nodes[2]);
        leave(guard, &nodes[3]);
        assert!(guard.claim(24).is_of(24), "the first record is not needed any more");
        assert!(guard.bucket().own_record(8).is_none());
        leave(guard, &nodes[1]);
    });
}

#[test]
fn a_record_that_a_thread_relies_on_stays_its_locks() {
    with_bucket(|guard| {
        let pinning = waiter_for(16);
        let (one, other) = (guard.claim(8), guard.claim(16));
        let turn = poll(one);
        guard.pin(other, &pinning);
        assert!(guard.claim(24).is_shared());
        one.leave(turn);
        assert!(guard.claim(24).is_of(24));
        assert!(guard.bucket().own_record(16).is_some(), "it is pinned");
        guard.unpin(&pinning);
        guard.unpin(&pinning);
        let turn = poll(one);
        assert!(guard.claim(32).is_of(32));
        assert!(guard.bucket().own_record(16).is_none());
        one.leave(turn);
    });
}

#[test]
fn a_contended_lock_takes_a_record_that_is_only_pinned() {
    with_bucket(|guard| {
        let (late, pinning) = (waiter_for(16), waiter_for(24));
        let (busy, idle) = (guard.claim(8), guard.claim(16));
        let turn = poll(busy);
        guard.pin(idle, &late);
        assert!(guard.claim(24).is_shared());
        let taken = guard.claim_contended(24);
        assert!(taken.is_of(24) && ptr::eq(taken, idle));
        assert!(busy.is_of(8), "a thread polls");
        assert_eq!(taken.pins(), 0);
        guard.pin(taken, &pinning);
        guard.unpin(&late);
        assert_eq!(taken.pins(), 1, "the pin is of another mutex");
        guard.unpin(&pinning);
        assert_eq!(taken.pins(), 0);
        busy.leave(turn);
    });
}

/// Its mutex has lost the record and has it back: other waiters have pinned it, or none.
#[test]
fn a_pin_that_was_lost_is_not_taken_back_twice() {
    with_bucket(|guard| {
        let late = waiter_for(8);
        let (pinned, busy) = (guard.claim(8), guard.claim(16));
        guard.pin(pinned, &late);
        let turn = poll(busy);
        assert!(ptr::eq(guard.claim_contended(24), pinned));
        guard.take_quiet_records(Native::unlock_mode(8));
        assert!(ptr::eq(guard.claim(8), pinned), "it is back");
        guard.unpin(&late);
        assert_eq!(pinned.pins(), 0);
        busy.leave(turn);
    });
}

/// A thread found a record before it went to another lock: it cannot become that one's poller.
#[test]
fn the_poll_of_another_lock_is_not_taken() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        let seen = record.awake();
        guard.take_quiet_records(Native::unlock_mode(8));
        assert!(!record.is_of(8));
        assert!(ptr::eq(guard.claim(16), record));
        assert!(record.take_poll(seen, 0).is_none());
        assert!(!record.awake().any());
        let turn = poll(record);
        record.leave(turn);
    });
}

#[test]
fn a_record_is_not_taken_from_a_lock_that_is_polled() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        let turn = poll(record);
        assert!(!record.take_away());
        assert!(record.is_of(8));
        record.leave(turn);
    });
}

#[test]
fn a_thread_of_a_real_time_class_is_counted_apart() {
    with_bucket(|guard| {
        let nodes = [1, 2].map(|since| waiter(Kind::Lock, 8, since));
        for node in &nodes {
            node.priority.store(5, Ordering::Relaxed);
        }
        let ordinary = waiter(Kind::Lock, 8, 3);
        let record = guard.claim(8);
        park(guard, &ordinary);
        assert!(!record.is_urgent());
        for node in &nodes {
            park(guard, node);
        }
        leave(guard, &nodes[0]);
        assert!(record.is_urgent());
        leave(guard, &nodes[1]);
        assert!(!record.is_urgent() && record.has_parked());
        leave(guard, &ordinary);
    });
}

#[test]
fn pollers_in_vain_shorten_the_next_waits_until_the_lock_is_unlocked() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        let poll_in_vain = || {
            let wait = record.wait_after_vain(1_600);
            record.note_vain();
            wait
        };
        let waits: [usize; 8] = core::array::from_fn(|_| poll_in_vain());
        assert_eq!(waits, [1_600, 1_600, 800, 400, 200, 100, 100, 100]);
        record.forget_vain();
        let waits: [usize; 3] = core::array::from_fn(|_| poll_in_vain());
        assert_eq!(waits, [1_600, 1_600, 800]);
        record.give_to(16, false);
        assert_eq!(record.wait_after_vain(1_600), 1_600, "another lock");
        record.give_to(0, false);
    });
}
