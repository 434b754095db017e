//! Reports of deadlocks and potential deadlocks.

use std::fmt;

use crate::kinds::{Held, Lock, Want};
use crate::stack::Stack;
use crate::thread::Thread;

/// The subject of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// Threads wait for each other in a circle, forever.
    Deadlock,
    /// A thread waits forever for a lock that it holds itself.
    SelfDeadlock,
    /// Locks were acquired in orders that form a circle: the threads may deadlock, in this run or
    /// in another.
    Inversion,
    /// A thread that reads a lock reads it again, not recursively: it deadlocks if a writer waits
    /// in between.
    RecursiveRead,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug)]
pub struct Holding {
    /// The lock.
    pub lock: Lock,
    /// How it is held.
    pub held: Held,
    /// Where the thread acquired it.
    pub stack: Stack,
}

/// A thread that holds one lock and wants another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The thread.
    pub thread: Thread,
    /// The lock that it holds and the thread of the previous edge waits for. None if the previous
    /// thread waits because this one waits to write.
    pub holds: Option<Holding>,
    /// The lock that it wants.
    pub wants: Lock,
    /// How the thread wants the lock.
    pub want: Want,
    /// Where the thread asked for the lock.
    pub stack: Stack,
}

/// A deadlock or a potential one: the thread of each edge wants the lock that the next one holds,
/// and the last wants the lock of the first.
///
/// Its `Display` is the printed text, with the names of functions, which are looked up when it is
/// printed.
#[derive(Clone, Debug)]
pub struct Report {
    /// The subject of the report.
    pub kind: ReportKind,
    /// One for each thread, or for each order of two locks.
    pub edges: Vec<Edge>,
}

impl Report {
    /// Returns whether its threads do wait forever, rather than may.
    pub fn has_come_about(&self) -> bool {
        matches!(self.kind, ReportKind::Deadlock | ReportKind::SelfDeadlock)
    }

    /// Returns the first line of its text.
    pub fn headline(&self) -> String {
        match self.kind {
            ReportKind::Deadlock => {
                format!("deadlock: {} threads wait for each other", self.edges.len())
            }
            ReportKind::SelfDeadlock => "deadlock: a thread waits for a lock that it holds".into(),
            ReportKind::Inversion => {
                let count = self.edges.len();
                format!("lock-order inversion: {count} orders make a circle, which may deadlock")
            }
            ReportKind::RecursiveRead => {
                "a read within a read, which deadlocks if a writer waits in between".into()
            }
        }
    }
}

fn participle(held: Held) -> &'static str {
    match held {
        Held::Read => "locked to read",
        Held::Upgradable => "locked to read, upgradable,",
        Held::Alone => "locked",
    }
}

fn infinitive(want: Want) -> &'static str {
    match want {
        Want::Read => "to read",
        Want::Recursive => "to read, recursively,",
        Want::Upgradable => "to read, upgradable,",
        Want::Upgrade => "to upgrade",
        Want::Alone => "to lock",
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  thread {} ({})", self.thread.tid, self.thread.name())?;
        if let Some(Holding { lock, held, stack }) = &self.holds {
            write!(f, "    has {lock} {} at\n{stack}", participle(*held))?;
        }
        write!(f, "    wants {} {} at\n{}", infinitive(self.want), self.wants, self.stack)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "ondeck: {}", self.headline())?;
        self.edges.iter().try_for_each(|edge| edge.fmt(f))
    }
}
