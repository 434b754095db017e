//! Translates the machine's events into events of a specification, with the specification's names of the
//! accessed data.

use std::cell::RefCell;
use std::rc::Rc;

use ondeck::parking::Shown;
use ondeck::platform::{AtomicInt, Host};
use ondeck_sim::engine::{Listener, Sim, Step};

/// The part of a run that becomes a trace.
#[derive(Default)]
pub struct Tracer {
    /// The events, in TLA+.
    events: Vec<String>,
    /// The addresses of the locks, all of which share a bucket.
    locks: Vec<usize>,
    /// The words of nodes, and the threads on whose stacks the nodes are.
    nodes: Vec<(usize, usize)>,
    /// The thread that holds the bucket's lock, and the place of its section among the events.
    holder: Option<(usize, usize)>,
}

/// The result of a section is known at its end. Until then its event has this text.
const OPEN: &str = "";

impl Tracer {
    /// Sets the addresses of the locks.
    pub fn set_locks(&mut self, locks: Vec<usize>) {
        self.locks = locks;
    }

    /// Adds an event of a thread with its arguments.
    pub fn add(&mut self, what: &str, thread: usize, rest: &[String]) {
        let mut words = vec![format!("\"{what}\""), (thread + 1).to_string()];
        words.extend_from_slice(rest);
        let event = format!("<<{}>>", words.join(", "));
        // A thread that pauses reads the same value repeatedly. Two reads suffice to explain its next step.
        let same = self.events.iter().rev().take_while(|&before| *before == event).count();
        if what != "status" || same < 2 {
            self.events.push(event);
        }
    }

    /// Returns the events up to the first section that has no end.
    pub fn take(&mut self) -> Vec<String> {
        let mut events = std::mem::take(&mut self.events);
        if let Some((_, at)) = self.holder {
            events.truncate(at);
        }
        events
    }

    fn name(&self, address: usize) -> Option<String> {
        let lock = self.locks.iter().position(|&lock| lock == address)?;
        Some(format!("\"{}\"", ["a", "c"][lock]))
    }

    fn thread_of(&self, word: usize) -> Option<usize> {
        self.nodes.iter().find(|node| node.0 == word).map(|node| node.1)
    }

    /// An unlock mode.
    fn mode(&self, mode: u64) -> String {
        let asks = ["nothing", "debt", "wake", "hand"][mode as usize & 3];
        let of = self.locks.iter().find(|&&lock| (lock as u64) << 2 == mode & !3);
        match of.and_then(|&lock| self.name(lock)) {
            Some(name) => format!("<<{name}, \"{asks}\">>"),
            None if mode == 0 => "QuietMode".into(),
            None => format!("<<None, \"{mode:#x}\">>"),
        }
    }

    fn begin_section(&mut self, thread: usize) {
        self.holder = Some((thread, self.events.len()));
        self.events.push(OPEN.into());
    }

    fn end_section(&mut self, thread: usize) {
        let Some((holder, at)) = self.holder.take().filter(|holder| holder.0 == thread) else {
            return self.add("not its own", thread, &[]);
        };
        let mut shown = Vec::new();
        // SAFETY: the listener runs in the middle of a step, during which nothing else happens.
        unsafe { Sim::bucket(self.locks[0]).show(|node| shown.push(node)) };
        for node in &shown {
            if self.thread_of(node.word).is_none() {
                // Only a thread itself links its node.
                self.nodes.push((node.word, holder));
            }
        }
        let mode = Sim::unlock_mode(self.locks[0]).load(ondeck::platform::Ordering::Relaxed);
        let threads = |those: &dyn Fn(&Shown) -> bool| {
            let those = shown.iter().filter(|node| those(node));
            those.map(|node| (self.thread_of(node.word).unwrap_or(99) + 1).to_string()).collect()
        };
        let each = |text: &dyn Fn(usize) -> String| {
            let fields = self.locks.iter().enumerate();
            let fields = fields.map(|(n, &lock)| format!("{} |-> {}", ["a", "c"][n], text(lock)));
            format!("[{}]", fields.collect::<Vec<_>>().join(", "))
        };
        let one = |those: Vec<String>| match &*those {
            [] => "None".to_owned(),
            [one] => one.clone(),
            _ => "0".into(),
        };
        let list = |those: Vec<String>| those.join(", ");
        let statuses = shown.iter().map(|node| {
            let thread = self.thread_of(node.word).unwrap_or(99) + 1;
            format!("<<{thread}, {}>>", status(node.status.into()))
        });
        let after = [
            each(&|lock| format!("<<{}>>", list(threads(&|node| node.address == lock)))),
            each(&|lock| one(threads(&|node| node.address == lock && node.is_heir))),
            each(&|lock| one(threads(&|node| node.address == lock && node.is_woken_last))),
            format!("{{{}}}", list(threads(&|node| node.has_asked))),
            format!("{{{}}}", list(threads(&|node| node.priority != 0))),
            self.mode(mode as u64),
            format!("{{{}}}", list(statuses.collect())),
        ];
        self.events[at] = format!("<<\"in\", {}, {}>>", thread + 1, after.join(", "));
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
        let Some(&first) = self.locks.first() else { return };
        let in_section = self.holder.is_some_and(|holder| holder.0 == thread);
        if address == Sim::bucket(first).lock_word() {
            match step {
                Step::Exchange(0, _) => self.begin_section(thread),
                Step::Exchange(_, 0) | Step::Store(0) => self.end_section(thread),
                _ => {}
            }
        } else if let Some(name) = self.name(address) {
            match step {
                Step::Exchange(old, 1) => self.add("try", thread, &[name, old.to_string()]),
                // An access that finds the lock unlocked is followed by an attempt.
                Step::Load(0) => {}
                Step::Load(1) => self.add("read", thread, &[name]),
                Step::Store(0) => self.add("clear", thread, &[name]),
                _ => self.add("odd", thread, &[name, format!("\"{step:?}\"")]),
            }
        } else if address == std::ptr::from_ref(Sim::unlock_mode(first)).addr() {
            match step {
                Step::Load(mode) if !in_section => {
                    let mode = self.mode(mode);
                    self.add("mode", thread, &[mode]);
                }
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
        }
    }
}

fn status(status: u64) -> String {
    let names = ["parked", "near", "heir", "woken", "in flight", "compete", "done"];
    format!("\"{}\"", names.get(status as usize).copied().unwrap_or("unknown"))
}

/// Returns a listener that passes a machine's events to that tracer.
pub fn listener(tracer: &Rc<RefCell<Tracer>>) -> Rc<Listener> {
    let tracer = Rc::clone(tracer);
    Rc::new(move |thread, address, step| tracer.borrow_mut().see(thread, address, step))
}
