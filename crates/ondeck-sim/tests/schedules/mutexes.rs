//! Scenarios of a mutex and of its condition variable, for every lock of the zoo.

use std::cell::Cell;
use std::rc::Rc;

use ondeck::platform::{Platform, Threads};
use ondeck_sim::check::{Judge, Scenario};
use ondeck_sim::engine::{Job, Sim};
use ondeck_zoo::{Fairness, RawCondvar, RawLock, Visitor};

use super::shared::{Apart, crew, shared};

/// Collects the scenarios of the locks that it visits.
#[derive(Debug, Default)]
pub struct Mutexes(pub Vec<Scenario>);

impl Visitor<Sim> for Mutexes {
    fn visit<L: RawLock<Sim>>(&mut self) {
        let scenario = |what, threads: fn(&Judge) -> Vec<Job>| {
            Scenario::new(format!("{}/{what}", L::INFO.name), threads)
        };
        self.0.push(scenario("sections", sections::<L>));
        self.0.push(scenario("condvar", buffer::<L>));
        let is_bounded = matches!(L::INFO.fairness, Fairness::Fifo | Fairness::Bounded);
        if is_bounded {
            // The scenario counts turns, and late wakes make turns long.
            self.0.push(Scenario { patience: 10, ..scenario("bounded", bounded::<L>) });
        }
    }
}

const THREADS: usize = 5;
const PAIRS: u64 = 3;

/// The work of a section, or outside of sections: mostly short, sometimes long, sometimes a sleep.
pub(super) fn some_work() {
    if Sim::once_in(12) {
        Sim::work(15_000.0);
    } else if Sim::once_in(16) {
        Sim::sleep(2_000);
    } else if Sim::once_in(2) {
        Sim::work(150.0);
    }
}

/// Threads lock and unlock, sometimes after an attempt. At the end the lock is in its initial state.
fn sections<L: RawLock<Sim>>(judge: &Judge) -> Vec<Job> {
    let lock = shared(L::new());
    judge.expect_sections(THREADS as u64 * PAIRS);
    let jobs = {
        let lock = lock.clone();
        crew(judge, THREADS, move |judge, _| {
            let context = Apart(L::Context::default());
            for _ in 0..PAIRS {
                // SAFETY: the context stays here and serves one acquisition at a time.
                let attempted =
                    L::INFO.has_try_lock && Sim::once_in(3) && unsafe { lock.try_lock(&context) };
                if !attempted {
                    // SAFETY: as above; the attempt, if there was one, failed.
                    unsafe { lock.lock(&context) };
                }
                judge.alone(some_work);
                // SAFETY: acquired above with this context.
                unsafe { lock.unlock(&context) };
                some_work();
            }
        })
    };
    judge.at_the_end(move |_| {
        let mut lock = Rc::into_inner(lock)?;
        (!lock.0.is_idle()).then(|| "a mark is left in the lock when all threads have ended".into())
    });
    jobs
}

/// Producers and consumers meet at a buffer of two, with a condition variable for each side.
fn buffer<L: RawLock<Sim>>(judge: &Judge) -> Vec<Job> {
    const ROOM: usize = 2;
    const ITEMS: usize = 4;
    struct Buffer<L: RawLock<Sim>> {
        lock: L,
        items: Apart<L::Condvar>,
        room: Apart<L::Condvar>,
        inside: Cell<usize>,
    }
    let buffer = shared(Buffer::<L> {
        lock: L::new(),
        items: Apart(L::Condvar::new()),
        room: Apart(L::Condvar::new()),
        inside: Cell::new(0),
    });
    crew(judge, 4, move |judge, number| {
        let context = Apart(L::Context::default());
        let produces = number % 2 == 0;
        for item in 0..ITEMS {
            // SAFETY: the context stays here and serves one acquisition at a time.
            unsafe { buffer.lock.lock(&context) };
            let (waits, tells) = if produces {
                (&buffer.room, &buffer.items)
            } else {
                (&buffer.items, &buffer.room)
            };
            let not_yet = |inside| inside == if produces { ROOM } else { 0 };
            while not_yet(buffer.inside.get()) {
                // SAFETY: locked above with this context.
                unsafe { waits.wait(&buffer.lock, &context) };
            }
            let inside = buffer.inside.get();
            judge.alone(some_work);
            judge.holds(buffer.inside.get() == inside, "the buffer changed in a section");
            buffer.inside.set(if produces { inside + 1 } else { inside - 1 });
            // Half of the notifications are made in the section, half after it.
            if item % 2 == 0 {
                tells.notify_one();
            }
            // SAFETY: locked above with this context.
            unsafe { buffer.lock.unlock(&context) };
            if item % 2 == 1 {
                tells.notify_one();
            }
            some_work();
        }
    })
}

/// No thread is passed over without bound: threads continue until each has acquired the lock several times.
///
/// Not counted on one CPU, where the scheduler decides which ready thread runs. Two threads that wake each other can keep a
/// third from the CPU for a long time, and the third is not even in the queue of the lock.
fn bounded<L: RawLock<Sim>>(judge: &Judge) -> Vec<Job> {
    /// Far more than stalls and slices explain, and fewer than a thread would see that is never served.
    const MOST: u32 = 20_000;
    struct Turns<L> {
        lock: L,
        left: [Cell<u64>; 4],
        waits_since: [Cell<u32>; 4],
        sections: Cell<u32>,
    }
    let turns = shared(Turns {
        lock: L::new(),
        left: [const { Cell::new(PAIRS) }; 4],
        waits_since: [const { Cell::new(0) }; 4],
        sections: Cell::new(0),
    });
    crew(judge, 4, move |judge, number| {
        let context = Apart(L::Context::default());
        let counts = Sim::cpus() > 1;
        while turns.left.iter().any(|left| left.get() > 0) {
            turns.waits_since[number].set(turns.sections.get());
            // SAFETY: the context stays here and serves one acquisition at a time.
            unsafe { turns.lock.lock(&context) };
            let passed = turns.sections.get() - turns.waits_since[number].get();
            judge.holds(passed < MOST || !counts, "a waiter was passed over too often");
            turns.sections.set(turns.sections.get() + 1);
            turns.left[number].set(turns.left[number].get().saturating_sub(1));
            judge.alone(|| Sim::work(200.0));
            // SAFETY: acquired above with this context.
            unsafe { turns.lock.unlock(&context) };
            // Where an owner is left alone for a tenure, and a woken thread waits for its CPU, each turn takes a slice.
            if turns.sections.get() > 40 * MOST {
                if counts {
                    judge.wrong("a waiter is passed over for ever");
                }
                return;
            }
        }
    })
}
