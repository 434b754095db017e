//! Kinds of locks, and the ways in which threads want and hold them.

use std::ffi::CStr;
use std::fmt;

use crate::stack::Stack;

/// The kind of a lock, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// A mutex, also a reentrant one, which is a mutex with a count.
    Mutex,
    /// A mutex whose unlock hands it to the thread that has waited longest.
    FairMutex,
    /// A mutex whose owner inherits priorities.
    PiMutex,
    /// A reader-writer lock.
    RwLock,
    /// A one-time initialization, held by the thread that runs it.
    Once,
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A lock: its address, its kind and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The address of its state. No two live locks have the same.
    pub address: usize,
    /// Its kind.
    pub kind: LockKind,
    /// Its name; an empty one if it has none.
    pub name: &'static CStr,
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x}", self.kind, self.address)?;
        if self.name.is_empty() {
            return Ok(());
        }
        write!(f, " \"{}\"", self.name.to_string_lossy())
    }
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Together with other readers.
    Read,
    /// Together with readers, by one thread only.
    Upgradable,
    /// Exclusively: by a writer, the owner of a mutex, the thread that runs the closure of a once.
    Alone,
}

impl Held {
    /// Returns whether two threads can hold one lock in these ways at the same time.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        use Held::{Alone, Upgradable};
        !matches!((self, other), (Alone, _) | (_, Alone) | (Upgradable, Upgradable))
    }
}

/// The fact that a thread holds a lock.
#[derive(Clone, Copy)]
pub(crate) struct Hold {
    pub(crate) lock: Lock,
    pub(crate) held: Held,
    /// Later holds have greater numbers.
    pub(crate) number: u64,
    /// Where the thread acquired it.
    pub(crate) stack: Stack,
}

/// How a thread wants a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// To read, after waiting writers.
    Read,
    /// To read, before waiting writers.
    Recursive,
    /// To read, after waiting writers, and perhaps to write later.
    Upgradable,
    /// To write, from an upgradable read.
    Upgrade,
    /// Exclusively.
    Alone,
}

impl Want {
    /// Returns how the lock is held after the acquisition.
    pub fn held(self) -> Held {
        match self {
            Self::Read | Self::Recursive => Held::Read,
            Self::Upgradable => Held::Upgradable,
            Self::Upgrade | Self::Alone => Held::Alone,
        }
    }

    /// Returns whether a thread that wants the lock waits for a thread that holds it.
    pub(crate) fn waits_for(self, held: Held) -> bool {
        match self {
            // Its own upgradable read does not exclude it, and there is no other one.
            Self::Upgrade => held == Held::Read,
            _ => !self.held().goes_with(held),
        }
    }

    /// Returns whether a thread that wants the lock also waits for a waiting writer while others
    /// read. If the lock has only an upgradable reader, a waiting writer does not keep readers out.
    pub(crate) fn waits_for_writers(self) -> bool {
        matches!(self, Self::Read | Self::Upgradable)
    }

    /// Returns whether the thread waits to write: readers that arrive later wait for it.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Upgrade | Self::Alone)
    }

    /// Returns whether a thread that wants the lock may wait for a thread that holds it: directly,
    /// or because a third thread waits to write.
    pub(crate) fn may_wait_for(self, held: Held) -> bool {
        self.waits_for(held) || self.waits_for_writers() && held == Held::Read
    }
}

/// Whether a wait ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It ends when the lock is acquired.
    Never,
    /// It also ends at a deadline. Such a wait is part of no deadlock and of no lock order.
    AtADeadline,
}
