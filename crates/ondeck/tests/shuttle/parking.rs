//! The parking table as other libraries' locks use it.

use std::sync::Mutex;

use ondeck::parking::{self, Parked, Requeued};
use ondeck::platform::{AtomicInt, Ordering, Platform, Timestamp};

use crate::scenario::{Section, crew, explore, join, soon};
use crate::shuttle_platform::explore::keep;
use crate::shuttle_platform::{Shuttle, below, one_in, step};

/// The state word of another library's lock; its address is the key.
struct Word(<Shuttle as Platform>::AtomicU32);

impl Word {
    fn new() -> &'static Self {
        keep(Self(AtomicInt::new(0)))
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(&self.0).addr()
    }

    fn load(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }
}

fn park(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    deadline: Option<Timestamp>,
) -> Parked {
    // SAFETY: each key is used by one lock of these tests.
    unsafe { parking::park::<Shuttle>(key, validate, before_sleep, deadline) }
}

fn unpark(key: usize, most: usize, then: impl FnOnce(usize, bool)) -> usize {
    // SAFETY: as above.
    unsafe { parking::unpark::<Shuttle>(key, most, then) }
}

fn requeue(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> bool,
    wake: usize,
    move_most: usize,
) -> Requeued {
    // SAFETY: as above.
    unsafe { parking::requeue::<Shuttle>(from, to, validate, wake, move_most) }
}

#[test]
fn a_door_that_opens_wakes_all_eighteen() {
    explore(300, || {
        let open = Word::new();
        let waiters = crew(18, move || {
            while open.load() == 0 {
                assert_ne!(park(open.key(), || open.load() == 0, step, None), Parked::TimedOut);
            }
        });
        open.0.store(1, Ordering::Release);
        unpark(open.key(), usize::MAX, |_, _| ());
        join(waiters);
    });
}

/// A fair lock of one word, as a library would build it over the table: 0 free, 1 locked, 2 locked and a
/// thread may be parked. A thread that is woken owns it.
fn lock(word: &Word) {
    while word.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        let marked = word.0.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed);
        if marked == Err(0) {
            continue;
        }
        let deadline = one_in(3).then(soon);
        let parked = park(word.key(), || word.load() == 2, step, deadline);
        if parked == Parked::Woken {
            return;
        }
    }
}

fn unlock(word: &Word) {
    if word.0.compare_exchange(1, 0, Ordering::Release, Ordering::Relaxed).is_err() {
        unpark(word.key(), 1, |woken, more| {
            let state = if woken == 0 { 0 } else { 1 + u32::from(more) };
            word.0.store(state, Ordering::Release);
        });
    }
}

#[test]
fn six_threads_exclude_each_other_by_a_lock_of_their_own() {
    explore(1_000, || {
        let word = Word::new();
        let section: &Section = keep(Section::default());
        let user = move || {
            for _ in 0..3 {
                lock(word);
                section.enter();
                unlock(word);
            }
        };
        join(crew(6, user));
        assert_eq!((word.load(), section.entered()), (0, 18));
    });
}

/// Five threads park, with deadlines and without. Two others move them to and fro and wake them, in both
/// directions at once. All threads end, and as many were woken as the wakers were told.
#[test]
fn parked_threads_are_moved_in_both_directions_at_once() {
    explore(1_000, || {
        let (here, there, over) = (Word::new(), Word::new(), Word::new());
        let waiters = crew(5, move || {
            let word = if one_in(2) { here } else { there };
            let parked = park(word.key(), || over.load() == 0, step, one_in(2).then(soon));
            usize::from(parked == Parked::Woken)
        });
        let mover = move || {
            let (from, to) = if one_in(2) { (here, there) } else { (there, here) };
            let (wake, moved) = (below(2), 1 + below(3));
            requeue(from.key(), to.key(), || true, wake, moved).woken
        };
        let movers = crew(2, move || mover() + mover());
        let mut woken: usize = join(movers).into_iter().sum();
        over.0.store(1, Ordering::Release);
        for word in [here, there] {
            woken += unpark(word.key(), usize::MAX, |_, _| ());
        }
        assert_eq!(join(waiters).into_iter().sum::<usize>(), woken);
    });
}

/// Of four parked threads the first is woken, the next two are moved, and the last one stays.
#[test]
fn the_first_is_woken_and_the_next_are_moved() {
    explore(600, || {
        let (from, to, come) = (Word::new(), Word::new(), Word::new());
        let ends: &Mutex<Vec<u32>> = keep(Mutex::default());
        let waiters = crew(4, move || {
            let mut place = 0;
            // This runs under the bucket's lock, so in the order of parking.
            let number = || {
                place = come.0.fetch_add(1, Ordering::Relaxed);
                true
            };
            assert_eq!(park(from.key(), number, step, None), Parked::Woken);
            ends.lock().expect("no panic").push(place);
        });
        let ended = |places: &[u32]| {
            while ends.lock().expect("no panic").len() < places.len() {
                shuttle::thread::yield_now();
            }
            let mut ends = ends.lock().expect("no panic").clone();
            ends.sort_unstable();
            assert_eq!(ends, places);
        };
        while come.load() < 4 {
            shuttle::thread::yield_now();
        }
        let done = requeue(from.key(), to.key(), || true, 1, 2);
        assert_eq!(done, Requeued { woken: 1, moved: 2 });
        ended(&[0]);
        assert_eq!(unpark(to.key(), 9, |_, more| assert!(!more)), 2);
        ended(&[0, 1, 2]);
        assert_eq!(unpark(from.key(), 9, |_, more| assert!(!more)), 1);
        ended(&[0, 1, 2, 3]);
        join(waiters);
    });
}
