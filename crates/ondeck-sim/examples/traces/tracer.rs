//! Translates the machine's events into events of a specification, with the specification's names of the
//! accessed data.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use ondeck::parking::Shown;
use ondeck::platform::{Host, Threads};
use ondeck_sim::engine::{End, Job, Sim, Simulation, Step};
use ondeck_sim::schedule::Schedule;

/// The variables that a specification has for its lock, besides the bucket's lock and the nodes of the queues.
pub trait Names: Sized {
    /// Returns the address of one object in each bucket.
    fn objects(&self) -> &[usize];

    /// Adds an event to the tracer if an access to this address is one.
    fn see(tracer: &mut Tracer<Self>, thread: usize, address: usize, step: Step, in_section: bool);

    /// Adds an event to the tracer for an access of a thread to the status of another.
    fn see_status(_: &mut Tracer<Self>, _thread: usize, _other: usize, _: Step) {}

    /// Returns the name of the bucket of that object, unless there is only one.
    fn bucket(&self, _object: usize) -> Option<String> {
        None
    }

    /// Returns the state that a section leaves in the bucket of that object, in TLA+.
    fn after(&self, tracer: &Tracer<Self>, object: usize, shown: &[Shown]) -> Vec<String>;
}

/// A section of a bucket's lock that has not ended.
struct Section {
    /// An object of the bucket.
    object: usize,
    thread: usize,
    /// The place of its beginning among the events.
    at: usize,
}

/// What a trace has of a run.
pub struct Tracer<N> {
    /// The events, in TLA+.
    events: Vec<String>,
    /// The last events of each thread, up to the last that is another.
    latest: HashMap<usize, Vec<String>>,
    /// Known once a thread of the machine has determined them.
    pub names: Option<N>,
    /// The words of nodes, and the threads on whose stacks these are. The node that a thread linked last comes last.
    nodes: Vec<(usize, usize)>,
    sections: Vec<Section>,
}

/// The result of a section is known at its end. Until then its event has this text.
const OPEN: &str = "";

impl<N: Names> Tracer<N> {
    fn new() -> Self {
        Self {
            events: Vec::new(),
            latest: HashMap::new(),
            names: None,
            nodes: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Adds an event of a thread with its arguments.
    pub fn add(&mut self, what: &str, thread: usize, rest: &[String]) {
        let mut words = vec![format!("\"{what}\""), (thread + 1).to_string()];
        words.extend_from_slice(rest);
        let event = format!("<<{}>>", words.join(", "));
        // A thread that pauses reads the same value repeatedly. Two reads suffice to explain its next step.
        let mine = self.latest.entry(thread).or_default();
        mine.retain(|before| *before == event);
        let again = match what {
            // No other thread changes a status and changes it back.
            "status" => mine.len(),
            "load" | "waits" => {
                self.events.iter().rev().take_while(|&other| *other == event).count()
            }
            _ => 0,
        };
        if again < 2 {
            mine.push(event.clone());
            self.events.push(event);
        }
    }

    /// The events; those of a section that has no end are left out, with all after it.
    fn take(&mut self) -> Vec<String> {
        let mut events = std::mem::take(&mut self.events);
        if let Some(first) = self.sections.iter().map(|section| section.at).min() {
            events.truncate(first);
        }
        events
    }

    fn thread_of(&self, word: usize) -> Option<usize> {
        self.nodes.iter().find(|node| node.0 == word).map(|node| node.1)
    }

    /// Returns whether the thread linked this node after all its others.
    fn is_latest(&self, thread: usize, word: usize) -> bool {
        self.nodes.iter().rfind(|node| node.1 == thread).is_some_and(|node| node.0 == word)
    }

    /// Returns the thread of a linked node, in TLA+.
    pub fn thread(&self, node: &Shown) -> String {
        (self.thread_of(node.word).unwrap_or(99) + 1).to_string()
    }

    fn end_section(&mut self, thread: usize, object: usize) {
        let is = |section: &Section| (section.object, section.thread) == (object, thread);
        let Some(place) = self.sections.iter().position(is) else {
            return self.add("not its own", thread, &[]);
        };
        let at = self.sections.remove(place).at;
        let mut shown = Vec::new();
        // SAFETY: the listener is called in the middle of a step, in which nothing else happens.
        unsafe { Sim::bucket(object).show(|node| shown.push(node)) };
        for node in &shown {
            // Only a thread itself links its node for the first time.
            let owner = self.thread_of(node.word).unwrap_or(thread);
            self.nodes.retain(|known| known.0 != node.word);
            self.nodes.push((node.word, owner));
        }
        let Some(names) = self.names.take() else { return };
        let bucket = Vec::from_iter(names.bucket(object));
        let words = [vec!["\"in\"".into(), (thread + 1).to_string()], bucket.clone()];
        let words = [words.concat(), names.after(self, object, &shown)].concat();
        self.events[at] = format!("<<{}>>", words.join(", "));
        self.names = Some(names);
        self.add("out", thread, &bucket);
    }

    fn see(&mut self, thread: usize, address: Option<usize>, step: Step) {
        let Some(address) = address else {
            return match step {
                Step::Fence => self.add("fence", thread, &[]),
                Step::HeavyFence => self.add("heavy", thread, &[]),
                _ => {}
            };
        };
        let Some(objects) = self.names.as_ref().map(N::objects) else { return };
        let is_its = |&object: &usize| Sim::bucket(object).lock_word() == address;
        let in_section = self.sections.iter().any(|section| section.thread == thread);
        if let Some(object) = objects.iter().copied().find(is_its) {
            match step {
                Step::Exchange(0, _) => {
                    self.sections.push(Section { object, thread, at: self.events.len() });
                    self.events.push(OPEN.into());
                }
                Step::Exchange(_, 0) | Step::Store(0) => self.end_section(thread, object),
                Step::Load(_) | Step::Sleep if in_section => {
                    let bucket = self.names.as_ref().and_then(|names| names.bucket(object));
                    self.add("waits", thread, &Vec::from_iter(bucket));
                }
                _ => {}
            }
        } else if let Some(whose) = self.thread_of(address) {
            match step {
                Step::Load(is) if self.is_latest(thread, address) && !in_section => {
                    self.add("status", thread, &[status(is)]);
                }
                Step::Sleep if whose == thread => self.add("sleep", thread, &[]),
                Step::Wake(_) => self.add("wake", thread, &[(whose + 1).to_string()]),
                // The stack of a thread has other fields now where the status of an earlier node was.
                _ if whose != thread && self.is_latest(whose, address) => {
                    N::see_status(self, thread, whose, step);
                }
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
    let names = [
        "parked",
        "near",
        "heir",
        "woken",
        "in flight",
        "compete",
        "done",
        "chosen",
        "together",
        "offered",
    ];
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
