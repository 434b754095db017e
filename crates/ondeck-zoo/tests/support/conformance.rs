//! The promises of a lock, as checks on the real machine that report which lock broke which.
//!
//! A check runs its threads under a watchdog: when none of them has made progress for longer than
//! [`Limits::hang_after`], the lock is reported as hung, and its threads are abandoned. There is no
//! other assertion on time.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ondeck::platform::{Native, Platform};
use ondeck_zoo::{Fairness, RawLock, Waiting};

mod condvars;
mod rounds;
mod stage;

use rounds::most_rounds;
use stage::{Plain, Stage};

/// The promises of a lock, and of its condition variable, that are checked one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Sections of up to sixteen threads never overlap, and all threads get through.
    Exclusion,
    /// An attempt acquires a free lock and not a held one, and excludes as `lock` does.
    TryLock,
    /// A thread that locks and unlocks while it waits for another's turn lets the other acquire the
    /// lock.
    Baton,
    /// A section sees all writes of the sections before it, and the writes before those.
    Publication,
    /// A lock keeps no trace of its use.
    Rest,
    /// Two threads that wait for each other's turn and notify each other always make progress.
    Signal,
    /// At a full or empty queue, notify_one lets one thread continue, and no item is lost or read
    /// twice.
    Queue,
    /// notify_all ends the wait of up to fifteen threads.
    Broadcast,
}

impl Property {
    pub const OF_LOCKS: [Self; 5] =
        [Self::Exclusion, Self::TryLock, Self::Baton, Self::Publication, Self::Rest];
    pub const OF_CONDVARS: [Self; 3] = [Self::Signal, Self::Queue, Self::Broadcast];
}

/// Time limits.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time without progress of any thread that counts as a hang.
    pub hang_after: Duration,
    /// The length of one long section: longer than any time-out that a lock may have by mistake.
    pub long_section: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { hang_after: Duration::from_mins(1), long_section: Duration::from_millis(20) }
    }
}

/// A lock that broke a promise.
#[derive(Debug)]
pub struct Failure {
    pub lock: &'static str,
    pub property: Property,
    pub threads: usize,
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lock, property, threads, what } = self;
        write!(f, "{lock} fails {property:?} with {threads} threads: {what}")
    }
}

/// Checks all properties; the first that does not hold is the error.
pub fn check<L: RawLock<Native>>(limits: Limits) -> Result<(), Failure> {
    let mut all = Property::OF_LOCKS.into_iter().chain(Property::OF_CONDVARS);
    all.try_for_each(|property| check_property::<L>(property, limits))
}

/// Checks one property with one thread and more.
pub fn check_property<L: RawLock<Native>>(
    property: Property,
    limits: Limits,
) -> Result<(), Failure> {
    type Check = fn(usize, Limits) -> Result<(), String>;
    let (threads, check): (&[usize], Check) = match property {
        Property::Exclusion => (&[1, 2, 4, 8, 16], exclusion::<L>),
        Property::TryLock => (&[1, 4], try_lock::<L>),
        Property::Baton => (&[1, 2, 3, 8, 16], baton::<L>),
        Property::Publication => (&[2, 4], publication::<L>),
        Property::Rest => (&[1, 2, 8], rest::<L>),
        Property::Signal => (&[2], condvars::signal::<L>),
        Property::Queue => (&[2, 4, 8], condvars::queue::<L>),
        Property::Broadcast => (&[2, 3, 8, 16], condvars::broadcast::<L>),
    };
    threads.iter().try_for_each(|&threads| {
        check(threads, limits).map_err(|what| Failure {
            lock: L::INFO.name,
            property,
            threads,
            what,
        })
    })
}

/// Whether a waiter keeps an owner that is off its CPU from running.
fn hogs<L: RawLock<Native>>() -> bool {
    L::INFO.waiting == Waiting::Spins
}

/// Whether, with more threads than CPUs, the lock changes hands only about once in a time slice: the
/// next thread in order is not running, and the running threads spin.
fn convoys<L: RawLock<Native>>(threads: usize) -> bool {
    // In cohort the threads of one NUMA node are also in order.
    let in_order = L::INFO.fairness != Fairness::Barging || L::INFO.name == "cohort";
    hogs::<L>() && in_order && threads > 2
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

/// Stays in a section long enough to meet another thread there.
fn linger<L: RawLock<Native>>(round: u64, threads: usize) {
    // Where there are few sections each is long, which is nothing compared with the wait for it.
    Native::pause_times(if convoys::<L>(threads) { 2_000 } else { 20 });
    if round.is_multiple_of(16) && (threads <= 2 || !hogs::<L>()) {
        thread::yield_now();
    }
}

fn exclusion<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    struct Counted {
        counter: Plain<u64>,
        threads: usize,
    }
    let stage = Stage::<L, _>::new(Counted { counter: Plain::new(0), threads });
    stage.run(threads, limits, |stage, _, _| {
        let context = L::Context::default();
        let threads = stage.guarded.threads;
        for round in 0..rounds::<L>(threads) {
            stage.with(&context, |Counted { counter, .. }| {
                let before = counter.get();
                linger::<L>(round, threads);
                counter.set(before + 1);
            });
            stage.got_on();
        }
        Ok(())
    })?;
    let (expected, counted) = (rounds::<L>(threads) * threads as u64, stage.guarded.counter.get());
    if counted == expected {
        Ok(())
    } else {
        Err(format!("two threads were in at once: {counted} of {expected} increments are left"))
    }
}

fn try_lock<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    if threads == 1 {
        return Stage::<L, _>::new(()).run(1, limits, |stage, _, _| attempts_alone(stage));
    }
    let stage = Stage::<L, _>::new(Plain::new(0));
    stage.run(threads, limits, |stage, thread, _| {
        // Half of the threads wait, half attempt, so that each way must exclude the other.
        let context = L::Context::default();
        for round in 0..rounds::<L>(4) / 4 {
            let count = |counter: &Plain<u64>| {
                let before = counter.get();
                linger::<L>(round, 4);
                counter.set(before + 1);
            };
            if L::INFO.has_try_lock && thread.is_multiple_of(2) {
                while stage.try_with(&context, count).is_none() {
                    thread::yield_now();
                }
            } else {
                stage.with(&context, count);
            }
            stage.got_on();
        }
        Ok(())
    })?;
    let (expected, counted) = (rounds::<L>(4) / 4 * threads as u64, stage.guarded.get());
    if counted == expected {
        Ok(())
    } else {
        Err(format!("attempts let two threads in: {counted} of {expected} increments are left"))
    }
}

/// The results of attempts while no other thread uses the lock.
fn attempts_alone<L: RawLock<Native>>(stage: &Stage<L, ()>) -> Result<(), String> {
    /// An attempt may occasionally fail although the lock is free, but not this often.
    const ATTEMPTS: u32 = 100;
    let try_here = || {
        let context = L::Context::default();
        (0..ATTEMPTS).any(|_| stage.try_with(&context, |()| ()).is_some())
    };
    let try_elsewhere =
        || thread::scope(|scope| scope.spawn(try_here).join()).expect("the attempt does not panic");
    let context = L::Context::default();
    let free = |succeeded: bool, when: &str| match (succeeded, L::INFO.has_try_lock) {
        (false, true) => Err(format!("{ATTEMPTS} attempts failed on a free lock, {when}")),
        (true, false) => Err(format!("an attempt succeeded, which it cannot do, {when}")),
        _ => Ok(()),
    };
    for _ in 0..3 {
        free(try_here(), "never used or used before")?;
        free(try_elsewhere(), "by another thread")?;
        if stage.with(&context, |()| try_elsewhere()) {
            return Err("an attempt succeeded while another thread held the lock".into());
        }
        free(try_elsewhere(), "after attempts that failed")?;
        if L::INFO.has_try_lock {
            let stolen = (0..ATTEMPTS)
                .find_map(|_| stage.try_with(&context, |()| try_elsewhere()))
                .ok_or("attempts failed on a free lock")?;
            if stolen {
                return Err("an attempt succeeded while an attempt held the lock".into());
            }
        }
        stage.got_on();
    }
    Ok(())
}

fn baton<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    struct Baton {
        turn: Plain<u64>,
        message: [Plain<u64>; 4],
        threads: u64,
        turns: u64,
    }
    fn message(turn: u64) -> [u64; 4] {
        [turn, !turn, turn * turn, turn << 32]
    }
    let turns = threads as u64 * if hogs::<L>() { 2 } else { 32 };
    let (turn, words) = (Plain::new(0), message(0).map(Plain::new));
    let baton = Baton { turn, message: words, threads: threads as u64, turns };
    let stage = Stage::<L, _>::new(baton);
    stage.run(threads, limits, |stage, thread, _| {
        let context = L::Context::default();
        let mut result = Ok(());
        loop {
            let over = stage.with(&context, |baton| {
                let turn = baton.turn.get();
                if turn < baton.turns && turn % baton.threads == thread as u64 {
                    let found = baton.message.each_ref().map(Plain::get);
                    if found != message(turn) {
                        result = Err(format!("turn {turn} found the message {found:?}"));
                    }
                    for (word, value) in baton.message.iter().zip(message(turn + 1)) {
                        word.set(value);
                    }
                    baton.turn.set(turn + 1);
                    stage.got_on();
                }
                turn == baton.turns
            });
            if over {
                return result;
            }
            thread::yield_now();
        }
    })
}

fn publication<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    const WORDS: usize = 16;
    struct Published {
        /// Equal to each other between sections.
        words: [Plain<u64>; WORDS],
        /// One word for each thread, written before it first locks.
        prepared: [Plain<u64>; 4],
        /// The threads that have locked, and so have prepared.
        announced: [Plain<bool>; 4],
    }
    let stage = Stage::<L, _>::new(Published {
        words: [0; WORDS].map(Plain::new),
        prepared: [0; 4].map(Plain::new),
        announced: [false; 4].map(Plain::new),
    });
    stage.run(threads, limits, |stage, thread, limits| {
        let context = L::Context::default();
        let mut result = Ok(());
        let mut last = 0;
        stage.guarded.prepared[thread].set(thread as u64 + 1);
        for round in 0..rounds::<L>(4) / 4 {
            stage.with(&context, |published| {
                let found = published.words.each_ref().map(Plain::get);
                if found != [found[0]; WORDS] || found[0] < last {
                    result = Err(format!("after {last} a section found {found:?}"));
                }
                published.announced[thread].set(true);
                for (other, announced) in published.announced.iter().enumerate() {
                    if announced.get() && published.prepared[other].get() != other as u64 + 1 {
                        result = Err(format!("what thread {other} wrote before is not seen"));
                    }
                }
                last = found[0] + 1;
                for (index, word) in published.words.iter().enumerate() {
                    word.set(last);
                    if index == WORDS / 2 {
                        if thread == 0 && round == 1 {
                            thread::sleep(limits.long_section);
                        }
                        linger::<L>(round, 4);
                    }
                }
            });
            stage.got_on();
        }
        result
    })
}

/// A held lock is not at rest, and a lock at rest may move.
fn rest_alone<L: RawLock<Native>>() -> Result<(), String> {
    let mut locks: Vec<L> = Vec::new();
    for _ in 0..4 {
        // Growing moves the locks that have been used.
        locks.push(L::new());
        for lock in &mut locks {
            let context = L::Context::default();
            // SAFETY: the context stays here and serves one acquisition; no other thread has the lock.
            let idle_while_held = unsafe {
                lock.lock(&context);
                let idle = lock.is_idle();
                lock.unlock(&context);
                idle
            };
            if idle_while_held || !lock.is_idle() {
                return Err(format!("at rest while it is held: {idle_while_held}"));
            }
        }
    }
    Ok(())
}

fn rest<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    if !L::new().is_idle() {
        return Err("a new lock is not at rest".into());
    }
    let stage = Stage::<L, _>::new(threads);
    stage.run(threads, limits, |stage, thread, _| {
        let context = L::Context::default();
        for round in 0..rounds::<L>(stage.guarded) / 4 {
            if (round + thread as u64).is_multiple_of(3) {
                let _ = stage.try_with(&context, |&threads| linger::<L>(round, threads));
            } else {
                stage.with(&context, |&threads| linger::<L>(round, threads));
            }
            stage.got_on();
        }
        Ok(())
    })?;
    at_rest(stage)?;
    if threads == 1 { rest_alone::<L>() } else { Ok(()) }
}

/// When its threads have ended, the lock shows no trace of them.
fn at_rest<L: RawLock<Native>, T>(stage: Arc<Stage<L, T>>) -> Result<(), String> {
    let mut stage = Arc::into_inner(stage).ok_or("a thread is still there")?;
    if stage.lock.is_idle() { Ok(()) } else { Err("the lock is not at rest after use".into()) }
}
