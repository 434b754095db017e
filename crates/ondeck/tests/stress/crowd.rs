//! A crowd: threads that come and go, and lock and unlock a few locks in every way. Each section is
//! logged.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Timestamp};

use super::checker::{Fault, OVERDUE_AFTER, Report, Section, check};
use super::delay::Delays;
use super::disturb::{Place, waiting};

/// A lock, a condition variable, and the number of sections so far.
pub struct Spot<P: Host> {
    mutex: RawMutex<P>,
    condvar: RawCondvar<P>,
    sections: UnsafeCell<usize>,
}

// SAFETY: only the owner of the lock accesses the count, which the tests check.
unsafe impl<P: Host> Sync for Spot<P> {}

impl<P: Host> Spot<P> {
    pub fn new() -> Self {
        Self { mutex: RawMutex::new(), condvar: RawCondvar::new(), sections: UnsafeCell::new(0) }
    }
}

fn now<P: Host>() -> u64 {
    P::now().as_nanos()
}

fn in_nanos<P: Host>(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(now::<P>() + nanos)
}

/// The length of a crowd's sections, and the time between them.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// From nothing to some hundreds of microseconds, at random.
    Mixed,
    /// Sections of a few microseconds with nothing in between, which starve waiters.
    Rush,
    /// The same as a rush, but each thread wants only one lock, selected by its number. The first lock's
    /// sections are the shortest possible; sections of the others take some tens of microseconds.
    Uneven,
}

/// A crowd.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    pub threads: usize,
    pub locks: usize,
    pub pace: Pace,
    /// The most sections that one thread of the crowd has before another takes its place.
    pub life: u32,
    pub duration: Duration,
    /// The chances that a waiter may have before it acquires its lock. If this is `None`, bypass is not
    /// judged.
    pub most_chances: Option<f64>,
    pub seed: u64,
}

/// A thread of the crowd.
struct Visitor<'a, P: Host> {
    spots: &'a [Spot<P>],
    log: &'a mut Vec<Section>,
    rng: Rng,
    delays: Delays,
    pace: Pace,
    /// Its number in the crowd.
    number: usize,
}

impl<P: Host> Visitor<'_, P> {
    /// Begins a section of a lock that it has just acquired.
    fn begin(&mut self, lock: usize, attempt: u64) -> Section {
        let acquired = now::<P>();
        // SAFETY: this thread owns the lock.
        let ticket = unsafe { *self.spots[lock].sections.get() };
        let overdue = acquired - attempt > OVERDUE_AFTER;
        let delayed = if overdue { self.delays.since_last() } else { 0 };
        Section { lock, ticket, attempt, acquired, delayed, ..Section::default() }
    }

    /// Ends a section. The caller is about to unlock.
    fn end(&mut self, section: Section) {
        // SAFETY: this thread has owned the lock since `begin`.
        unsafe { *self.spots[section.lock].sections.get() = section.ticket + 1 };
        assert!(self.log.len() < self.log.capacity(), "no allocation in a section");
        self.log.push(Section { unlocked: now::<P>(), ..section });
    }

    /// The work in a section.
    fn work(&mut self, lock: usize) {
        let rng = &mut self.rng;
        match self.pace {
            Pace::Uneven if lock == 0 => {}
            Pace::Uneven => (0..rng.u32(500..1500)).for_each(|_| std::hint::spin_loop()),
            Pace::Rush => (0..rng.u32(50..150)).for_each(|_| std::hint::spin_loop()),
            Pace::Mixed => match rng.u32(0..400) {
                0 => thread::yield_now(),
                1 => thread::sleep(Duration::from_micros(rng.u64(0..300))),
                2..40 => (0..rng.u32(0..200)).for_each(|_| std::hint::spin_loop()),
                _ => {}
            },
        }
    }

    /// Acquires a lock in a way drawn at random.
    fn acquire(&mut self, lock: usize) -> Option<Section> {
        let mutex = &self.spots[lock].mutex;
        let attempt = now::<P>();
        let rng = &mut self.rng;
        if !matches!(self.pace, Pace::Mixed) {
            waiting(|| mutex.lock());
            return Some(self.begin(lock, attempt));
        }
        let acquired = match rng.u32(0..12) {
            0..5 => {
                waiting(|| mutex.lock());
                true
            }
            5 => mutex.try_lock(),
            choice => {
                let deadline = match choice {
                    6 => Timestamp::from_nanos(0),
                    // About the time until a thread stops polling, or until a woken one runs.
                    7..9 => in_nanos::<P>(rng.u64(0..60_000)),
                    // About the time after which a parked thread is handed the lock.
                    9 => in_nanos::<P>(rng.u64(OVERDUE_AFTER - 200_000..OVERDUE_AFTER + 200_000)),
                    10 => in_nanos::<P>(rng.u64(0..3_000_000)),
                    _ => in_nanos::<P>(3_600_000_000_000),
                };
                waiting(|| mutex.try_lock_until(deadline))
            }
        };
        acquired.then(|| self.begin(lock, attempt))
    }

    /// The lock to visit next.
    fn choose(&mut self) -> usize {
        match self.pace {
            Pace::Uneven => self.number % self.spots.len(),
            _ => self.rng.usize(..self.spots.len()),
        }
    }

    /// One visit of a lock.
    fn visit(&mut self) {
        let lock = self.choose();
        let spot = &self.spots[lock];
        let Some(mut section) = self.acquire(lock) else { return };
        self.work(lock);
        let choice = if matches!(self.pace, Pace::Mixed) { self.rng.u32(0..60) } else { 99 };
        if choice < 3 {
            // The condition is signalled from time to time, and at the end until all threads have left.
            let deadline = (choice != 0).then(|| in_nanos::<P>(self.rng.u64(0..1_000_000)));
            self.end(section);
            // SAFETY: this thread owns the lock.
            waiting(|| unsafe { spot.condvar.wait(&spot.mutex, deadline) });
            section = Section { notified: true, ..self.begin(lock, now::<P>()) };
        } else if choice == 3 {
            self.end(section);
            let attempt = now::<P>();
            // SAFETY: this thread owns the lock.
            waiting(|| unsafe { spot.mutex.bump() });
            section = self.begin(lock, attempt);
            self.work(lock);
        }
        match choice {
            4 => _ = spot.condvar.notify_all(),
            5..9 => _ = spot.condvar.notify_one(),
            _ => {}
        }
        self.end(section);
        if choice == 9 {
            // SAFETY: this thread owns the lock.
            unsafe { spot.mutex.unlock_fair() };
        } else {
            // SAFETY: this thread owns the lock.
            unsafe { spot.mutex.unlock() };
        }
        if (10..14).contains(&choice) {
            spot.condvar.notify_one();
        }
    }
}

/// The total number of sections for which the logs of a crowd have room.
const ROOM: usize = 2 << 20;

/// Returns whether a log has hardly any room left.
fn is_full(log: &Vec<Section>) -> bool {
    /// More sections than are logged between two calls of this function.
    const RESERVE: usize = 16;
    log.len() + RESERVE > log.capacity()
}

/// Runs a crowd until its time is over or its logs are full, and checks its logs.
///
/// Each thread that starts the crowd's threads one after the other first calls `begin`, with its number.
pub fn run<P: Host>(crowd: &Crowd, begin: impl Fn(usize) + Sync) -> Result<Report, Fault> {
    let mut spots: Vec<Spot<P>> = (0..crowd.locks).map(|_| Spot::new()).collect();
    let mut logs: Vec<Vec<Section>> =
        (0..crowd.threads).map(|_| Vec::with_capacity(ROOM / crowd.threads)).collect();
    let (over, gone) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for (number, log) in logs.iter_mut().enumerate() {
            let (spots, over, gone, begin) = (&spots, &over, &gone, &begin);
            scope.spawn(move || {
                begin(number);
                let mut rng = Rng::with_seed(crowd.seed ^ (number as u64) << 32);
                while !over.load(Ordering::Relaxed) {
                    live(crowd, number, spots, log, rng.fork(), over);
                    if is_full(log) {
                        over.store(true, Ordering::Relaxed);
                    }
                }
                gone.fetch_add(1, Ordering::Release);
            });
        }
        let end = now::<P>() + crowd.duration.as_nanos() as u64;
        while !over.load(Ordering::Relaxed) && now::<P>() < end {
            thread::sleep(Duration::from_millis(2));
        }
        over.store(true, Ordering::Relaxed);
        while gone.load(Ordering::Acquire) < crowd.threads {
            for spot in &spots {
                spot.condvar.notify_all();
            }
            thread::sleep(Duration::from_micros(500));
        }
    });
    let report = check(&logs, crowd.locks, crowd.most_chances)?;
    let mut sections = 0;
    for spot in &mut spots {
        assert!(!spot.mutex.is_locked(), "{crowd:?}: a lock is left locked");
        assert!(
            !spot.condvar.has_waiters(),
            "{crowd:?}: a condition variable is left with waiters"
        );
        sections += *spot.sections.get_mut();
    }
    assert_eq!(report.sections, sections, "{crowd:?}: sections without an entry in a log");
    Ok(report)
}

/// A thread arrives, visits, and leaves, while others wait.
fn live<P: Host>(
    crowd: &Crowd,
    number: usize,
    spots: &[Spot<P>],
    log: &mut Vec<Section>,
    mut rng: Rng,
    over: &AtomicBool,
) {
    thread::scope(|scope| {
        let life = scope.spawn(move || {
            let _place = Place::take();
            let visits = rng.u32(1..=crowd.life);
            let delays = Delays::new();
            let mut visitor = Visitor { spots, log, rng, delays, pace: crowd.pace, number };
            for _ in 0..visits {
                if over.load(Ordering::Relaxed) || is_full(visitor.log) {
                    break;
                }
                visitor.visit();
            }
        });
        life.join().expect("it ends well");
    });
}
