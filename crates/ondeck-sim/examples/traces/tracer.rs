//! Translates the machine's events into events of a specification, with the specification's names of the
//! accessed data.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use ondeck::parking::Shown;
use ondeck::platform::{Host, Threads};
use ondeck_sim::check::Schedule;
use ondeck_sim::engine::{End, Job, Sim, Simulation, Step};

/// The variables that a specification has for its lock, besides the bucket's lock and the nodes of the queues.
pub trait Names: Sized {
    /// Returns the address of one of the locks, which all share a bucket.
    fn lock(&self) -> usize;

    /// Adds an event to the tracer if an access to this address is one.
    fn see(tracer: &mut Tracer<Self>, thread: usize, address: usize, step: Step, in_section: bool);

    /// Returns the state that a section leaves, in TLA+.
    fn after(tracer: &Tracer<Self>, shown: &[Shown]) -> Vec<String>;
}

/// What a trace has of a run.
pub struct Tracer<N> {
    /// The events, in TLA+.
    events: Vec<String>,
    /// Known once a thread of the machine has determined them.
    pub names: Option<N>,
    /// The words of nodes, and the threads on whose stacks these are.
    nodes: Vec<(usize, usize)>,
    /// The thread that holds the bucket's lock, and the place of its section among the events.
    holder: Option<(usize, usize)>,
}

/// The result of a section is known at its end. Until then its event has this text.
const OPEN: &str = "";

impl<N: Names> Tracer<N> {
    fn new() -> Self {
        Self { events: Vec::new(), names: None, nodes: Vec::new(), holder: None }
    }

    /// Adds an event of a thread with its arguments.
    pub fn add(&mut self, what: &str, thread: usize, rest: &[String]) {
        let mut words = vec![format!("\"{what}\""), (thread + 1).to_string()];
        words.extend_from_slice(rest);
        let event = format!("<<{}>>", words.join(", "));
        // A thread that pauses reads the same value repeatedly. Two reads suffice to explain its next step.
        let same = self.events.iter().rev().take_while(|&before| *before == event).count();
        if !["status", "load"].contains(&what) || same < 2 {
            self.events.push(event);
        }
    }

    /// The events; those of a section that has no end are left out, with all after it.
    fn take(&mut self) -> Vec<String> {
        let mut events = std::mem::take(&mut self.events);
        if let Some((_, at)) = self.holder {
            events.truncate(at);
        }
        events
    }

    fn thread_of(&self, word: usize) -> Option<usize> {
        self.nodes.iter().find(|node| node.0 == word).map(|node| node.1)
    }

    /// Returns the thread of a linked node, in TLA+.
    pub fn thread(&self, node: &Shown) -> String {
        (self.thread_of(node.word).unwrap_or(99) + 1).to_string()
    }

    fn end_section(&mut self, thread: usize, lock: usize) {
        let Some((holder, at)) = self.holder.take().filter(|holder| holder.0 == thread) else {
            return self.add("not its own", thread, &[]);
        };
        let mut shown = Vec::new();
        // SAFETY: the listener is called in the middle of a step, in which nothing else happens.
        unsafe { Sim::bucket(lock).show(|node| shown.push(node)) };
        for node in &shown {
            if self.thread_of(node.word).is_none() {
                // Only a thread itself links its node.
                self.nodes.push((node.word, holder));
            }
        }
        let after = N::after(self, &shown).join(", ");
        self.events[at] = format!("<<\"in\", {}, {after}>>", thread + 1);
        self.add("out", thread, &[]);
    }

    fn see(&mut self, thread: usize, address: Option<usize>, step: Step) {
        let Some(address) = address else {
            return match step {
                Step::Fence => self.add("fence", thread, &[]),
                Step::HeavyFence => self.add("heavy", thread, &[]),
                _ => {}
            };
        };
        let Some(lock) = self.names.as_ref().map(N::lock) else { return };
        let in_section = self.holder.is_some_and(|holder| holder.0 == thread);
        if address == Sim::bucket(lock).lock_word() {
            match step {
                Step::Exchange(0, _) => {
                    self.holder = Some((thread, self.events.len()));
                    self.events.push(OPEN.into());
                }
                Step::Exchange(_, 0) | Step::Store(0) => self.end_section(thread, lock),
                _ => {}
            }
        } else if let Some(whose) = self.thread_of(address) {
            match step {
                Step::Load(is) if whose == thread && !in_section => {
                    self.add("status", thread, &[status(is)]);
                }
                Step::Sleep if whose == thread => self.add("sleep", thread, &[]),
                Step::Wake(_) => self.add("wake", thread, &[(whose + 1).to_string()]),
                _ => {}
            }
        } else if matches!(step, Step::Wake(_)) {
            self.add("odd", thread, &["\"a wake of no node\"".into()]);
        } else {
            N::see(self, thread, address, step, in_section);
        }
    }
}

/// Returns the status of a node, in TLA+.
pub fn status(status: u64) -> String {
    let names =
        ["parked", "near", "heir", "woken", "in flight", "compete", "done", "chosen", "together"];
    format!("\"{}\"", names.get(status as usize).copied().unwrap_or("unknown"))
}

/// Traces threads under this schedule; also returns whether all of them ended.
pub fn trace<N: Names + 'static>(
    schedule: &Schedule,
    limit: u64,
    jobs: impl Fn(&Rc<RefCell<Tracer<N>>>) -> Vec<Job>,
) -> (Vec<String>, bool) {
    let tracer = Rc::new(RefCell::new(Tracer::new()));
    let sees = Rc::clone(&tracer);
    let simulation = Simulation {
        unrest: schedule.unrest.clone(),
        limit: limit * schedule.limit,
        listener: Some(Rc::new(move |thread, address, step| {
            sees.borrow_mut().see(thread, address, step);
        })),
        ..Simulation::new(&schedule.costs, schedule.seed)
    };
    let ran =
        catch_unwind(AssertUnwindSafe(|| simulation.run(jobs(&tracer), Vec::new(), &|| false)));
    let ended = ran.is_ok_and(|ran| ran.end == End::Done);
    let events = tracer.borrow_mut().take();
    (events, ended)
}

/// Works in a section, or between two sections, for a random time. Some times outlast a slice of a sleep.
pub fn work(is_section: bool) {
    match [2, 4, 3, 24].iter().position(|&one_in| Sim::once_in(one_in)) {
        Some(0) => Sim::work(150.0),
        Some(1) => Sim::work(10_000.0),
        Some(2) if is_section => Sim::sleep(150_000),
        Some(3) => Sim::sleep(22_000_000),
        _ => {}
    }
}
