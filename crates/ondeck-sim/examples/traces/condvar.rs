//! Threads that wait and notify in every way: with and without a deadline, with a cancelled wait, with a lock that is not
//! of this crate, for one and for all, inside and outside a section, with the objects in one bucket and in several.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use ondeck::condvar::{RawCondvar, Step as Next, Waiter};
use ondeck::mutex::RawMutex;
use ondeck::parking::Shown;
use ondeck::platform::{FutexWait, Host, Platform, Threads};
use ondeck_sim::engine::{Job, Sim, Step};
use ondeck_sim::schedule::Schedule;

use super::objects::Objects;
use super::tracer::{self, Names, Tracer, status, work};

/// What a thread does, as `Waiter`, `Notifier` and `Other` of the specification. Condition variables and mutexes are
/// indices of `NAMES`.
enum Script {
    Waiter { condvar: usize, mutex: usize, options: &'static [&'static str] },
    Notifier { condvar: usize, mutexes: &'static [usize], all: bool, is_inside: bool },
    Other { mutex: usize },
}

const NAMES: [&str; 4] = ["c", "d", "a", "b"];
const C: usize = 0;
const D: usize = 1;
const A: usize = 2;
const B: usize = 3;

const fn waiter(condvar: usize, mutex: usize, options: &'static [&'static str]) -> Script {
    Script::Waiter { condvar, mutex, options }
}

const fn notifier(condvar: usize, mutexes: &'static [usize], all: bool, is_inside: bool) -> Script {
    Script::Notifier { condvar, mutexes, all, is_inside }
}

const SCENARIOS: [&[Script]; 8] = [
    &[
        waiter(C, A, &[]),
        waiter(C, A, &["timed"]),
        waiter(C, A, &[]),
        notifier(C, &[A], true, true),
        notifier(C, &[A], false, false),
        Script::Other { mutex: A },
    ],
    &[
        waiter(C, A, &[]),
        waiter(C, A, &[]),
        waiter(C, A, &[]),
        notifier(C, &[A], false, true),
        notifier(C, &[A], false, true),
        notifier(C, &[A], false, false),
    ],
    &[
        waiter(C, A, &[]),
        waiter(C, A, &["at once", "timed"]),
        waiter(C, A, &["timed"]),
        notifier(C, &[A], false, false),
        notifier(C, &[A], true, false),
        Script::Other { mutex: A },
    ],
    &[
        waiter(C, A, &[]),
        waiter(C, B, &["timed"]),
        waiter(C, A, &[]),
        waiter(C, B, &[]),
        notifier(C, &[A, B], true, false),
    ],
    &[
        waiter(C, A, &["timed"]),
        waiter(D, B, &[]),
        // A thread that waits for the other condition variable may take the item of which this thread is notified.
        waiter(D, A, &["timed"]),
        notifier(C, &[A], false, true),
        notifier(D, &[B, A], true, false),
    ],
    &[
        waiter(C, A, &["at once", "timed"]),
        waiter(C, A, &["at once", "timed", "cancelled"]),
        waiter(C, A, &["at once", "timed", "cancelled"]),
        notifier(C, &[A], false, true),
        notifier(C, &[], false, false),
    ],
    &[
        waiter(C, B, &["foreign"]),
        waiter(C, A, &[]),
        waiter(C, B, &["foreign", "timed"]),
        waiter(C, B, &["foreign"]),
        notifier(C, &[A, B], true, false),
    ],
    &[
        waiter(C, A, &["at once", "timed"]),
        waiter(C, B, &["at once", "timed", "foreign", "cancelled"]),
        waiter(C, B, &["at once", "timed", "foreign", "cancelled"]),
        notifier(C, &[B], false, false),
        notifier(C, &[], false, false),
    ],
];

/// The buckets of the specification's objects, in the order of `NAMES`; numbered as their locks are ordered.
const LAYOUTS: [(&str, [usize; 4]); 5] = [
    ("up", [1, 1, 2, 2]),
    ("down", [2, 2, 1, 1]),
    ("one", [1, 1, 1, 1]),
    ("apart", [2, 2, 1, 3]),
    ("crossed", [1, 2, 2, 1]),
];

fn scenario(seed: u64) -> usize {
    seed as usize % SCENARIOS.len()
}

fn layout(seed: u64) -> usize {
    seed as usize / SCENARIOS.len() % LAYOUTS.len()
}

/// The scenarios in the notation of the specification, and which of them these runs have.
pub fn scripts(seeds: Range<u64>) -> String {
    let quoted = |names: &[&str]| {
        names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
    };
    let name = |object: &usize| format!("\"{}\"", NAMES[*object]);
    let script = |script: &Script| match script {
        Script::Waiter { condvar, mutex, options } => {
            format!("Waiter({}, {}, {{{}}})", name(condvar), name(mutex), quoted(options))
        }
        Script::Notifier { condvar, mutexes, all, is_inside } => {
            let mutexes = mutexes.iter().map(name).collect::<Vec<_>>().join(", ");
            let most = if *all { "All" } else { "1" };
            let is_inside = is_inside.to_string().to_uppercase();
            format!("Notifier({}, <<{mutexes}>>, {most}, {is_inside})", name(condvar))
        }
        Script::Other { mutex } => format!("Other({})", name(mutex)),
    };
    let threads = |scenario: &&[Script]| {
        format!("<<{}>>", scenario.iter().map(script).collect::<Vec<_>>().join(", "))
    };
    let scenarios = SCENARIOS.iter().map(threads).collect::<Vec<_>>().join(",\n  ");
    let of =
        seeds.map(|seed| format!("<<{}, \"{}\">>", scenario(seed) + 1, LAYOUTS[layout(seed)].0));
    let of = of.collect::<Vec<_>>().join(", ");
    format!("ScriptsOfRuns == <<\n  {scenarios}>>\nSetupsOfRuns == <<{of}>>")
}

/// Enough objects of each kind for a bucket with two of each.
const MANY: usize = 8_192;

#[repr(align(128))]
struct Shared {
    condvars: [RawCondvar<Sim>; MANY],
    mutexes: [RawMutex<Sim>; MANY],
    chosen: OnceCell<[usize; 4]>,
    /// The items that each mutex guards, by the index of the mutex.
    ready: [Cell<usize>; 4],
}

impl Shared {
    fn new() -> Self {
        Self {
            condvars: std::array::from_fn(|_| RawCondvar::new()),
            mutexes: std::array::from_fn(|_| RawMutex::new()),
            chosen: OnceCell::new(),
            ready: Default::default(),
        }
    }

    /// Chooses the objects. Called by a simulated thread, because each machine has its own table.
    fn choose(&self, buckets: [usize; 4]) -> [usize; 4] {
        // The numbers of the condition variables and of the mutexes of each bucket.
        let mut those = BTreeMap::<_, [Vec<usize>; 2]>::new();
        for number in 0..MANY {
            for object in [C, A] {
                let bucket = Sim::bucket(self.address(object, number)).lock_word();
                those.entry(bucket).or_default()[object / 2].push(number);
            }
        }
        let mut those = those.into_values();
        let mut chosen = [0; 4];
        for bucket in 1..=3 {
            let objects = (0..4).filter(|&object| buckets[object] == bucket);
            let objects = objects.collect::<Vec<_>>();
            let suits = |those: &[Vec<usize>; 2]| {
                let count = |kind| objects.iter().filter(|&&object| object / 2 == kind).count();
                (0..2).all(|kind| those[kind].len() >= count(kind))
            };
            let mut those = those.find(suits).expect("enough objects");
            for object in objects {
                chosen[object] = those[object / 2].pop().expect("as many as are needed");
            }
        }
        chosen
    }

    fn address(&self, object: usize, number: usize) -> usize {
        match object {
            C | D => std::ptr::from_ref(&self.condvars[number]).addr(),
            _ => std::ptr::from_ref(&self.mutexes[number]).addr(),
        }
    }

    fn addresses(&self) -> [usize; 4] {
        let chosen = self.chosen.get().expect("chosen by the first thread");
        std::array::from_fn(|object| self.address(object, chosen[object]))
    }

    fn condvar(&self, object: usize) -> &RawCondvar<Sim> {
        &self.condvars[self.chosen.get().expect("chosen by the first thread")[object]]
    }

    fn mutex(&self, object: usize) -> &RawMutex<Sim> {
        &self.mutexes[self.chosen.get().expect("chosen by the first thread")[object]]
    }
}

/// The objects of a run, and the number of each one's bucket.
pub struct CondvarNames {
    objects: Objects<4>,
    buckets: [usize; 4],
    /// One of each bucket.
    one_of_each: Vec<usize>,
}

impl Names for CondvarNames {
    fn objects(&self) -> &[usize] {
        &self.one_of_each
    }

    fn see(tracer: &mut Tracer<Self>, thread: usize, address: usize, step: Step, in_section: bool) {
        let Some(names) = &tracer.names else { return };
        let is = |&&object: &&usize| std::ptr::from_ref(Sim::unlock_mode(object)).addr() == address;
        if let Some(name) = names.objects.name(address) {
            let is_condvar = names.objects.addresses[..2].contains(&address);
            let (what, value) = match step {
                Step::Load(value) if is_condvar => ("waiters", value),
                Step::Store(value) if is_condvar => ("waited", value),
                Step::Exchange(old, 1) => ("try", old),
                Step::Load(value) => ("read", value),
                Step::Store(0) => ("clear", 0),
                _ => ("odd", 0),
            };
            tracer.add(what, thread, &[name, value.to_string()]);
        } else if let Some(&object) = names.one_of_each.iter().find(is)
            && !in_section
            && let Step::Load(mode) = step
        {
            let words = [names.bucket(object).unwrap_or_default(), names.objects.mode(mode)];
            tracer.add("mode", thread, &words);
        }
    }

    fn see_status(tracer: &mut Tracer<Self>, thread: usize, other: usize, step: Step) {
        let value = match step {
            Step::Store(value) | Step::Exchange(_, value) => status(value),
            Step::Refused(_) => "\"refused\"".into(),
            _ => return,
        };
        tracer.add("tell", thread, &[(other + 1).to_string(), value]);
    }

    fn bucket(&self, object: usize) -> Option<String> {
        let place = self.objects.addresses.iter().position(|&address| address == object)?;
        Some(self.buckets[place].to_string())
    }

    fn after(&self, tracer: &Tracer<Self>, object: usize, shown: &[Shown]) -> Vec<String> {
        self.objects.table(tracer, object, shown)
    }
}

/// A thread of a run.
struct Thread<'a> {
    shared: &'a Shared,
    number: usize,
    tracer: &'a RefCell<Tracer<CondvarNames>>,
}

impl Thread<'_> {
    fn add(&self, what: &str, rest: &[String]) {
        self.tracer.borrow_mut().add(what, self.number, rest);
    }

    fn section(&self, mutex: usize) {
        self.shared.mutex(mutex).lock();
        self.add("got", &["None".into()]);
        work(true);
    }

    fn unlock(&self, mutex: usize) {
        let mutex = self.shared.mutex(mutex);
        // SAFETY: the thread is the owner.
        unsafe { if Sim::once_in(4) { mutex.unlock_fair() } else { mutex.unlock() } }
    }

    fn run(&self, scenario: &[Script]) {
        work(false);
        match scenario[self.number] {
            Script::Other { mutex } => {
                self.section(mutex);
                self.unlock(mutex);
            }
            Script::Notifier { condvar, mutexes, all, is_inside } => {
                for (place, &mutex) in mutexes.iter().enumerate() {
                    self.section(mutex);
                    let items = if all { waiters(scenario, condvar, mutex) } else { 1 };
                    let ready = &self.shared.ready[mutex];
                    ready.set(ready.get() + items);
                    if is_inside && place + 1 == mutexes.len() {
                        self.notify(condvar, all);
                    }
                    self.unlock(mutex);
                }
                if !is_inside {
                    self.notify(condvar, all);
                }
            }
            Script::Waiter { condvar, mutex, options } => self.wait(condvar, mutex, options),
        }
        self.add("done", &[]);
    }

    fn notify(&self, condvar: usize, all: bool) {
        let condvar = self.shared.condvar(condvar);
        let notified = if all { condvar.notify_all() } else { condvar.notify_one() };
        self.add("notified", &[notified.to_string()]);
    }

    /// Waits until the mutex guards an item, as `Section` of the specification says.
    fn wait(&self, condvar: usize, mutex: usize, options: &[&str]) {
        let ready = &self.shared.ready[mutex];
        let is_at_once = options.contains(&"at once");
        self.section(mutex);
        let mut answer = None;
        loop {
            let is_first = is_at_once && answer.is_none();
            let takes = ready.get() > 0 && !is_first && answer != Some("cancelled");
            let is_last = answer.is_some_and(|answer| is_at_once || answer != "notified");
            if takes {
                ready.set(ready.get() - 1);
            }
            if takes || is_last {
                return self.unlock(mutex);
            }
            answer = Some(self.wait_once(condvar, mutex, options));
            self.add("got", &[format!("\"{}\"", answer.unwrap_or_default())]);
            work(true);
        }
    }

    fn wait_once(&self, condvar: usize, mutex: usize, options: &[&str]) -> &'static str {
        let is_foreign = options.contains(&"foreign");
        let deadline = options.contains(&"timed").then(|| {
            let nanos = [5_000, 100_000, 600_000, 5_000_000][Sim::now_free() as usize % 4];
            Sim::now().after(Duration::from_nanos(nanos))
        });
        let lock = (!is_foreign).then(|| self.shared.mutex(mutex));
        let waiter = Waiter::new(self.shared.condvar(condvar), lock, deadline);
        // SAFETY: the thread owns the mutex; the waiter stays here until the wait is over.
        unsafe { waiter.begin() };
        if is_foreign {
            self.unlock(mutex);
        }
        let mut slept = FutexWait::Woken;
        let answer = loop {
            if options.contains(&"cancelled") && Sim::once_in(3) {
                self.add("cancel", &[]);
                // SAFETY: it has begun, and is not over.
                unsafe { waiter.cancel() };
                break "cancelled";
            }
            // SAFETY: as above.
            match unsafe { waiter.step(slept) } {
                Next::Sleep { word, expected, until } => {
                    // SAFETY: a word of the waiter.
                    slept = Sim::futex_wait(unsafe { &*word }, expected, until);
                }
                Next::Done { notified: true } => break "notified",
                Next::Done { notified: false } => break "timeout",
            }
        };
        if is_foreign {
            self.shared.mutex(mutex).lock();
        }
        answer
    }
}

/// Returns the number of waiters of these objects.
fn waiters(scenario: &[Script], of: usize, with: usize) -> usize {
    let is = |script: &&Script| matches!(script, Script::Waiter { condvar, mutex, .. } if (*condvar, *mutex) == (of, with));
    scenario.iter().filter(is).count()
}

/// Traces the schedule of that seed; also returns whether all threads ended.
pub fn trace(seed: u64) -> (Vec<String>, bool) {
    let mut schedule = Schedule::of(seed);
    // Memory is sequentially consistent in this specification.
    (schedule.unrest.latest_store, schedule.costs.store_buffer.entries) = (0, 0);
    // In half of the runs, sleeps end at their deadlines and slices. So they do in every run of a scenario in which no
    // notification may reach a timed waiter.
    let needs_deadlines = [2, 4, 5, 7].contains(&scenario(seed));
    schedule.unrest.no_deadlines =
        !needs_deadlines && (seed / SCENARIOS.len() as u64).is_multiple_of(2);
    let (scenario, buckets) = (SCENARIOS[scenario(seed)], LAYOUTS[layout(seed)].1);
    let shared = Rc::new(Shared::new());
    tracer::trace(&schedule, 20, |tracer| {
        let job = |number| {
            let (shared, tracer) = (Rc::clone(&shared), Rc::clone(tracer));
            let body = move || {
                shared.chosen.get_or_init(|| shared.choose(buckets));
                tracer.borrow_mut().names.get_or_insert_with(|| {
                    let addresses = shared.addresses();
                    let place = |bucket| buckets.iter().position(|&other| other == bucket);
                    CondvarNames {
                        objects: Objects { addresses, names: NAMES, nobody: "Nobody" },
                        buckets,
                        one_of_each: (1..=3).filter_map(place).map(|at| addresses[at]).collect(),
                    }
                });
                Thread { shared: &shared, number, tracer: &tracer }.run(scenario);
            };
            Job { allowed: None, body: Box::new(body) }
        };
        (0..scenario.len()).map(job).collect()
    })
}
