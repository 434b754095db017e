//! Threads that use mutexes, condition variables and a reader-writer lock together, for some seconds.
//!
//! Each pair of a first and a second has a place for one message, so that they wait for each other, without a deadline: a
//! wake that is lost stops both. Visitors contend for the mutexes. Exclusion is checked by numbers that are not
//! atomic, and by two that only a writer changes, one after the other.
//!
//! `ONDECK_TEST_SECONDS` says for how long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use ondeck::{Condvar, Mutex, MutexGuard, RwLock};

use crate::watchdog::Watchdog;

const PAIRS: usize = 3;
const VISITORS: u64 = 2;
/// The last message.
const END: u64 = 0;

#[derive(Default)]
struct Place {
    message: Option<u64>,
    visits: u64,
}

#[derive(Default)]
struct Post {
    place: Mutex<Place>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Default)]
struct Shared {
    posts: [Post; PAIRS],
    both: RwLock<(u64, u64)>,
    over: AtomicBool,
    written: AtomicU64,
    visited: AtomicU64,
}

impl Shared {
    /// Gives messages until the time is over; their sum.
    fn give(&self, post: &Post, rng: &mut Rng, progress: impl Fn()) -> u64 {
        let mut sum = 0;
        loop {
            let message = if self.is_over() { END } else { rng.u64(1..1_000) };
            let mut place = wait_until(|place| place.message.is_none(), post, &post.emptied, rng);
            place.message = Some(message);
            notify(&post.filled, place, rng.bool());
            progress();
            if message == END {
                return sum;
            }
            sum += message;
            self.read_or_write(rng);
        }
    }

    /// Takes messages until the last; their sum.
    fn take(&self, post: &Post, rng: &mut Rng) -> u64 {
        let mut sum = 0;
        loop {
            let mut place = wait_until(|place| place.message.is_some(), post, &post.filled, rng);
            let message = place.message.take().expect("it was waited for");
            notify(&post.emptied, place, rng.bool());
            if message == END {
                return sum;
            }
            sum += message;
            self.read_or_write(rng);
        }
    }

    /// Owns the mutexes now and then.
    fn visit(&self, rng: &mut Rng) {
        while !self.is_over() {
            let post = rng.choice(&self.posts).expect("there are some");
            let place = if rng.bool() {
                post.place.try_lock_for(Duration::from_micros(rng.u64(0..500)))
            } else {
                Some(post.place.lock())
            };
            if let Some(mut place) = place {
                let before = place.visits;
                rest(rng);
                place.visits = before + 1;
                drop(place);
                self.visited.fetch_add(1, Ordering::Relaxed);
            }
            self.read_or_write(rng);
        }
    }

    fn read_or_write(&self, rng: &mut Rng) {
        if rng.u8(..4) == 0 {
            let mut both = self.both.write();
            both.0 += 1;
            rest(rng);
            both.1 += 1;
            drop(both);
            self.written.fetch_add(1, Ordering::Relaxed);
        } else {
            let both = self.both.read();
            let first = both.0;
            rest(rng);
            assert_eq!((first, both.0), (both.1, both.1), "a reader saw a write in halves");
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Lets other threads run into a section now and then.
fn rest(rng: &mut Rng) {
    match rng.u8(..64) {
        0 => thread::sleep(Duration::from_micros(50)),
        1..4 => thread::yield_now(),
        _ => {}
    }
}

/// The mutex, when `is_so`. Some waits have a deadline, and begin again.
fn wait_until<'a>(
    is_so: impl Fn(&Place) -> bool,
    post: &'a Post,
    condvar: &Condvar,
    rng: &mut Rng,
) -> MutexGuard<'a, Place> {
    let mut place = post.place.lock();
    if rng.u8(..8) == 0 {
        let short = Duration::from_micros(rng.u64(0..500));
        let _ = condvar.wait_while_for(&mut place, |place| !is_so(place), short);
    }
    condvar.wait_while(&mut place, |place| !is_so(place));
    place
}

fn notify(condvar: &Condvar, owner: MutexGuard<'_, Place>, inside: bool) {
    if inside {
        condvar.notify_one();
        drop(owner);
    } else {
        drop(owner);
        condvar.notify_one();
    }
}

#[test]
fn locks_that_are_used_together_exclude_and_lose_no_wake() {
    let given =
        std::env::var("ONDECK_TEST_SECONDS").ok().map(|text| text.parse().expect("seconds"));
    let length = Duration::from_secs(given.unwrap_or(1));
    // Progress of each pair, since the others hide one that has stopped.
    let watchdogs = [(); PAIRS].map(|()| Watchdog::start("a pair", Duration::from_mins(1)));
    let shared = Shared::default();
    thread::scope(|scope| {
        let shared = &shared;
        let pairs = shared.posts.iter().zip(&watchdogs).zip(0..).map(|((post, watchdog), seed)| {
            let [mut first, mut second] = [2 * seed, 2 * seed + 1].map(Rng::with_seed);
            [
                scope.spawn(move || shared.give(post, &mut first, || watchdog.progress())),
                scope.spawn(move || shared.take(post, &mut second)),
            ]
        });
        let pairs: Vec<_> = pairs.collect();
        for seed in 100..100 + VISITORS {
            scope.spawn(move || shared.visit(&mut Rng::with_seed(seed)));
        }
        let start = Instant::now();
        while start.elapsed() < length {
            thread::sleep(Duration::from_millis(10));
        }
        shared.over.store(true, Ordering::Relaxed);
        for pair in pairs {
            let [given, taken] = pair.map(|thread| thread.join().expect("no panic"));
            assert!(given > 0);
            assert_eq!(given, taken);
        }
    });
    let visits: u64 = shared.posts.into_iter().map(|post| post.place.into_inner().visits).sum();
    assert_eq!(visits, shared.visited.into_inner());
    let written = shared.written.into_inner();
    assert_eq!(shared.both.into_inner(), (written, written));
}
