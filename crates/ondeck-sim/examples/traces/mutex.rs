//! Threads that use two mutexes of one bucket in every way: with and without a deadline, after an attempt, with a plain
//! and a fair unlock.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::parking::Shown;
use ondeck::platform::{Host, Platform, Threads};
use ondeck_sim::engine::{Job, Sim, Step};
use ondeck_sim::schedule::Schedule;

use super::objects::Objects;
use super::tracer::{self, Names, Tracer, work};

/// For each thread, the mutexes that it locks, in order.
const PLAYS: [&[usize]; 4] = [&[0, 1, 0], &[0, 0, 1], &[1, 0, 1], &[1, 1, 0]];

/// The same in the notation of the specification.
pub fn plays() -> String {
    let call = |&lock: &usize| format!("Lock(\"{}\", 1)", ["a", "c"][lock]);
    let calls =
        |calls: &&[usize]| format!("<<{}>>", calls.iter().map(call).collect::<Vec<_>>().join(", "));
    format!("PlaysTraced == <<{}>>", PLAYS.iter().map(calls).collect::<Vec<_>>().join(", "))
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

    /// The first two of one bucket. By a simulated thread: a table is a machine's.
    fn choose(&self, tracer: &RefCell<Tracer<MutexNames>>) -> [&RawMutex<Sim>; 2] {
        let chosen = self.chosen.get_or_init(|| {
            let mut buckets = HashMap::new();
            let pair = (0..MUTEXES).find_map(|number| {
                let bucket = std::ptr::from_ref(Sim::bucket(self.address(number)));
                Some([buckets.insert(bucket, number)?, number])
            });
            let pair = pair.expect("more mutexes than buckets");
            tracer.borrow_mut().names = Some(MutexNames(Objects {
                addresses: pair.map(|number| self.address(number)),
                names: ["a", "c"],
                nobody: "None",
            }));
            pair
        });
        chosen.map(|number| &self.mutexes[number])
    }
}

fn thread(number: usize, shared: &Shared, tracer: &RefCell<Tracer<MutexNames>>) {
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

/// Two mutexes of one bucket.
pub struct MutexNames(Objects<2>);

impl Names for MutexNames {
    fn objects(&self) -> &[usize] {
        &self.0.addresses[..1]
    }

    fn see(tracer: &mut Tracer<Self>, thread: usize, address: usize, step: Step, in_section: bool) {
        let Some(MutexNames(names)) = &tracer.names else { return };
        if let Some(name) = names.name(address) {
            match step {
                Step::Exchange(old, 1) => tracer.add("try", thread, &[name, old.to_string()]),
                // A thread that finds the lock free tries it next.
                Step::Load(0) => {}
                Step::Load(1) => tracer.add("read", thread, &[name]),
                Step::Store(0) => tracer.add("clear", thread, &[name]),
                _ => tracer.add("odd", thread, &[name, format!("\"{step:?}\"")]),
            }
        } else if address == std::ptr::from_ref(Sim::unlock_mode(names.addresses[0])).addr()
            && !in_section
            && let Step::Load(mode) = step
        {
            let mode = names.mode(mode);
            tracer.add("mode", thread, &[mode]);
        }
    }

    fn after(&self, tracer: &Tracer<Self>, object: usize, shown: &[Shown]) -> Vec<String> {
        self.0.table(tracer, object, shown)
    }
}

/// Traces the schedule of that seed; also returns whether all threads ended.
pub fn trace(seed: u64) -> (Vec<String>, bool) {
    let mut schedule = Schedule::of(seed);
    // In half of the runs, sleeps end at their deadlines and so rescue threads.
    schedule.unrest.no_deadlines = seed % 4 < 2;
    let shared = Rc::new(Shared::new());
    tracer::trace(&schedule, 20, |tracer| {
        let job = |number| {
            let (shared, tracer) = (Rc::clone(&shared), Rc::clone(tracer));
            Job { allowed: None, body: Box::new(move || thread(number, &shared, &tracer)) }
        };
        (0..PLAYS.len()).map(job).collect()
    })
}
