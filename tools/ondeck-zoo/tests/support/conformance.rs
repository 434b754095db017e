//! The promises of a lock and of its condition variable, as checks on the real machine that report
//! which lock broke which.
//!
//! A check runs its threads under a watchdog: when none of them has made progress for `hang_after`,
//! the lock is reported as hung, and its threads are abandoned. There is no other assertion on
//! time. The numbers that the lock guards are read and written by separate atomic accesses, so that
//! an overlap of two sections is a lost update and no race.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use ondeck::platform::{Native, Platform};
use ondeck_zoo::{Fairness, RawCondvar, RawLock, Waiting};

mod rounds;

use rounds::most_rounds;

/// The promises that are checked one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Sections of up to sixteen threads never overlap, whether the threads wait or attempt; all
    /// threads get through, and leave no trace in the lock.
    Exclusion,
    /// An attempt acquires a free lock and not a held one. A held lock is not at rest, and a free
    /// one is.
    TryLock,
    /// At a full or empty queue, notify_one lets one thread continue, and no item is lost or read
    /// twice.
    Queue,
    /// notify_all ends the wait of up to fifteen threads.
    Broadcast,
}

impl Property {
    pub const ALL: [Self; 4] = [Self::Exclusion, Self::TryLock, Self::Queue, Self::Broadcast];
}

/// Checks one property with one thread and more. An error names the lock.
pub fn check<L: RawLock<Native>>(property: Property, hang_after: Duration) -> Result<(), String> {
    type Check = fn(usize, Duration) -> Result<(), String>;
    let (threads, check): (&[usize], Check) = match property {
        Property::Exclusion => (&[1, 2, 4, 8, 16], exclusion::<L>),
        Property::TryLock => (&[1], attempts::<L>),
        Property::Queue => (&[2, 4, 8], queue::<L>),
        Property::Broadcast => (&[2, 3, 8, 16], broadcast::<L>),
    };
    threads.iter().try_for_each(|&threads| {
        let name = L::INFO.name;
        let told = |what| format!("{name} fails {property:?} with {threads} threads: {what}");
        check(threads, hang_after).map_err(told)
    })
}

/// A lock, the data that it guards, the number of threads, and a sign of life for the watchdog.
struct Stage<L, T> {
    lock: L,
    guarded: T,
    threads: usize,
    progress: AtomicU64,
}

impl<L: RawLock<Native>, T: Send + Sync + 'static> Stage<L, T> {
    /// Runs `body` in threads that start together, and returns the first error of any. A hang is an
    /// error, and abandons the threads. When they have ended, the lock shows no trace of them.
    fn run(
        threads: usize,
        hang_after: Duration,
        guarded: T,
        body: fn(&Self, usize) -> Result<(), String>,
    ) -> Result<T, String> {
        let progress = AtomicU64::new(0);
        let stage = Arc::new(Self { lock: L::new(), guarded, threads, progress });
        let thread = {
            let stage = Arc::clone(&stage);
            Arc::new(move |index| body(&stage, index))
        };
        watched(threads, hang_after, &|| stage.progress.load(Relaxed), thread)?;
        let mut stage = Arc::into_inner(stage).ok_or("a thread is still there")?;
        if stage.lock.is_idle() {
            Ok(stage.guarded)
        } else {
            Err("the lock is not at rest after use".into())
        }
    }

    fn got_on(&self) {
        self.progress.fetch_add(1, Relaxed);
    }
}

/// Runs the threads, and watches their progress. Compiled once, and not for each lock in each
/// check.
fn watched(
    threads: usize,
    hang_after: Duration,
    progress: &dyn Fn() -> u64,
    thread: Arc<dyn Fn(usize) -> Result<(), String> + Send + Sync>,
) -> Result<(), String> {
    let start = Arc::new(Barrier::new(threads));
    // Nothing is ever sent: the channel closes when the last thread has ended.
    let (alive, all_ended) = mpsc::channel::<()>();
    let begin = |index| {
        let (thread, start, alive) = (Arc::clone(&thread), Arc::clone(&start), alive.clone());
        thread::spawn(move || {
            let _alive = alive;
            start.wait();
            thread(index)
        })
    };
    let handles: Vec<_> = (0..threads).map(begin).collect();
    // The stage is only the caller's when all threads have ended.
    drop((thread, alive));
    let mut seen = progress();
    while all_ended.recv_timeout(hang_after) == Err(RecvTimeoutError::Timeout) {
        let now = progress();
        if now == seen {
            let ended = handles.iter().filter(|handle| handle.is_finished()).count();
            let what = format!("no progress for {hang_after:?} after {now} steps");
            return Err(format!("{what}, {ended} threads have ended"));
        }
        seen = now;
    }
    handles
        .into_iter()
        .try_for_each(|handle| handle.join().unwrap_or_else(|_| Err("a thread panicked".into())))
}

/// Whether a waiter keeps an owner that is off its CPU from running.
fn hogs<L: RawLock<Native>>() -> bool {
    L::INFO.waiting == Waiting::Spins
}

/// Whether, with more threads than CPUs, the lock changes hands only about once in a time slice:
/// the next thread in order is not running, and the running threads spin.
fn convoys<L: RawLock<Native>>(threads: usize) -> bool {
    hogs::<L>() && L::INFO.fairness != Fairness::Barging && threads > 2
}

/// How often each of `threads` threads locks; `ONDECK_TEST_ROUNDS` at most, if it is set.
fn rounds<L: RawLock<Native>>(threads: usize) -> u64 {
    let all: usize = match threads {
        // Up to 20 ms for each on a busy machine.
        _ if convoys::<L>(threads) => 96,
        0..=2 => 4_000,
        _ => 6_000,
    };
    ((all / threads) as u64).min(most_rounds())
}

/// Adds to a number that a lock guards, and stays in the section long enough to meet another thread
/// there.
fn add<L: RawLock<Native>>(number: &AtomicU64, change: i64, round: u64, threads: usize) -> u64 {
    let before = number.load(Relaxed);
    // Where there are few sections each is long, which is nothing compared with the wait for it.
    Native::pause_times(if convoys::<L>(threads) { 2_000 } else { 20 });
    if round.is_multiple_of(16) && (threads <= 2 || !hogs::<L>()) {
        thread::yield_now();
    }
    number.store(before.wrapping_add_signed(change), Relaxed);
    before
}

/// Each second thread attempts at every other round, until it has the lock.
fn exclusion<L: RawLock<Native>>(threads: usize, hang_after: Duration) -> Result<(), String> {
    let count = Stage::<L, _>::run(threads, hang_after, AtomicU64::new(0), |stage, thread| {
        let context = L::Context::default();
        for round in 0..rounds::<L>(stage.threads) {
            let attempts = (thread as u64 + round) % 4 == 1;
            // SAFETY: the context stays here and serves one acquisition at a time, and each unlock
            // matches it.
            unsafe {
                if attempts {
                    while !stage.lock.try_lock(&context) {
                        thread::yield_now();
                    }
                } else {
                    stage.lock.lock(&context);
                }
                add::<L>(&stage.guarded, 1, round, stage.threads);
                stage.lock.unlock(&context);
            }
            stage.got_on();
        }
        Ok(())
    })?;
    let (expected, counted) = (rounds::<L>(threads) * threads as u64, count.into_inner());
    if counted == expected {
        Ok(())
    } else {
        Err(format!("two threads were in at once: {counted} of {expected} increments are left"))
    }
}

/// An attempt may occasionally fail although the lock is free, but not this often.
const ATTEMPTS: u32 = 100;

/// The results of attempts while no other thread uses the lock, which is moved between its uses.
fn attempts<L: RawLock<Native>>(_: usize, hang_after: Duration) -> Result<(), String> {
    let alone = |_: &Stage<L, ()>, _| {
        let try_here = |lock: &L| {
            let context = L::Context::default();
            // SAFETY: the context stays here, and the unlock matches the acquisition.
            (0..ATTEMPTS).any(|_| unsafe {
                lock.try_lock(&context) && {
                    lock.unlock(&context);
                    true
                }
            })
        };
        let try_elsewhere = |lock: &L| {
            let attempt = || try_here(lock);
            thread::scope(|scope| scope.spawn(attempt).join()).expect("it does not panic")
        };
        let (context, mut locks) = (L::Context::default(), Vec::<L>::new());
        for used in 0..3 {
            locks.push(L::new());
            let lock = &mut locks[0];
            if !lock.is_idle() {
                return Err(format!("it is not at rest after {used} uses"));
            }
            if [try_here(lock), try_elsewhere(lock)] != [true; 2] {
                return Err(format!("{ATTEMPTS} attempts at a free lock, after {used} uses"));
            }
            for waits in [true, false] {
                // SAFETY: the context stays here, and each unlock matches its acquisition.
                unsafe {
                    if waits {
                        lock.lock(&context);
                    } else if !(0..ATTEMPTS).any(|_| lock.try_lock(&context)) {
                        continue;
                    }
                    let stolen = try_elsewhere(lock);
                    let rests = lock.is_idle();
                    lock.unlock(&context);
                    if stolen || rests {
                        return Err(format!(
                            "while it was held: attempt {stolen}, at rest {rests}"
                        ));
                    }
                }
            }
        }
        Ok(())
    };
    Stage::<L, ()>::run(1, hang_after, (), alone)
}

/// Half of the threads put items into a queue with room for two, half take them out.
fn queue<L: RawLock<Native>>(threads: usize, hang_after: Duration) -> Result<(), String> {
    const ROOM: u64 = 2;
    let guarded = (AtomicU64::new(0), L::Condvar::new(), L::Condvar::new());
    let (inside, ..) = Stage::<L, _>::run(threads, hang_after, guarded, |stage, thread| {
        let (context, (inside, not_full, not_empty)) = (L::Context::default(), &stage.guarded);
        let puts = thread % 2 == 0;
        let (wait_on, notify) = if puts { (not_full, not_empty) } else { (not_empty, not_full) };
        let is_time = |inside| if puts { inside < ROOM } else { inside > 0 };
        for round in 0..rounds::<L>(stage.threads) / 2 {
            // SAFETY: the context is this thread's own and stays where it is; the condition
            // variables are of this stage.
            unsafe {
                stage.lock.lock(&context);
                while !is_time(inside.load(Relaxed)) {
                    wait_on.wait(&stage.lock, &context);
                }
                add::<L>(inside, if puts { 1 } else { -1 }, round, stage.threads);
                if round % 2 == 0 {
                    notify.notify_one();
                }
                stage.lock.unlock(&context);
            }
            if round % 2 == 1 {
                notify.notify_one();
            }
            stage.got_on();
        }
        Ok(())
    })?;
    match inside.into_inner() {
        0 => Ok(()),
        left => Err(format!("as many were taken as put, and {left} are left")),
    }
}

/// All threads meet repeatedly; the last to arrive lets the others continue.
fn broadcast<L: RawLock<Native>>(threads: usize, hang_after: Duration) -> Result<(), String> {
    let guarded = (AtomicU64::new(0), L::Condvar::new());
    Stage::<L, _>::run(threads, hang_after, guarded, |stage, _| {
        let (context, (came, all)) = (L::Context::default(), &stage.guarded);
        let threads = stage.threads as u64;
        // All notified threads want the lock at once, and most of them are not running.
        let meetings = rounds::<L>(stage.threads) / if hogs::<L>() { 64 } else { 2 };
        for meeting in 0..meetings.max(2) {
            // SAFETY: the context is this thread's own and stays where it is; the condition
            // variable is of this stage.
            unsafe {
                stage.lock.lock(&context);
                let last = add::<L>(came, 1, meeting, stage.threads) + 1 == (meeting + 1) * threads;
                if last && meeting % 2 == 0 {
                    all.notify_all();
                }
                while came.load(Relaxed) < (meeting + 1) * threads {
                    all.wait(&stage.lock, &context);
                }
                stage.lock.unlock(&context);
                if last && meeting % 2 == 1 {
                    all.notify_all();
                }
            }
            stage.got_on();
        }
        Ok(())
    })
    .map(drop)
}
