//! Uses each item that both parking_lot_core 0.9 and 0.10 export once. It also passes with the
//! originals: `ci/dropin.sh` compiles it against them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot_core::{
    DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult, ParkToken, RequeueOp, SpinWait,
    UnparkResult, UnparkToken, deadlock, park, unpark_all, unpark_filter, unpark_one,
    unpark_requeue,
};

/// Counts threads that are about to park; its address is their key.
#[derive(Default)]
struct Place(AtomicUsize);

impl Place {
    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn park(&self, token: ParkToken) -> ParkResult {
        let count = || self.0.fetch_add(1, Ordering::Relaxed) < usize::MAX;
        // SAFETY: the key belongs to this object, and no closure panics or parks.
        unsafe { park(self.key(), count, || (), |_, _| unreachable!(), token, None) }
    }

    /// Waits until this number of threads have parked. They count themselves under the lock of the
    /// queue, which each unpark takes.
    fn wait_for(&self, threads: usize) {
        while self.0.load(Ordering::Relaxed) != threads {
            thread::yield_now();
        }
    }
}

#[test]
fn parking_may_be_invalid_or_time_out() {
    let place = Place::default();
    let none = || unreachable!();
    // SAFETY: the key is `place`'s, and no closure panics or parks.
    let invalid = unsafe { park(place.key(), || false, none, |_, _| (), DEFAULT_PARK_TOKEN, None) };
    assert_eq!(invalid, ParkResult::Invalid);
    let (mut slept, mut ended) = (false, None);
    let soon = Some(Instant::now() + Duration::from_millis(1));
    let at_the_end = |key, last| ended = Some((key, last));
    // SAFETY: as above.
    let timed_out = unsafe {
        park(place.key(), || true, || slept = true, at_the_end, DEFAULT_PARK_TOKEN, soon)
    };
    assert_eq!(timed_out, ParkResult::TimedOut);
    assert!(slept && ended == Some((place.key(), true)) && !timed_out.is_unparked());
}

#[test]
fn a_thread_is_unparked_with_a_token() {
    let place = Place::default();
    thread::scope(|scope| {
        let parked = scope.spawn(|| place.park(DEFAULT_PARK_TOKEN));
        place.wait_for(1);
        let mut told = UnparkResult::default();
        // SAFETY: the key is `place`'s, and the closure does not panic or park.
        let result = unsafe {
            unpark_one(place.key(), |result| {
                told = result;
                UnparkToken(7)
            })
        };
        assert_eq!(result, told);
        assert_eq!((result.unparked_threads, result.requeued_threads), (1, 0));
        assert!(!result.have_more_threads);
        assert_eq!(parked.join().unwrap(), ParkResult::Unparked(UnparkToken(7)));
    });
    // SAFETY: as above.
    assert_eq!(unsafe { unpark_all(place.key(), DEFAULT_UNPARK_TOKEN) }, 0);
}

#[test]
fn a_filter_chooses_by_token_in_the_order_of_arrival() {
    let place = Place::default();
    thread::scope(|scope| {
        for token in 0..4 {
            let place = &place;
            scope.spawn(move || place.park(ParkToken(token)));
            place.wait_for(token + 1);
        }
        let mut seen = Vec::new();
        let filter = |token: ParkToken| {
            seen.push(token.0);
            [FilterOp::Skip, FilterOp::Unpark, FilterOp::Stop][token.0]
        };
        // SAFETY: the key is `place`'s, and no closure parks; none panics, as tokens 0 to 2 come
        // first.
        let result = unsafe { unpark_filter(place.key(), filter, |_| DEFAULT_UNPARK_TOKEN) };
        assert_eq!((result.unparked_threads, result.have_more_threads), (1, true));
        assert_eq!(seen, [0, 1, 2]);
        // SAFETY: as above.
        assert_eq!(unsafe { unpark_all(place.key(), DEFAULT_UNPARK_TOKEN) }, 3);
    });
}

/// The operation on three threads, and the numbers of unparked and moved ones.
fn requeued(operation: RequeueOp) -> (usize, usize) {
    let (from, to) = (Place::default(), Place::default());
    thread::scope(|scope| {
        for token in 0..3 {
            let from = &from;
            scope.spawn(move || from.park(ParkToken(token)));
        }
        from.wait_for(3);
        let mut told = None;
        let callback = |asked, result| {
            told = Some((asked, result));
            DEFAULT_UNPARK_TOKEN
        };
        // SAFETY: the keys are of `from` and `to`, and no closure panics or parks.
        let result = unsafe { unpark_requeue(from.key(), to.key(), || operation, callback) };
        let expected = (operation != RequeueOp::Abort).then_some((operation, result));
        assert_eq!(told, expected);
        // SAFETY: as above.
        let (left, moved) = unsafe {
            let left = unpark_all(from.key(), DEFAULT_UNPARK_TOKEN);
            (left, unpark_all(to.key(), DEFAULT_UNPARK_TOKEN))
        };
        assert_eq!(moved, result.requeued_threads);
        assert_eq!(left + moved + result.unparked_threads, 3);
        (result.unparked_threads, moved)
    })
}

#[test]
fn threads_are_moved_to_another_key() {
    assert_eq!(requeued(RequeueOp::Abort), (0, 0));
    assert_eq!(requeued(RequeueOp::UnparkOneRequeueRest), (1, 2));
    assert_eq!(requeued(RequeueOp::RequeueAll), (0, 3));
    assert_eq!(requeued(RequeueOp::UnparkOne), (1, 0));
    assert_eq!(requeued(RequeueOp::RequeueOne), (0, 1));
}

#[test]
fn spinning_ends() {
    let mut spin = SpinWait::new();
    while spin.spin() {}
    spin.reset();
    assert!(spin.spin());
    spin.spin_no_yield();
    assert!(SpinWait::default().spin());
}

#[test]
fn resources_are_owned() {
    let resource = 0_u8;
    let key = (&raw const resource).addr();
    // SAFETY: no closure of the table runs.
    unsafe {
        deadlock::acquire_resource(key);
        deadlock::release_resource(key);
    }
    #[cfg(feature = "deadlock_detection")]
    assert!(deadlock::check_deadlock().is_empty());
}
