//! How reports show a workload: by what they judge it, in which tables of the terminal, in which plots of
//! the page. These are facts only; reports decide how they are drawn.

use std::collections::BTreeMap;

use crate::sample::Quantity;
use crate::system::{Here, System};

/// What a workload's locks are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The verdict goes by it.
    By(Quantity),
    /// They are only put in order by it: neither direction is good by itself.
    RankedBy(Quantity),
}

/// The locks that a suite measures when none are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Every lock.
    All,
    /// The sources' locks that show the most, and the peers that people use.
    Headline,
    /// Those that can be measured in runs that end by count.
    Runs,
    /// Those that can be measured with more threads than CPUs.
    Crowd,
    /// Those of [`Crowd`](Self::Crowd) and a pure spinner.
    Beside,
    /// Those of [`Beside`](Self::Beside) and a lock that inherits priorities.
    Inversion,
    /// The biased mutex, and the mutexes that people would use in its place.
    Biased,
}

impl Group {
    /// Its word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Headline => "headline",
            Self::Runs => "runs",
            Self::Crowd => "crowd",
            Self::Beside => "beside",
            Self::Inversion => "inversion",
            Self::Biased => "biased",
        }
    }
}

/// What a workload cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing that any system or lock lacks.
    Nothing,
    /// Realtime threads.
    Realtime,
    /// Priorities for work in the background.
    LowPriority,
    /// Waiters that sleep, if it has more than one thread; and to see that they do.
    SleepingWaiters,
}

impl Needs {
    /// Why the system at hand does not have it; `None` if it does.
    pub fn lacking_here(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Realtime => Here::NO_REALTIME,
            Self::LowPriority => Here::NO_LOW_PRIORITY,
            Self::SleepingWaiters => Here::NO_SIGHT_OF_THREADS,
        }
    }
}

/// The parts of what the terminal shows. Within a part tables stand in the order of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shelf {
    /// What a lock costs, what it lets through, how long it makes threads wait.
    Basics,
    /// Which thread has it next.
    Turns,
    /// Many threads, some of which wait for others.
    Threads,
    /// Threads that are parked elsewhere.
    Parked,
    /// Queues between threads.
    Queues,
    /// Other work, and other priorities.
    OtherWork,
    /// Locks in data structures and programs.
    Programs,
    /// Reader-writer locks.
    Readers,
    /// Semaphores, onces and barriers.
    Others,
}

/// How a value is written in a table of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nanoseconds, in the unit that suits them.
    Time,
    /// Milliseconds, in the unit that suits them.
    Milliseconds,
    /// Two digits after the decimal point.
    Ratio,
    /// Three digits of millions.
    Millions,
    /// Three digits of thousands.
    Thousands,
    /// A whole number, with a suffix if it is long.
    Count,
    /// Three digits.
    Significant,
}

/// A column: its heading, the quantity, how a value is written.
#[derive(Clone, Copy, Debug)]
pub struct Column(pub &'static str, pub Quantity, pub Shown);

/// The tables of a workload in the terminal. Headings follow the workload's name.
#[derive(Clone, Copy, Debug)]
pub enum Table {
    /// A lock in a process of many threads, and of one.
    Alone {
        /// What is shown.
        heading: &'static str,
    },
    /// Numbers of threads across.
    Threads(Threads),
    /// A row for each lock and a column for each quantity, a table for each situation.
    Quantities {
        /// What is shown; `{}` stands for the situation.
        heading: &'static str,
        /// The columns; the first orders the rows.
        columns: &'static [Column],
        /// What the columns are; may be empty.
        note: &'static str,
    },
    /// The average run and the four longest times.
    Runs {
        /// What is long.
        what: &'static str,
    },
    /// The patterns of a handoff side by side.
    Patterns {
        /// What is shown.
        heading: &'static str,
    },
    /// The workload's own situations across, a table for each number of threads and quantity.
    Situations(&'static [Across]),
}

/// A table with numbers of threads across.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// What is shown.
    pub heading: &'static str,
    /// The quantity of the columns, and what it is multiplied by.
    pub quantity: (Quantity, f64),
    /// Threads that are not in the heading of a column, because they have another role.
    pub others: usize,
    /// What the threads of the heading are.
    pub role: &'static str,
    /// How many numbers of threads a terminal has room for beside the other columns.
    pub most: usize,
    /// Columns for the greatest number of threads.
    pub extras: &'static [Column],
    /// What the extra columns are.
    pub note: &'static str,
}

/// A table with situations across.
#[derive(Clone, Copy, Debug)]
pub struct Across {
    /// What is shown; `{}` stands for the number of threads.
    pub heading: &'static str,
    /// The quantity, and what it is multiplied by.
    pub quantity: (Quantity, f64),
    /// The heading of a situation's column, of its parameters.
    pub label: fn(&BTreeMap<String, String>) -> String,
}
