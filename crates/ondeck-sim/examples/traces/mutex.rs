//! Threads that use two mutexes of one bucket in every way: with and without a deadline, after an attempt, with a plain
//! and a fair unlock.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Platform, Threads};
use ondeck_sim::check::Schedule;
use ondeck_sim::engine::{End, Job, Sim, Simulation};

use super::tracer::{Tracer, listener};

/// For each thread, the mutexes that it locks, in order.
const PLAYS: [&[usize]; 4] = [&[0, 1, 0], &[0, 0, 1], &[1, 0, 1], &[1, 1, 0]];

/// The same in the notation of the specification.
pub fn plays() -> String {
    let call = |&lock: &usize| format!("Lock(\"{}\", 1)", ["a", "c"][lock]);
    let calls =
        |calls: &&[usize]| format!("<<{}>>", calls.iter().map(call).collect::<Vec<_>>().join(", "));
    format!("<<{}>>", PLAYS.iter().map(calls).collect::<Vec<_>>().join(", "))
}

/// Enough mutexes that two of them share a bucket.
const MUTEXES: usize = 2_048;

#[repr(align(128))]
struct Shared {
    mutexes: [RawMutex<Sim>; MUTEXES],
    chosen: OnceCell<[usize; 2]>,
}

impl Shared {
    fn new() -> Self {
        Self { mutexes: std::array::from_fn(|_| RawMutex::new()), chosen: OnceCell::new() }
    }

    fn address(&self, number: usize) -> usize {
        std::ptr::from_ref(&self.mutexes[number]).addr()
    }

    /// The first two mutexes of one bucket. Called by a simulated thread, because each machine has its own
    /// table.
    fn choose(&self, tracer: &RefCell<Tracer>) -> [&RawMutex<Sim>; 2] {
        let chosen = self.chosen.get_or_init(|| {
            let mut buckets = HashMap::new();
            let pair = (0..MUTEXES).find_map(|number| {
                let bucket = std::ptr::from_ref(Sim::bucket(self.address(number)));
                Some([buckets.insert(bucket, number)?, number])
            });
            let pair = pair.expect("more mutexes than buckets");
            tracer.borrow_mut().set_locks(pair.map(|number| self.address(number)).to_vec());
            pair
        });
        chosen.map(|number| &self.mutexes[number])
    }
}

/// A section, or the time between two, of any length: some outlast a slice of a sleep.
fn work(is_section: bool) {
    match [2, 4, 3, 24].iter().position(|&one_in| Sim::once_in(one_in)) {
        Some(0) => Sim::work(150.0),
        Some(1) => Sim::work(10_000.0),
        Some(2) if is_section => Sim::sleep(150_000),
        Some(3) => Sim::sleep(22_000_000),
        _ => {}
    }
}

fn thread(number: usize, shared: &Shared, tracer: &RefCell<Tracer>) {
    let mutexes = shared.choose(tracer);
    let add = |what, rest: &[String]| tracer.borrow_mut().add(what, number, rest);
    for &lock in PLAYS[number] {
        let mutex = mutexes[lock];
        work(false);
        add("call", &[]);
        let timed = Sim::once_in(3);
        let is_owner = if timed {
            let nanos = [5_000, 100_000, 600_000, 5_000_000][Sim::now_free() as usize % 4];
            mutex.try_lock_until(Sim::now().after(Duration::from_nanos(nanos)))
        } else {
            if !(Sim::once_in(4) && mutex.try_lock()) {
                mutex.lock();
            }
            true
        };
        add("got", &[is_owner.to_string().to_uppercase()]);
        if is_owner {
            work(true);
            // SAFETY: the thread is the owner.
            unsafe { if Sim::once_in(4) { mutex.unlock_fair() } else { mutex.unlock() } };
        }
        add("done", &[]);
    }
}

/// Traces the schedule of that seed; also returns whether all threads ended.
pub fn trace(seed: u64) -> (Vec<String>, bool) {
    let mut schedule = Schedule::of(seed);
    // In half of the runs, sleeps end at their deadlines and so rescue threads.
    schedule.unrest.no_deadlines = seed % 4 < 2;
    let tracer = Rc::new(RefCell::new(Tracer::default()));
    let shared = Rc::new(Shared::new());
    let jobs = (0..PLAYS.len()).map(|number| {
        let (shared, tracer) = (Rc::clone(&shared), Rc::clone(&tracer));
        Job { allowed: None, body: Box::new(move || thread(number, &shared, &tracer)) }
    });
    let simulation = Simulation {
        unrest: schedule.unrest.clone(),
        limit: 20 * schedule.limit,
        listener: Some(listener(&tracer)),
        ..Simulation::new(&schedule.costs, schedule.seed)
    };
    let ran =
        catch_unwind(AssertUnwindSafe(|| simulation.run(jobs.collect(), Vec::new(), &|| false)));
    let ended = ran.is_ok_and(|ran| ran.end == End::Done);
    let events = tracer.borrow_mut().take();
    (events, ended)
}
