//! Conditions: a signal reaches a thread that waited, and ends its wait.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Timestamp};

/// A bag of tokens, with its lock.
struct Bag<P: Host> {
    mutex: RawMutex<P>,
    filled: RawCondvar<P>,
    tokens: UnsafeCell<u64>,
    /// The number of waiters that notifications reported, and the number of waits that returned as
    /// notified.
    notified: AtomicUsize,
    heard: AtomicUsize,
}

// SAFETY: only the owner of the mutex accesses the tokens.
unsafe impl<P: Host> Sync for Bag<P> {}

impl<P: Host> Bag<P> {
    fn new() -> Self {
        Self {
            mutex: RawMutex::new(),
            filled: RawCondvar::new(),
            tokens: UnsafeCell::new(0),
            notified: AtomicUsize::new(0),
            heard: AtomicUsize::new(0),
        }
    }

    /// Changes the tokens under the lock.
    fn with<R>(&self, change: impl FnOnce(&mut u64) -> R) -> R {
        self.mutex.lock();
        // SAFETY: this thread owns the lock, and no reference to the tokens lives across an unlock.
        let result = change(unsafe { &mut *self.tokens.get() });
        // SAFETY: this thread owns it.
        unsafe { self.mutex.unlock() };
        result
    }

    /// Waits for a token and takes it. Returns false if the time is over and there is none.
    fn take(&self, rng: &mut Rng, deadlines: bool, over: &AtomicBool) -> bool {
        self.mutex.lock();
        loop {
            // SAFETY: this thread owns the lock; the reference ends before the unlock.
            let tokens = unsafe { &mut *self.tokens.get() };
            let ends = *tokens == 0 && over.load(Ordering::Relaxed);
            if *tokens > 0 || ends {
                *tokens -= u64::from(!ends);
                // SAFETY: this thread owns it.
                unsafe { self.mutex.unlock() };
                return !ends;
            }
            // About the time of a wake, or no deadline.
            let micros = rng.u64(0..100);
            let until = (deadlines && rng.bool())
                .then(|| Timestamp::from_nanos(P::now().as_nanos() + micros * 1_000));
            // SAFETY: this thread owns the lock, here and when the call returns.
            let heard = unsafe { self.filled.wait(&self.mutex, until) };
            self.heard.fetch_add(usize::from(heard), Ordering::Relaxed);
        }
    }

    /// Puts tokens in, and notifies for each.
    fn give(&self, count: u64, rng: &mut Rng) {
        let inside = rng.bool();
        let notify = || {
            for _ in 0..count {
                self.notified.fetch_add(self.filled.notify_one(), Ordering::Relaxed);
            }
        };
        self.with(|tokens| {
            *tokens += count;
            if inside {
                notify();
            }
        });
        if !inside {
            notify();
        }
    }
}

/// Until the time is over tokens go through two bags, a few at a time, and all arrive. No token is
/// given before the earlier ones have arrived, so that no later signal can replace one that was
/// lost. In every other run no waiter has a deadline, because a deadline could also replace a
/// signal; in the other runs deadlines race with signals.
pub fn run<P: Host>(duration: Duration, seed: u64) -> u64 {
    let bags = [Bag::<P>::new(), Bag::<P>::new()];
    let [over_first, over_second] = [AtomicBool::new(false), AtomicBool::new(false)];
    let (given, passed, taken) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let mut rng = Rng::with_seed(seed);
    let deadlines = rng.bool();
    thread::scope(|scope| {
        for number in 0..8 {
            let mut rng = rng.fork();
            let (bags, passed, taken) = (&bags, &passed, &taken);
            let (over_first, over_second) = (&over_first, &over_second);
            scope.spawn(move || {
                if number % 2 == 0 {
                    while bags[0].take(&mut rng, deadlines, over_first) {
                        bags[1].give(1, &mut rng);
                        passed.fetch_add(1, Ordering::Relaxed);
                    }
                } else {
                    while bags[1].take(&mut rng, deadlines, over_second) {
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let start = Instant::now();
        while start.elapsed() < duration {
            for _ in 0..rng.u32(1..30) {
                let count = rng.u64(1..4);
                bags[0].give(count, &mut rng);
                given.fetch_add(count, Ordering::Relaxed);
            }
            let given = given.load(Ordering::Relaxed);
            for through in [&passed, &taken] {
                while through.load(Ordering::Relaxed) < given {
                    thread::sleep(Duration::from_micros(10));
                }
            }
        }
        for bag in &bags {
            assert_eq!(bag.with(|tokens| *tokens), 0);
        }
        for (bag, over) in bags.iter().zip([&over_first, &over_second]) {
            bag.with(|_| over.store(true, Ordering::Relaxed));
            bag.notified.fetch_add(bag.filled.notify_all(), Ordering::Relaxed);
        }
    });
    for bag in bags {
        let (notified, heard) = (bag.notified.into_inner(), bag.heard.into_inner());
        assert_eq!(heard, notified, "as many waits were notified as the notifiers were told");
    }
    assert_eq!(given.load(Ordering::Relaxed), taken.load(Ordering::Relaxed));
    given.into_inner()
}
