//! Threads that read and write one lock by every operation of its specification: with counted and visible reads, with and
//! without a deadline, by attempts, with a plain and a fair unlock.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use ondeck::parking::{Row, Shown};
use ondeck::platform::{Host, Platform, Threads, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck_sim::engine::{Job, Sim, Step};
use ondeck_sim::schedule::Schedule;

use super::tracer::{self, Names, Tracer, work};

/// The same as in ci/traces/RwLockTrace.cfg.
const THREADS: usize = 4;

/// The same.
const CALLS: usize = 4;

/// Addresses of the variables of the specification.
pub struct RwLockNames {
    lock: usize,
    /// The count of sleeping writers.
    sleepers: usize,
    /// The first row. No other lock has slots in it.
    rows: usize,
}

impl RwLockNames {
    /// The addresses for this lock. Called by a simulated thread, because each machine has its own table.
    fn of(lock: &RawRwLock<Sim>) -> Self {
        let lock = std::ptr::from_ref(lock).addr();
        let bias = Sim::bias(lock).map_or(0, |bias| std::ptr::from_ref(bias).addr());
        // The first word of a bias.
        Self { lock, sleepers: bias, rows: Sim::rows().as_ptr().addr() }
    }
}

impl Names for RwLockNames {
    fn objects(&self) -> &[usize] {
        std::slice::from_ref(&self.lock)
    }

    fn see(tracer: &mut Tracer<Self>, thread: usize, address: usize, step: Step, _: bool) {
        let Some(names) = &tracer.names else { return };
        let row = address.wrapping_sub(names.rows) / size_of::<Row<Sim>>();
        let is = |address: u64| (address == names.lock as u64).to_string().to_uppercase();
        // The largest number that TLC has stands for a word with a count below zero, which no specified state has.
        let word = |value: u64| value.min(i32::MAX as u64).to_string();
        let (what, rest) = if address == names.lock {
            match step {
                Step::Load(is) => ("load", vec![word(is)]),
                Step::Refused(is) => ("refused", vec![word(is)]),
                Step::Exchange(old, new) => ("word", vec![word(old), word(new)]),
                _ => ("odd", vec![format!("\"{step:?}\"")]),
            }
        } else if address == names.sleepers {
            match step {
                Step::Load(count) => ("asks", vec![count.to_string()]),
                Step::Exchange(old, new) => ("sleepers", vec![old.to_string(), new.to_string()]),
                _ => return,
            }
        } else if row < THREADS {
            let row = (row + 1).to_string();
            match step {
                Step::Load(holds) => ("slot", vec![row, is(holds)]),
                Step::Store(holds) => ("store", vec![row, is(holds)]),
                _ => return,
            }
        } else {
            return;
        };
        tracer.add(what, thread, &rest);
    }

    fn after(&self, tracer: &Tracer<Self>, _: usize, shown: &[Shown]) -> Vec<String> {
        let threads = |is: fn(&&Shown) -> bool| {
            shown.iter().filter(is).map(|node| tracer.thread(node)).collect::<Vec<_>>().join(", ")
        };
        let [parked, drain, turns] = [
            threads(|node| !node.drains && !node.has_turn),
            threads(|node| node.drains),
            threads(|node| node.has_turn),
        ];
        vec![format!("<<{parked}>>"), format!("{{{drain}}}"), format!("<<{turns}>>")]
    }
}

/// Returns a deadline that may pass before the thread has the lock.
fn soon() -> Timestamp {
    let nanos = [5_000, 100_000, 600_000, 5_000_000][Sim::now_free() as usize % 4];
    Sim::now().after(Duration::from_nanos(nanos))
}

/// Returns the index of one of `ways` special ways to lock or unlock, or `None`, the most frequent result, for the plain one.
fn way(ways: usize) -> Option<usize> {
    (0..ways).position(|_| Sim::once_in(4))
}

/// Runs a section of a thread that has the lock.
fn section(add: &impl Fn(&str, &[String])) {
    add("got", &[]);
    work(true);
}

fn write(lock: &RawRwLock<Sim>, add: &impl Fn(&str, &[String])) {
    let is_owner = match way(2) {
        Some(0) => lock.try_lock_exclusive_until(soon()),
        Some(_) => lock.try_lock_exclusive(),
        None => {
            lock.lock_exclusive();
            true
        }
    };
    if is_owner {
        section(add);
        // SAFETY: the thread is the owner.
        unsafe {
            if Sim::once_in(4) { lock.unlock_exclusive_fair() } else { lock.unlock_exclusive() }
        }
    }
}

fn read(lock: &RawRwLock<Sim>, add: &impl Fn(&str, &[String])) {
    let held = match way(4) {
        Some(0) => return lock.consider_bias(),
        Some(1) => {
            lock.lock_shared_counted();
            section(add);
            // SAFETY: the thread has a counted read lock.
            return unsafe { lock.unlock_shared_counted() };
        }
        Some(2) => lock.try_lock_shared_until(soon()),
        Some(_) => lock.try_lock_shared(),
        None => Some(lock.lock_shared()),
    };
    if let Some(held) = held {
        section(add);
        // SAFETY: this is the read lock.
        unsafe { lock.unlock_shared(held) };
    }
}

fn thread(number: usize, lock: &RawRwLock<Sim>, tracer: &RefCell<Tracer<RwLockNames>>) {
    tracer.borrow_mut().names.get_or_insert_with(|| RwLockNames::of(lock));
    let add = |what: &str, rest: &[String]| tracer.borrow_mut().add(what, number, rest);
    for _ in 0..CALLS {
        work(false);
        if Sim::once_in(3) {
            add("call", &["\"write\"".into()]);
            write(lock, &add);
        } else {
            add("call", &["\"read\"".into()]);
            read(lock, &add);
        }
        add("done", &[]);
    }
}

/// Traces the schedule of that seed; also returns whether all threads ended.
pub fn trace(seed: u64) -> (Vec<String>, bool) {
    let mut schedule = Schedule::of(seed);
    // In half of the runs, sleeps end at their deadlines.
    schedule.unrest.no_deadlines = seed % 4 < 2;
    let lock = Rc::new(RawRwLock::new());
    tracer::trace(&schedule, 20, |tracer| {
        let job = |number| {
            let (lock, tracer) = (Rc::clone(&lock), Rc::clone(tracer));
            Job { allowed: None, body: Box::new(move || thread(number, &lock, &tracer)) }
        };
        (0..THREADS).map(job).collect()
    })
}
