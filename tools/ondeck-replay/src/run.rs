//! Simulated threads that replay a script, with one lock, on one machine.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fastrand::Rng;
use ondeck::platform::Platform as _;
use ondeck::rwlock::RawRwLock;
use ondeck_zoo::rwlocks::GlibcNormalRwLock;
use ondeck_zoo::{Origin, RawRwLock as _};

use crate::passage::{Passage, Step};
use crate::script::{Part, Script, Sharing};
use ondeck_sim::engine::{Costs, Doing, End, Job, Sim, Simulation};
use ondeck_sim::lab::{AnyMutex, Context, Guarded};
use ondeck_sim::time::{Time, in_nanos, of_nanos};

/// The least number of simulated acquisitions, of all parts together, and of each thread in a part.
const LEAST: u64 = 8_000;
const LEAST_OF_THREAD: u64 = 150;
/// The least number of the thread that acquires most rarely, and of long sections, and the most of
/// all threads that are simulated for it.
const LEAST_OF_RAREST: f64 = 10.0;
const MOST_FOR_RAREST: f64 = 150_000.0;
/// The inverse of the part that passes before rates are measured.
const WARM_UP: u64 = 4;
/// A run that takes this many times as long as one thread alone is cut.
const PATIENCE: f64 = 4.0;
/// The fraction of the golden ratio.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// No run is cut earlier, in nanoseconds.
const LEAST_TIME: f64 = 20e6;

/// The conditions of a simulation.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub costs: &'a Costs,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The type of the mutexes. Reader-writer locks are ondeck's beside this project's mutexes, and
    /// glibc's beside others.
    pub lock: AnyMutex<Sim>,
    /// How many threads there are.
    pub threads: usize,
}

/// The result.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Acquisitions a second, of all threads.
    pub rate: f64,
    /// The part of the time in which each lock of the recording was busy; 0 for private locks of
    /// threads.
    pub busy: Vec<f64>,
    /// The part of the threads' time spent waiting for locks.
    pub waiting: f64,
    /// The part of the CPU time that was no work: locking, waiting for locks, and the kernel.
    pub overhead: f64,
    /// Whether it was cut because it took too long.
    pub is_cut: bool,
    /// Whether the threads deadlocked.
    pub is_stuck: bool,
}

/// Simulates all parts, one after the other.
pub fn run(script: &Script, setup: &Setup<'_>) -> Outcome {
    let mut all = Outcome { busy: vec![0.0; script.locks.len()], ..Outcome::default() };
    let (mut acquisitions, mut seconds) = (0.0, 0.0);
    for part in &script.parts {
        let Some(its) = run_part(script, part, setup) else { continue };
        all.is_cut |= its.is_cut;
        all.is_stuck |= its.is_stuck;
        if its.rate <= 0.0 {
            continue;
        }
        let time = part.acquisitions as f64 / its.rate;
        acquisitions += part.acquisitions as f64;
        seconds += time;
        all.waiting += time * its.waiting;
        all.overhead += time * its.overhead;
        all.busy.iter_mut().zip(&its.busy).for_each(|(all, busy)| *all += time * busy);
    }
    if seconds > 0.0 {
        all.rate = acquisitions / seconds;
        all.waiting /= seconds;
        all.overhead /= seconds;
        all.busy.iter_mut().for_each(|busy| *busy /= seconds);
    }
    all
}

/// Returns `None` if the part has no thread.
fn run_part(script: &Script, part: &Part, setup: &Setup<'_>) -> Option<Outcome> {
    let passages: Vec<Rc<[Passage]>> =
        part.threads.iter().map(|passages| Rc::from(passages.as_slice())).collect();
    let of_thread = |thread: usize| Rc::clone(&passages[thread % passages.len()]);
    let present = (0..setup.threads).filter(|&thread| !of_thread(thread).is_empty()).count() as u64;
    if present == 0 {
        return None;
    }
    let parts = script.parts.len() as u64;
    let of_one = |passages: &Vec<Passage>| passages.iter().map(|it| it.weight).sum::<u64>();
    let long = part.threads.iter().flatten().filter(|it| it.is_long).map(|it| it.weight);
    let all = part.threads.iter().map(of_one).chain(long);
    let rarest = all.filter(|&count| count != 0).min().unwrap_or(1);
    let for_rarest = LEAST_OF_RAREST * part.acquisitions as f64 / rarest as f64;
    let wanted = (LEAST / parts)
        .max(LEAST_OF_THREAD * present)
        .max(for_rarest.min(MOST_FOR_RAREST / parts as f64) as u64);
    let warm_up = wanted / WARM_UP;
    let board = Rc::new(RefCell::new(Board {
        warm_up,
        wanted: warm_up + wanted,
        busy: vec![Busy::default(); script.locks.len()],
        ..Board::default()
    }));
    let shared: Rc<Vec<Option<Instance>>> = Rc::new(
        script
            .locks
            .iter()
            .map(|sharing| (*sharing == Sharing::Shared).then(|| Instance::new(setup.lock)))
            .collect(),
    );
    let jobs = (0..setup.threads)
        .filter(|&thread| !of_thread(thread).is_empty())
        .map(|thread| {
            let mut player = Player {
                passages: of_thread(thread),
                shared: Rc::clone(&shared),
                board: Rc::clone(&board),
                mutex: setup.lock,
                own: HashMap::new(),
                contexts: HashMap::new(),
                held: 0,
            };
            let rng =
                Rng::with_seed(setup.seed.wrapping_mul(0x9E37_79B9).wrapping_add(thread as u64));
            Job { allowed: None, body: Box::new(move || player.play(rng)) }
        })
        .collect();
    let mut simulation = Simulation::new(setup.costs, setup.seed);
    let alone = nanos_of_acquisition(part) * (warm_up + wanted) as f64;
    simulation.limit = of_nanos((PATIENCE * alone).max(LEAST_TIME));
    let ran = simulation.run(jobs, Vec::new(), &|| false);

    let mut board = board.borrow_mut();
    let to = board.to.unwrap_or(ran.time);
    let (from, counted) = match board.from {
        Some(from) => (from, board.count.min(board.wanted) - board.warm_up),
        None => (0, board.count),
    };
    board.close(to);
    let window = to.saturating_sub(from).max(1) as f64;
    let spent = ran.spent.iter();
    let (work, charged) = spent
        .fold((0, 0), |(work, all), spent| (work + spent.on(Doing::Working), all + spent.total()));
    Some(Outcome {
        rate: counted as f64 * 1e9 / in_nanos(window as Time).max(1) as f64,
        busy: board.busy.iter().map(|busy| busy.time as f64 / window).collect(),
        waiting: board.waited as f64 / window / present as f64,
        overhead: 1.0 - work as f64 / charged.max(1) as f64,
        is_cut: board.to.is_none() && ran.end == End::TooLong,
        is_stuck: ran.end == End::Deadlock,
    })
}

/// The time of a thread alone from one acquisition to the next.
fn nanos_of_acquisition(part: &Part) -> f64 {
    let steps = part.threads.iter().flatten().flat_map(|passage| &passage.steps);
    let (nanos, count) = steps.fold((0.0, 0_u64), |(nanos, count), step| match *step {
        Step::Work(time) | Step::Sleep(time) | Step::Yield(time) => (nanos + time, count),
        Step::Lock(_) | Step::Read(_) | Step::Write(_) => (nanos, count + 1),
        _ => (nanos, count),
    });
    nanos / count.max(1) as f64
}

/// A value on its own cache lines.
#[repr(align(128))]
struct Apart<T>(T);

/// A lock of the recording.
struct Instance {
    mutex: Guarded<Sim, ()>,
    rwlock: Apart<RwLock>,
}

/// A reader-writer lock of the recording.
enum RwLock {
    Ondeck(RawRwLock<Sim>),
    Glibc(GlibcNormalRwLock<Sim>),
}

impl Instance {
    fn new(mutex: AnyMutex<Sim>) -> Self {
        let rwlock = match mutex.info.origin {
            Origin::Own => RwLock::Ondeck(RawRwLock::new()),
            _ => RwLock::Glibc(GlibcNormalRwLock::new()),
        };
        Self { mutex: Guarded::new(mutex, ()), rwlock: Apart(rwlock) }
    }
}

/// The busy time of a lock.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    /// Threads that have it or want it.
    users: usize,
    since: Time,
    time: Time,
}

/// The record of all threads together.
#[derive(Debug, Default)]
struct Board {
    count: u64,
    warm_up: u64,
    wanted: u64,
    /// The window.
    from: Option<Time>,
    to: Option<Time>,
    busy: Vec<Busy>,
    /// Threads that wait for any lock.
    waiting: u64,
    /// The time when that number last changed.
    waiting_since: Time,
    /// The total time that threads waited.
    waited: Time,
}

impl Board {
    fn now_wait(&mut self, waiting: u64, now: Time) {
        self.waited += self.waiting * (now - self.waiting_since);
        (self.waiting, self.waiting_since) = (waiting, now);
    }

    fn wants(&mut self, lock: Option<usize>, now: Time) {
        if self.to.is_none() {
            self.now_wait(self.waiting + 1, now);
        }
        let Some(lock) = lock else { return };
        let busy = &mut self.busy[lock];
        if busy.users == 0 {
            busy.since = now;
        }
        busy.users += 1;
    }

    fn has_unlocked(&mut self, lock: usize, now: Time) {
        let is_over = self.to.is_some();
        let busy = &mut self.busy[lock];
        busy.users -= 1;
        if busy.users == 0 && !is_over {
            busy.time += now - busy.since;
        }
    }

    /// A thread has acquired a lock that it wanted.
    fn acquired(&mut self, now: Time) {
        if self.to.is_some() {
            return;
        }
        self.count += 1;
        self.now_wait(self.waiting - 1, now);
        if self.from.is_none() && self.count >= self.warm_up {
            self.from = Some(now);
            self.waited = 0;
            for busy in &mut self.busy {
                (busy.time, busy.since) = (0, now);
            }
        } else if self.count >= self.wanted {
            self.close(now);
            self.to = Some(now);
        }
    }

    /// Adds the time of busy locks, and of waiting threads.
    fn close(&mut self, now: Time) {
        if self.to.is_none() {
            self.now_wait(self.waiting, now);
            for busy in self.busy.iter_mut().filter(|busy| busy.users != 0) {
                busy.time += now - busy.since;
            }
        }
    }
}

/// A simulated thread.
struct Player {
    passages: Rc<[Passage]>,
    shared: Rc<Vec<Option<Instance>>>,
    board: Rc<RefCell<Board>>,
    mutex: AnyMutex<Sim>,
    /// Boxed, so that a lock that is held does not move.
    own: HashMap<usize, Box<Instance>>,
    contexts: HashMap<usize, Context<Sim>>,
    held: usize,
}

impl Player {
    fn play(&mut self, mut rng: Rng) {
        let passages = Rc::clone(&self.passages);
        let all: f64 = passages.iter().map(|passage| passage.draw).sum();
        let mut place = rng.f64();
        loop {
            // By the golden ratio, so that each passage comes as often as it should also in a short
            // simulation.
            place = (place + GOLDEN).fract();
            let mut drawn = place * all;
            let is_it = |passage: &&Passage| {
                drawn -= passage.draw;
                drawn < 0.0
            };
            // The last, if the sum was rounded.
            let passage =
                passages.iter().find(is_it).unwrap_or_else(|| &passages[passages.len() - 1]);
            let entry = passage.entries[rng.usize(..passage.entries.len())];
            for step in &passage.steps[entry..] {
                if self.held == 0 && self.board.borrow().to.is_some() {
                    return;
                }
                self.take(*step);
            }
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Work(nanos) => Sim::work(nanos),
            Step::Sleep(nanos) => Sim::sleep(nanos as u64),
            Step::Yield(nanos) => {
                let end = Sim::now_free() + of_nanos(nanos);
                while Sim::now_free() < end {
                    Sim::yield_now();
                }
            }
            Step::Lock(lock) | Step::Read(lock) | Step::Write(lock) => self.acquire(step, lock),
            Step::Unlock(lock) | Step::EndRead(lock) | Step::EndWrite(lock) => {
                self.release(step, lock);
            }
        }
    }

    /// Makes the thread's state for a lock, which takes no time.
    fn prepare(&mut self, lock: usize) {
        if self.shared[lock].is_none() {
            self.own.entry(lock).or_insert_with(|| Box::new(Instance::new(self.mutex)));
        }
        if !self.contexts.contains_key(&lock) {
            let context = self.instance(lock).mutex.context();
            self.contexts.insert(lock, context);
        }
    }

    fn instance(&self, lock: usize) -> &Instance {
        self.shared[lock].as_ref().unwrap_or_else(|| &self.own[&lock])
    }

    fn acquire(&mut self, step: Step, lock: usize) {
        self.prepare(lock);
        let is_shared = self.shared[lock].is_some();
        let wanted = Sim::now_free();
        self.board.borrow_mut().wants(is_shared.then_some(lock), wanted);
        let instance = self.instance(lock);
        // SAFETY: a script never locks what the thread already holds, and this lock has its own
        // context in the thread.
        unsafe {
            match (step, &instance.rwlock.0) {
                (Step::Read(_), RwLock::Ondeck(lock)) => lock.lock_shared_counted(),
                (Step::Read(_), RwLock::Glibc(lock)) => lock.read(&()),
                (Step::Write(_), RwLock::Ondeck(lock)) => lock.lock_exclusive(),
                (Step::Write(_), RwLock::Glibc(lock)) => lock.write(&()),
                _ => instance.mutex.lock(&self.contexts[&lock]),
            }
        }
        self.held += 1;
        let now = Sim::now_free();
        self.board.borrow_mut().acquired(now);
    }

    fn release(&mut self, step: Step, lock: usize) {
        let instance = self.instance(lock);
        // SAFETY: a script unlocks only what the thread has acquired in the same way, here with the
        // same context.
        unsafe {
            match (step, &instance.rwlock.0) {
                (Step::EndRead(_), RwLock::Ondeck(lock)) => lock.unlock_shared_counted(),
                (Step::EndRead(_), RwLock::Glibc(lock)) => lock.unlock_read(&()),
                (Step::EndWrite(_), RwLock::Ondeck(lock)) => lock.unlock_exclusive(),
                (Step::EndWrite(_), RwLock::Glibc(lock)) => lock.unlock_write(&()),
                _ => instance.mutex.unlock(&self.contexts[&lock]),
            }
        }
        self.held -= 1;
        if self.shared[lock].is_some() {
            let now = Sim::now_free();
            self.board.borrow_mut().has_unlocked(lock, now);
        }
    }
}
