//! A crowd: threads that come and go, and lock and unlock few locks in every way. Each section is logged.

use std::cell::RefCell;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Timestamp};

use super::checker::{Fault, OVERDUE_AFTER, Report, check};
use super::delay::Delays;
use super::disturb::{Place, waiting};
use super::log::{Guarded, How, Log, Section};

/// A lock, what it guards, and a condition variable.
pub struct Spot<P: Host> {
    mutex: RawMutex<P>,
    condvar: RawCondvar<P>,
    guarded: Guarded,
}

impl<P: Host> Spot<P> {
    pub fn new() -> Self {
        Self { mutex: RawMutex::new(), condvar: RawCondvar::new(), guarded: Guarded::default() }
    }
}

fn now<P: Host>() -> u64 {
    P::now().as_nanos()
}

fn in_nanos<P: Host>(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(now::<P>() + nanos)
}

/// How long the sections of a crowd are, and the time between them.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// From nothing to some hundreds of microseconds, at random.
    Mixed,
    /// Sections of a few microseconds with nothing in between, which starve waiters.
    Rush,
    /// The same as a rush, but each thread wants one lock only, by its number. The first lock's sections
    /// are the shortest possible, those of the others take some tens of microseconds.
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
    /// Chances that a waiter may have before it has its lock. If this is `None`, bypass is not judged.
    pub most_chances: Option<f64>,
    pub seed: u64,
}

/// A thread of the crowd.
struct Visitor<'a, P: Host> {
    spots: &'a [Spot<P>],
    log: &'a mut Log,
    rng: Rng,
    delays: Delays,
    pace: Pace,
    /// Its number in the crowd.
    number: usize,
}

impl<P: Host> Visitor<'_, P> {
    /// Begins a section of a lock that it has just acquired.
    fn begin(&mut self, lock: usize, how: How, attempt: u64) -> Section {
        // SAFETY: this thread owns the lock, and ends the section before it unlocks.
        let mut section = unsafe { self.spots[lock].guarded.begin::<P>(lock, how, attempt) };
        if section.acquired - attempt > OVERDUE_AFTER {
            section.delayed = self.delays.since_last();
        }
        section
    }

    fn end(&mut self, section: Section) {
        let spot = &self.spots[section.lock as usize];
        // SAFETY: this thread has owned the lock since `begin`.
        unsafe { spot.guarded.end::<P>(section, &mut self.rng, self.log) };
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
            return Some(self.begin(lock, How::Lock, attempt));
        }
        let (how, acquired) = match rng.u32(0..12) {
            0..5 => {
                waiting(|| mutex.lock());
                (How::Lock, true)
            }
            5 => (How::Attempt, mutex.try_lock()),
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
                (How::Deadline, waiting(|| mutex.try_lock_until(deadline)))
            }
        };
        if !acquired {
            self.log.miss();
            return None;
        }
        Some(self.begin(lock, how, attempt))
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
            // The condition is signalled now and then, and at the end until all threads have left.
            let deadline = (choice != 0).then(|| in_nanos::<P>(self.rng.u64(0..1_000_000)));
            self.end(section);
            // SAFETY: this thread owns the lock.
            waiting(|| unsafe { spot.condvar.wait(&spot.mutex, deadline) });
            section = self.begin(lock, How::Condition, now::<P>());
        } else if choice == 3 {
            self.end(section);
            let attempt = now::<P>();
            // SAFETY: this thread owns the lock.
            waiting(|| unsafe { spot.mutex.bump() });
            section = self.begin(lock, How::Bump, attempt);
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

    /// A last section, which ends in the destructor of a thread-local value.
    fn leave_late(mut self) {
        let lock = self.choose();
        let attempt = now::<P>();
        self.spots[lock].mutex.lock();
        let section = self.begin(lock, How::Lock, attempt);
        at_exit(move || {
            self.work(lock);
            self.end(section);
            // SAFETY: this thread owns the lock.
            unsafe { self.spots[lock].mutex.unlock() };
            self.visit();
        });
    }
}

thread_local! {
    static AT_EXIT: RefCell<Option<AtExit>> = const { RefCell::new(None) };
}

struct AtExit(Option<Box<dyn FnOnce()>>);

impl Drop for AtExit {
    fn drop(&mut self) {
        if let Some(last) = self.0.take() {
            last();
        }
    }
}

/// Runs `last` when the destructors of the calling thread's own values run. That thread must be joined
/// while the values that `last` refers to exist, which [`run`] does.
fn at_exit<'a>(last: impl FnOnce() + 'a) {
    let last: Box<dyn FnOnce() + 'a> = Box::new(last);
    // SAFETY: only the lifetime changes. The thread is joined after its destructors have run, and while the
    // borrowed values exist.
    let last: Box<dyn FnOnce()> = unsafe { mem::transmute(last) };
    AT_EXIT.set(Some(AtExit(Some(last))));
}

/// How many sections the logs of a crowd have room for together.
const ROOM: usize = 2 << 20;

/// Runs a crowd until its time is over or its logs are full, and checks its logs.
///
/// Each thread that starts the crowd's threads one after the other first calls `begin`, with its number.
pub fn run<P: Host>(crowd: &Crowd, begin: impl Fn(usize) + Sync) -> Result<Report, Fault> {
    let mut spots: Vec<Spot<P>> = (0..crowd.locks).map(|_| Spot::new()).collect();
    let mut logs: Vec<Log> =
        (0..crowd.threads).map(|_| Log::with_room_for(ROOM / crowd.threads)).collect();
    let (over, gone) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for (number, log) in logs.iter_mut().enumerate() {
            let (spots, over, gone, begin) = (&spots, &over, &gone, &begin);
            scope.spawn(move || {
                begin(number);
                let mut rng = Rng::with_seed(crowd.seed ^ (number as u64) << 32);
                while !over.load(Ordering::Relaxed) {
                    live(crowd, number, spots, log, rng.fork(), over);
                    if log.is_full() {
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
        sections += spot.guarded.sections() as usize;
    }
    assert_eq!(report.sections, sections, "{crowd:?}: sections without an entry in a log");
    Ok(report)
}

/// A thread comes, visits, and goes, while others wait.
fn live<P: Host>(
    crowd: &Crowd,
    number: usize,
    spots: &[Spot<P>],
    log: &mut Log,
    mut rng: Rng,
    over: &AtomicBool,
) {
    thread::scope(|scope| {
        let life = scope.spawn(move || {
            let _place = Place::take();
            let visits = rng.u32(1..=crowd.life);
            let leaves_late = rng.u32(0..4) == 0;
            let delays = Delays::new();
            let mut visitor = Visitor { spots, log, rng, delays, pace: crowd.pace, number };
            for _ in 0..visits {
                if over.load(Ordering::Relaxed) || visitor.log.is_full() {
                    break;
                }
                visitor.visit();
            }
            if leaves_late {
                visitor.leave_late();
            }
        });
        life.join().expect("it ends well");
    });
}
