//! An execution: events, the source of each read's value, and the order in which writes became
//! visible.

use std::fmt;

use crate::event::{Kind, Program};
use crate::relation::Relation;

/// One execution of a litmus test.
#[derive(Debug)]
pub struct Execution {
    pub(crate) program: std::rc::Rc<Program>,
    /// From a write to the reads that return its value.
    pub(crate) rf: Relation,
    /// Coherence: the order of the writes of each location.
    pub(crate) co: Relation,
    /// From a read to the writes after the one whose value it returns.
    pub(crate) fr: Relation,
}

impl Execution {
    /// Completes reads-from and coherence.
    pub(crate) fn new(program: std::rc::Rc<Program>, rf: Relation, co: Relation) -> Self {
        let fr = &rf.inverse().then(&co) - &same(program.events.len());
        Self { program, rf, co, fr }
    }

    /// Returns the pairs of a relation whose events are of different threads, or of one thread.
    pub(crate) fn external(&self, relation: &Relation) -> Relation {
        self.by_thread(relation, false)
    }

    /// Returns the pairs of a relation whose events are of one thread.
    pub(crate) fn internal(&self, relation: &Relation) -> Relation {
        self.by_thread(relation, true)
    }

    fn by_thread(&self, relation: &Relation, one: bool) -> Relation {
        let events = &self.program.events;
        let mut part = Relation::empty(events.len());
        for (from, to) in relation.pairs() {
            let is_one = events[from].thread.is_some() && events[from].thread == events[to].thread;
            if is_one == one {
                part.add(from, to);
            }
        }
        part
    }
}

fn same(count: usize) -> Relation {
    Relation::empty(count).or_same()
}

impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, event) in self.program.events.iter().enumerate() {
            let thread = event.thread.map_or("initially".to_owned(), |t| format!("thread {t}"));
            let (location, value) = (event.location, event.value);
            match event.kind {
                Kind::Read { acquire } => {
                    let from = self.rf.pairs().find(|(_, to)| *to == i).map(|(from, _)| from);
                    writeln!(
                        f,
                        "{i:3} {thread}: read {location} = {value:#x} {acquire:?} of {from:?}"
                    )?;
                }
                Kind::Write { release } => {
                    let release = if release { " release" } else { "" };
                    let later: Vec<_> =
                        self.co.pairs().filter(|(from, _)| *from == i).map(|p| p.1).collect();
                    writeln!(
                        f,
                        "{i:3} {thread}: write {location} = {value:#x}{release}, before {later:?}"
                    )?;
                }
                Kind::Fence { .. } => writeln!(f, "{i:3} {thread}: {:?}", event.kind)?,
            }
        }
        Ok(())
    }
}
