//! Events of an execution, and their order in threads.
//!
//! Dependencies between the accesses of a thread order nothing here, because the C++ model allows a compiler to break
//! them.

use crate::relation::{Events, Relation};
use crate::{Acquire, Instr, Ordering, Set};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read { acquire: Acquire },
    Write { release: bool },
    Fence { before: Set, after: Set, order: Ordering },
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The number of its thread; none for an initial write.
    pub thread: Option<usize>,
    pub kind: Kind,
    /// The location of a read or a write.
    pub location: usize,
    pub value: u64,
    /// Whether it is one half of a read-modify-write.
    pub atomic: bool,
}

/// The events of all threads, without the choices of the memory.
#[derive(Debug)]
pub struct Program {
    pub events: Vec<Event>,
    /// Program order.
    pub po: Relation,
    /// From the read of a read-modify-write to its write.
    pub rmw: Relation,
    /// The pairs of halves that are one instruction.
    pub single: Vec<(usize, usize)>,
    /// A heavy fence is before the fences that it causes in other threads, and these are before its end.
    pub forced: Relation,
}

/// A fence, by thread and place, that is before a fence of another thread: `((thread, place), (thread, place))`, by
/// instructions.
pub type Forced = ((usize, usize), (usize, usize));

impl Program {
    /// Creates the events of threads. Each location that occurs begins with its value in `initial`, by a write of no
    /// thread.
    pub fn of(threads: &[Vec<Instr>], initial: impl Fn(usize) -> u64, forced: &[Forced]) -> Self {
        let mut events = Vec::new();
        let mut locations: Vec<usize> = threads.iter().flatten().filter_map(location).collect();
        locations.sort_unstable();
        locations.dedup();
        for location in locations {
            let (kind, value) = (Kind::Write { release: false }, initial(location));
            events.push(Event { thread: None, kind, location, value, atomic: false });
        }
        // The events of each instruction: first and last.
        let mut places = Vec::new();
        let mut halves = Vec::new();
        for (number, thread) in threads.iter().enumerate() {
            let mut of_thread = Vec::new();
            for instr in thread {
                let first = events.len();
                push(&mut events, number, *instr);
                let last = events.len() - 1;
                if let Instr::Modify { single, .. } = instr {
                    halves.push((first, last, *single));
                }
                of_thread.push((first, last));
            }
            places.push(of_thread);
        }
        let none = || Relation::empty(events.len());
        let mut program = Self {
            po: none(),
            rmw: none(),
            single: halves.iter().filter(|h| h.2).map(|h| (h.0, h.1)).collect(),
            forced: none(),
            events: Vec::new(),
        };
        for (from, a) in events.iter().enumerate() {
            for (to, b) in events.iter().enumerate().skip(from + 1) {
                if a.thread.is_some() && a.thread == b.thread {
                    program.po.add(from, to);
                }
            }
        }
        for (read, write, _) in halves {
            program.rmw.add(read, write);
        }
        for &((thread, place), (other, at)) in forced {
            program.forced.add(places[thread][place].0, places[other][at].0);
        }
        program.events = events;
        program
    }

    /// Returns the events for which `is` returns true.
    pub fn which(&self, is: impl Fn(&Event) -> bool) -> Events {
        let events = self.events.iter().enumerate().filter(|(_, event)| is(event));
        events.fold(0, |set, (i, _)| set | 1 << i)
    }

    /// Returns the reads.
    pub fn reads(&self) -> Events {
        self.which(|e| matches!(e.kind, Kind::Read { .. }))
    }

    /// Returns the writes, including initial ones.
    pub fn writes(&self) -> Events {
        self.which(|e| matches!(e.kind, Kind::Write { .. }))
    }

    /// Returns the pairs of accesses of one thread to one location, in program order.
    pub fn po_of_location(&self) -> Relation {
        let memory = self.reads() | self.writes();
        let mut same = Relation::empty(self.events.len());
        for (from, to) in self.po.between(memory, memory).pairs() {
            if self.events[from].location == self.events[to].location {
                same.add(from, to);
            }
        }
        same
    }

    /// Returns the order by barriers: from accesses to the barrier after them, and from the barrier to the accesses
    /// after it.
    pub fn fenced(&self) -> Relation {
        let mut fenced = Relation::empty(self.events.len());
        let in_set = |event: &Event, set: Set| match event.kind {
            Kind::Read { .. } => set.reads,
            Kind::Write { .. } => set.writes,
            Kind::Fence { .. } => false,
        };
        for (from, to) in self.po.pairs() {
            let (a, b) = (&self.events[from], &self.events[to]);
            let into = matches!(b.kind, Kind::Fence { before, .. } if in_set(a, before));
            let out = matches!(a.kind, Kind::Fence { after, .. } if in_set(b, after));
            if into || out {
                fenced.add(from, to);
            }
        }
        fenced | &self.forced
    }
}

fn location(instr: &Instr) -> Option<usize> {
    match *instr {
        Instr::Read { location, .. }
        | Instr::Write { location, .. }
        | Instr::Modify { location, .. } => Some(location),
        Instr::Barrier { .. } | Instr::Heavy => None,
    }
}

fn push(events: &mut Vec<Event>, thread: usize, instr: Instr) {
    let thread = Some(thread);
    let mut add = |kind, location, value, atomic| {
        events.push(Event { thread, kind, location, value, atomic });
    };
    match instr {
        Instr::Read { location, value, acquire } => {
            add(Kind::Read { acquire }, location, value, false);
        }
        Instr::Write { location, value, release } => {
            add(Kind::Write { release }, location, value, false);
        }
        Instr::Modify { location, read, written, acquire, release, .. } => {
            add(Kind::Read { acquire }, location, read, true);
            add(Kind::Write { release }, location, written, true);
        }
        Instr::Barrier { before, after, order } => {
            add(Kind::Fence { before, after, order }, 0, 0, false);
        }
        Instr::Heavy => unreachable!("heavy fences have been placed"),
    }
}
