//! What a lock is, how it is wanted and how it is held.

use std::fmt;

use crate::stack::Stack;

/// The kind of a lock, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// A mutex; a reentrant one, too, which is a mutex with a count.
    Mutex,
    /// A mutex whose unlock hands it to the thread that has waited longest.
    FairMutex,
    /// A mutex whose owner inherits priorities.
    PiMutex,
    /// A reader-writer lock.
    RwLock,
    /// Something that is done once: held by the thread that does it.
    Once,
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A lock: its address and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The address of its state. No two locks that live have the same.
    pub address: usize,
    /// Its kind.
    pub kind: LockKind,
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x}", self.kind, self.address)
    }
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Beside other readers.
    Read,
    /// Beside readers, and by one thread only.
    Upgradable,
    /// Alone: a writer, the owner of a mutex, the thread that runs the closure of a once.
    Alone,
}

impl Held {
    /// Whether two threads can have one lock in these ways at the same time.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        use Held::{Alone, Upgradable};
        !matches!((self, other), (Alone, _) | (_, Alone) | (Upgradable, Upgradable))
    }
}

/// That a thread holds a lock.
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
    /// To read, after writers that wait.
    Read,
    /// To read, before writers that wait.
    Recursive,
    /// To read, after writers that wait, and perhaps to write later.
    Upgradable,
    /// To write, from an upgradable read.
    Upgrade,
    /// To have it alone.
    Alone,
}

impl Want {
    /// How the lock is held after it was acquired.
    pub fn held(self) -> Held {
        match self {
            Self::Read | Self::Recursive => Held::Read,
            Self::Upgradable => Held::Upgradable,
            Self::Upgrade | Self::Alone => Held::Alone,
        }
    }

    /// Whether a thread that wants the lock waits for one that holds it.
    pub(crate) fn waits_for(self, held: Held) -> bool {
        match self {
            // Its own upgradable read is no hindrance, and there is no other one.
            Self::Upgrade => held == Held::Read,
            _ => !self.held().goes_with(held),
        }
    }

    /// Whether a thread that wants the lock also waits for one that waits to write, while others read. Beside an
    /// upgradable read alone a writer that waits keeps no reader out.
    pub(crate) fn waits_for_writers(self) -> bool {
        matches!(self, Self::Read | Self::Upgradable)
    }

    /// Whether the thread waits to write: readers that come later wait for it.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Upgrade | Self::Alone)
    }

    /// Whether a thread that wants the lock may wait for one that holds it: at once, or because a third thread
    /// waits to write.
    pub(crate) fn may_wait_for(self, held: Held) -> bool {
        self.waits_for(held) || self.waits_for_writers() && held == Held::Read
    }
}

/// Whether a wait ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It ends when the lock is acquired.
    Never,
    /// It ends at a deadline, too. Such a wait is in no deadlock, and makes no order of locks.
    AtADeadline,
}
