//! The facts of a lock, known before it is measured.

use std::fmt;

/// The facts of one lock: its row in the table of locks.
#[derive(Clone, Copy, Debug)]
pub struct LockInfo {
    /// The name that commands and reports use: lower case, words joined by underscores.
    pub name: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// What a thread does while it waits.
    pub waiting: Waiting,
    /// Which thread acquires the lock next.
    pub fairness: Fairness,
    /// Whether an unlock may read or write the lock's memory after another thread could have
    /// acquired it. Such a lock must not be freed by the thread that locks it last.
    pub touches_after_release: bool,
    /// Which condition variable this lock has.
    pub condvar: CondvarKind,
    /// Author and title of the text or program that the lock is from.
    pub source: &'static str,
    /// One sentence: what this lock shows that others do not.
    pub teaches: &'static str,
}

impl LockInfo {
    /// The facts in which most locks agree, for the end of a lock's own: it is from the literature,
    /// its waiters spin, it bars no thread from barging in, leaves its memory alone
    /// after an unlock, and has the generic condition variable.
    pub const USUAL: Self = Self {
        name: "",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Barging,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "",
        teaches: "",
    };
}

/// The purpose of a lock. Locks of one kind are measured against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Mutual exclusion: [`RawLock`](crate::RawLock).
    Mutex,
    /// One writer or many readers: [`RawRwLock`](crate::RawRwLock).
    RwLock,
}

/// Where a lock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The three texts that this project started from: Skarupke's, Lockless', Go's.
    Sources,
    /// Papers and books.
    Literature,
    /// This project.
    Own,
    /// Another library's own implementation, called as its users call it.
    Peer,
}

/// What a thread does while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Runs until it has the lock. Other threads get its CPU only by preemption.
    Spins,
    /// Runs, and now and then offers its CPU by sched_yield(2).
    Yields,
    /// Sleeps in the kernel at once or nearly at once.
    Sleeps,
    /// Runs for a bounded time, then sleeps.
    SpinsThenSleeps,
}

/// Which thread acquires the lock next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// Any thread that attempts it at the right moment. A waiter may be passed over without bound.
    Barging,
    /// Barging, but a waiter that was passed over for too long acquires next.
    Bounded,
    /// Strictly the order of arrival.
    Fifo,
    /// The waiter of the highest priority.
    Priority,
}

/// Which condition variable a lock has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CondvarKind {
    /// The lock's own, from its source or its library. It may depend on the lock's implementation.
    Own,
    /// [`SequenceCondvar`](crate::SequenceCondvar), which works with every lock.
    Generic,
    /// None: the lock is no mutex.
    Without,
}

/// Gives each its word in commands and reports.
macro_rules! words {
    ($($Fact:ident { $($Variant:ident = $word:literal,)* })*) => {$(
        impl fmt::Display for $Fact {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$Variant => $word,)*
                })
            }
        }
    )*};
}

words! {
    Kind {
        Mutex = "mutex",
        RwLock = "rwlock",
    }
    Origin {
        Sources = "sources",
        Literature = "literature",
        Own = "own",
        Peer = "peer",
    }
    Waiting {
        Spins = "spins",
        Yields = "spins, yields",
        Sleeps = "sleeps",
        SpinsThenSleeps = "spins, sleeps",
    }
    Fairness {
        Barging = "barging",
        Bounded = "bounded",
        Fifo = "fifo",
        Priority = "priority",
    }
    CondvarKind {
        Own = "own",
        Generic = "generic",
        Without = "none",
    }
}
