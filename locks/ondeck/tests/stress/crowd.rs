//! A crowd: threads that come and go, and lock and unlock a few locks in every way.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Timestamp};

/// A lock, a condition variable, and the number of sections so far.
struct Spot<P: Host> {
    mutex: RawMutex<P>,
    condvar: RawCondvar<P>,
    sections: UnsafeCell<u64>,
}

// SAFETY: only the owner of the lock accesses the number.
unsafe impl<P: Host> Sync for Spot<P> {}

fn in_nanos<P: Host>(nanos: u64) -> Timestamp {
    P::now().after(Duration::from_nanos(nanos))
}

#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    pub threads: usize,
    pub locks: usize,
    /// The most visits of one thread before another takes its place.
    pub life: u32,
    pub duration: Duration,
    pub seed: u64,
}

/// Acquires a lock in a way drawn at random. Returns whether it did.
fn acquire<P: Host>(mutex: &RawMutex<P>, rng: &mut Rng) -> bool {
    /// The time for which a waiter is parked before it is handed the lock.
    const OVERDUE_AFTER: u64 = 1_000_000;
    let deadline = match rng.u32(0..12) {
        0..5 => {
            mutex.lock();
            return true;
        }
        5 => return mutex.try_lock(),
        6 => Timestamp::from_nanos(0),
        // About the time until a thread stops polling, or until a woken one runs.
        7..9 => in_nanos::<P>(rng.u64(0..60_000)),
        9 => in_nanos::<P>(rng.u64(OVERDUE_AFTER - 200_000..OVERDUE_AFTER + 200_000)),
        10 => in_nanos::<P>(rng.u64(0..3_000_000)),
        _ => in_nanos::<P>(3_600_000_000_000),
    };
    mutex.try_lock_until(deadline)
}

impl<P: Host> Spot<P> {
    fn new() -> Self {
        Self { mutex: RawMutex::new(), condvar: RawCondvar::new(), sections: UnsafeCell::new(0) }
    }

    /// Runs a section of the lock's owner. Returns the number of sections: one.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    unsafe fn own(&self, rng: &mut Rng) -> u64 {
        // SAFETY: as the caller promises.
        let before = unsafe { *self.sections.get() };
        match rng.u32(0..400) {
            0 => thread::yield_now(),
            1 => thread::sleep(Duration::from_micros(rng.u64(0..300))),
            2..40 => (0..rng.u32(0..200)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
        // SAFETY: the same.
        unsafe { *self.sections.get() = before + 1 };
        1
    }

    /// Visits the lock once. Returns the number of sections.
    fn visit(&self, rng: &mut Rng) -> u64 {
        if !acquire(&self.mutex, rng) {
            return 0;
        }
        let choice = rng.u32(0..60);
        // SAFETY: this thread owns the lock, also after a wait and after a bump.
        let sections = unsafe {
            let mut sections = self.own(rng);
            match choice {
                0..3 => {
                    // The condition is signalled from time to time, and at the end until all
                    // threads have left.
                    let deadline = (choice != 0).then(|| in_nanos::<P>(rng.u64(0..1_000_000)));
                    self.condvar.wait(&self.mutex, deadline);
                    sections += self.own(rng);
                }
                3 => {
                    self.mutex.bump();
                    sections += self.own(rng);
                }
                4 => _ = self.condvar.notify_all(),
                5..9 => _ = self.condvar.notify_one(),
                _ => {}
            }
            if choice == 9 {
                self.mutex.unlock_fair();
            } else {
                self.mutex.unlock();
            }
            sections
        };
        if (10..14).contains(&choice) {
            self.condvar.notify_one();
        }
        sections
    }
}

/// Runs a crowd until its time is over. Returns the number of sections.
///
/// Each thread that starts the crowd's threads one after the other first calls `begin`, with its
/// number.
pub fn run<P: Host>(crowd: &Crowd, begin: impl Fn(usize) + Sync) -> u64 {
    let mut spots: Vec<Spot<P>> = (0..crowd.locks).map(|_| Spot::new()).collect();
    let (over, gone, counted) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicU64::new(0));
    let is_over = || over.load(Ordering::Relaxed);
    // A thread arrives, visits, and leaves, while others wait.
    let live = |mut rng: Rng| {
        for _ in 0..rng.u32(1..=crowd.life) {
            if is_over() {
                break;
            }
            let sections = spots[rng.usize(..spots.len())].visit(&mut rng);
            counted.fetch_add(sections, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for number in 0..crowd.threads {
            let (begin, live, gone, is_over) = (&begin, &live, &gone, &is_over);
            scope.spawn(move || {
                begin(number);
                let mut rng = Rng::with_seed(crowd.seed ^ (number as u64) << 32);
                while !is_over() {
                    let rng = rng.fork();
                    let ended = thread::scope(|scope| scope.spawn(move || live(rng)).join());
                    ended.expect("it ends well");
                }
                gone.fetch_add(1, Ordering::Release);
            });
        }
        thread::sleep(crowd.duration);
        over.store(true, Ordering::Relaxed);
        while gone.load(Ordering::Acquire) < crowd.threads {
            for spot in &spots {
                spot.condvar.notify_all();
            }
            thread::sleep(Duration::from_micros(500));
        }
    });
    let mut sections = 0;
    for spot in &mut spots {
        assert!(!spot.mutex.is_locked(), "{crowd:?}: a lock is left locked");
        assert!(
            !spot.condvar.has_waiters(),
            "{crowd:?}: a condition variable is left with waiters"
        );
        sections += *spot.sections.get_mut();
    }
    assert_eq!(sections, counted.into_inner(), "{crowd:?}: two owners at once");
    sections
}
