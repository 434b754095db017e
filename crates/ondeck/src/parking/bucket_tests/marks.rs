//! The marks of a record, and the turns of pollers.

use core::ptr;

use super::{poll, with_bucket};
use crate::parking::Record;
use crate::platform::{Host, Native};

#[test]
fn marks_are_taken_and_left() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        let one = poll(record);
        assert!(!record.set_in_flight(false, 0), "there is a poller");
        assert!(record.set_in_flight(true, 0));
        assert!(!record.set_in_flight(true, 0), "one is in flight");
        assert!(record.land(8, true).is_none(), "there is a poller");
        assert!(!record.awake().in_flight());
        // Another takes its place; so it has no mark to leave.
        let other = poll(record);
        record.leave(one);
        assert!(record.awake().is_poller(other));
        record.leave(other);
        assert!(!record.awake().any());
        assert!(record.set_in_flight(false, 0));
        assert!(record.land(16, true).is_none(), "it is another lock's");
        assert!(record.awake().in_flight());
        let landed = record.land(8, true).expect("there is no poller");
        assert!(record.awake().is_poller(landed) && !record.awake().in_flight());
        record.leave(landed);
        assert!(record.set_in_flight(false, 0));
        assert!(record.land(8, false).is_none());
        assert!(!record.awake().any());
    });
}

#[test]
fn a_poller_that_becomes_the_owner_leaves_by_its_turn() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        for _ in 0..3 {
            let turn = poll(record);
            assert!(record.awake().has_poller() && record.awake().is_poller(turn));
            record.leave_as_owner(turn);
            assert!(!record.awake().any());
        }
        // A woken thread polls beside the mark of one that has left.
        let turn = poll(record);
        assert!(record.set_in_flight(true, 0));
        record.leave_as_owner(turn);
        assert!(record.awake().in_flight() && !record.awake().has_poller());
        let landed = record.land(8, true).expect("there is no poller");
        assert!(record.awake().has_poller() && !record.awake().in_flight());
        record.leave_as_owner(landed);
    });
}

/// It was about to take the lock when it lost its CPU.
#[test]
fn a_poller_whose_place_was_taken_brings_no_mark_back() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        let late = poll(record);
        let turn = poll(record);
        record.leave_as_owner(late);
        assert!(record.awake().has_poller(), "the thread that took its place polls");
        record.leave_as_owner(turn);
        assert!(!record.awake().any());
        record.leave_as_owner(late);
        assert!(!record.awake().any(), "that thread has left");
    });
}

/// It owns its lock, and lost its CPU when it was about to leave. By now the record is another lock's.
#[test]
fn a_poller_that_leaves_late_brings_no_mark_back_to_another_lock() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        let late = poll(record);
        record.leave(poll(record));
        guard.take_quiet_records(Native::unlock_mode(8));
        assert!(ptr::eq(guard.claim(16), record));
        let turn = poll(record);
        assert!(record.awake().has_poller() && !record.awake().is_poller(late));
        record.leave_as_owner(turn);
        record.store_left(late);
        assert!(!record.awake().any(), "no thread polls");
        let turn = poll(record);
        assert!(!record.awake().any(), "it does not count");
        record.leave_as_owner(turn);
        let turn = poll(record);
        assert!(record.awake().has_poller());
        record.leave(turn);
    });
}

#[test]
fn a_record_that_its_poller_left_as_the_owner_may_go_to_another_lock() {
    with_bucket(|guard| {
        let record = guard.claim(8);
        let turn = poll(record);
        record.leave_as_owner(turn);
        assert!(record.take_away());
        record.give_to(16, false);
        assert!(!record.awake().any());
        record.leave_as_owner(turn);
        let next = poll(record);
        assert!(record.awake().has_poller());
        record.leave_as_owner(turn);
        assert!(record.awake().has_poller(), "that turn was of another lock");
        record.leave_as_owner(next);
        assert!(!record.awake().any());
        record.give_to(0, false);
    });
}

/// The numbers of turns do not run into the tenancy, nor into the marks.
#[test]
fn numbers_of_turns_repeat() {
    const LAST: usize = (1 << (usize::BITS / 2)) - 4;
    let record = Record::<Native>::new();
    record.start_turns_at(LAST);
    for _ in 0..2 {
        assert!(record.set_in_flight(false, 0));
        let turn = poll(&record);
        assert!(record.awake().in_flight() && record.awake().is_poller(turn));
        assert!(record.awake().has_poller());
        record.leave_as_owner(turn);
        assert!(record.land(0, false).is_none());
        assert!(!record.awake().any());
    }
    assert!(record.take_away());
}
