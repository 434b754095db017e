//! The parking table with tokens.

use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use ondeck::parking::{self, Choice, Parked, Requeue, Unparked};
use ondeck::platform::{Native, Platform};

use super::watchdog;
use crate::until::until;

fn key(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word).addr()
}

fn park(word: &AtomicU32, token: usize) -> (Parked, usize) {
    // SAFETY: the word belongs to the test.
    unsafe {
        parking::park::<Native>(key(word), token, || true, || (), |_, _| unreachable!(), None)
    }
}

/// Returns the tokens of the parked threads.
fn parked(word: &AtomicU32) -> Vec<usize> {
    let mut seen = Vec::new();
    let look = |token| {
        seen.push(token);
        Choice::Skip
    };
    // SAFETY: as above.
    unsafe { parking::unpark::<Native>(key(word), look, |_| 0) };
    seen
}

/// Waits until this number of threads are parked.
fn until_parked(word: &AtomicU32, count: usize) {
    until(|| parked(word).len() == count);
}

fn unpark(word: &AtomicU32, choose: impl FnMut(usize) -> Choice, give: usize) -> Unparked {
    // SAFETY: as above.
    unsafe { parking::unpark::<Native>(key(word), choose, |_| give) }
}

#[test]
fn an_unpark_chooses_by_tokens_and_gives_another() {
    let (word, woken) = (AtomicU32::new(0), Mutex::new(Vec::new()));
    watchdog::scope(|scope| {
        for token in 1..=4 {
            let (word, woken) = (&word, &woken);
            scope.spawn(move || {
                let (parked, given) = park(word, token);
                assert_eq!(parked, Parked::Woken);
                woken.lock().unwrap().push((token, given));
            });
            until_parked(word, token);
        }
        assert_eq!(parked(&word), [1, 2, 3, 4]);
        let even = |token| if token % 2 == 0 { Choice::Unpark } else { Choice::Skip };
        assert_eq!(unpark(&word, even, 20), Unparked { woken: 2, moved: 0, others: true });
        assert_eq!(parked(&word), [1, 3]);
        let first = |token| if token == 1 { Choice::Unpark } else { Choice::Stop };
        assert_eq!(unpark(&word, first, 10), Unparked { woken: 1, moved: 0, others: true });
        let all = unpark(&word, |_| Choice::Unpark, 30);
        assert_eq!(all, Unparked { woken: 1, moved: 0, others: false });
    });
    let mut woken = woken.into_inner().unwrap();
    woken.sort_unstable();
    assert_eq!(woken, [(1, 10), (2, 20), (3, 30), (4, 20)]);
}

#[test]
fn moved_threads_keep_their_tokens() {
    let (from, to) = (AtomicU32::new(0), AtomicU32::new(0));
    watchdog::scope(|scope| {
        for token in 1..=3 {
            let from = &from;
            scope.spawn(move || assert_eq!(park(from, token), (Parked::Woken, token * 10)));
            until_parked(from, token);
        }
        let mut told = None;
        let then = |done| {
            told = Some(done);
            10
        };
        let what = || Some(Requeue { wake: 1, move_most: 1 });
        // SAFETY: as above.
        let done = unsafe { parking::requeue::<Native>(key(&from), key(&to), what, then) };
        assert_eq!(done, Unparked { woken: 1, moved: 1, others: true });
        assert_eq!(told, Some(done));
        assert_eq!((parked(&from), parked(&to)), (vec![3], vec![2]));
        unpark(&to, |_| Choice::Unpark, 20);
        unpark(&from, |_| Choice::Unpark, 30);
        // SAFETY: as above.
        let none = unsafe {
            parking::requeue::<Native>(key(&from), key(&to), || None, |_| unreachable!())
        };
        assert_eq!(none, Unparked::default());
    });
}

#[test]
fn a_deadline_is_told_under_the_lock() {
    let word = AtomicU32::new(0);
    let mut told = Vec::new();
    watchdog::scope(|scope| {
        scope.spawn(|| park(&word, 1));
        until_parked(&word, 1);
        for unparked_first in [false, true] {
            if unparked_first {
                unpark(&word, |_| Choice::Unpark, 0);
            }
            let deadline = Some(Native::now().after(Duration::from_millis(1)));
            let timed_out = |key, is_last| told.push((key, is_last));
            // SAFETY: as above.
            let ended = unsafe {
                parking::park::<Native>(key(&word), 2, || true, || (), timed_out, deadline)
            };
            assert_eq!(ended, (Parked::TimedOut, 0));
        }
    });
    assert_eq!(told, [(key(&word), false), (key(&word), true)]);
    assert!(parked(&word).is_empty());
}
