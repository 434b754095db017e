//! The parking table for other locks: for every wake that was counted a thread was woken.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use ondeck::parking::Parked;
use ondeck::platform::{Host, Timestamp};

use super::disturb::{Place, waiting};
use super::keys::{park, requeue, unpark};

/// The keys at which threads park. In the standard table each most likely has a different bucket.
const KEYS: usize = 4;

/// The ends of the sleeps, and the results of the wakers.
#[derive(Debug, Default)]
struct Counts {
    woken: AtomicU64,
    timed_out: AtomicU64,
    counted: AtomicU64,
    moved: AtomicU64,
}

/// The state that the two kinds of threads share.
struct Shared {
    words: [AtomicU64; KEYS],
    over: AtomicBool,
    counts: Counts,
}

impl Shared {
    fn key(&self, rng: &mut Rng) -> usize {
        (&raw const self.words[rng.usize(..KEYS)]).addr()
    }

    fn sleep<P: Host>(&self, rng: &mut Rng) {
        let micros = match rng.u32(0..4) {
            0 => None,
            1 => Some(rng.u64(0..5)),
            2 => Some(rng.u64(0..200)),
            _ => Some(rng.u64(0..5_000)),
        };
        let deadline =
            micros.map(|micros| Timestamp::from_nanos(P::now().as_nanos() + micros * 1_000));
        let goes_on = || !self.over.load(Ordering::Relaxed);
        let parked = waiting(|| park::<P>(self.key(rng), goes_on, || (), deadline));
        match parked {
            Parked::Woken => _ = self.counts.woken.fetch_add(1, Ordering::Relaxed),
            Parked::TimedOut => {
                assert!(deadline.is_some(), "a sleep without a deadline timed out");
                self.counts.timed_out.fetch_add(1, Ordering::Relaxed);
            }
            Parked::Invalid => {}
        }
    }

    fn wake<P: Host>(&self, rng: &mut Rng) {
        let (counts, key) = (&self.counts, self.key(rng));
        let woken = match rng.u32(0..8) {
            0 => unpark::<P>(key, usize::MAX, |_, more| assert!(!more)),
            1..4 => unpark::<P>(key, rng.usize(1..3), |_, _| ()),
            _ => {
                // No thread is moved from a key to itself.
                let most = if rng.bool() { usize::MAX } else { rng.usize(0..3) };
                let done = requeue::<P>(key, self.key(rng), || true, rng.usize(0..3), most);
                counts.moved.fetch_add(done.moved as u64, Ordering::Relaxed);
                done.woken
            }
        };
        counts.counted.fetch_add(woken as u64, Ordering::Relaxed);
        match rng.u32(0..10) {
            0 => thread::sleep(Duration::from_micros(rng.u64(0..200))),
            _ => (0..rng.u32(0..500)).for_each(|_| std::hint::spin_loop()),
        }
    }
}

/// Until the time is over, threads park at a few keys, with and without deadlines, and others wake and
/// move them. Returns the numbers of woken and moved threads.
pub fn run<P: Host>(duration: Duration, seed: u64) -> (u64, u64) {
    let mut rng = Rng::with_seed(seed);
    let shared = Shared {
        words: [const { AtomicU64::new(0) }; KEYS],
        over: AtomicBool::new(false),
        counts: Counts::default(),
    };
    let wakers_left = AtomicUsize::new(2);
    let start = Instant::now();
    thread::scope(|scope| {
        for number in 0..10 {
            let mut rng = rng.fork();
            let (shared, wakers_left) = (&shared, &wakers_left);
            scope.spawn(move || {
                let _place = Place::take();
                if number < 8 {
                    while !shared.over.load(Ordering::Relaxed) {
                        shared.sleep::<P>(&mut rng);
                    }
                    return;
                }
                while start.elapsed() < duration {
                    shared.wake::<P>(&mut rng);
                }
                if wakers_left.fetch_sub(1, Ordering::AcqRel) > 1 {
                    return;
                }
                // From here on no thread is moved, and a thread that parks has checked the time before:
                // one wake of all at each key must reach all parked threads.
                shared.over.store(true, Ordering::Relaxed);
                for word in &shared.words {
                    let woken = unpark::<P>((&raw const *word).addr(), usize::MAX, |_, _| ());
                    shared.counts.counted.fetch_add(woken as u64, Ordering::Relaxed);
                }
            });
        }
    });
    let counts = shared.counts;
    let (woken, counted) = (counts.woken.into_inner(), counts.counted.into_inner());
    assert_eq!(woken, counted, "as many were woken as wakers were told");
    (woken, counts.moved.into_inner())
}
