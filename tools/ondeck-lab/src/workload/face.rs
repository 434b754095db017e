//! How reports show a workload: the quantity that ranks it, its tables in the terminal, its plots
//! on the page. These are facts only; reports decide how to draw them.

use std::collections::BTreeMap;

use crate::sample::Quantity;

/// The quantity that ranks a workload's locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The verdict uses it.
    By(Quantity),
    /// It only orders them: neither direction is good by itself.
    RankedBy(Quantity),
}

/// The locks that a suite measures when none are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Every lock.
    All,
    /// The sources' locks that show the most, and the peers in common use.
    Headline,
    /// Locks that can be measured in runs that end by count.
    Runs,
    /// Locks that can be measured with more threads than CPUs.
    Crowd,
    /// The locks of [`Crowd`](Self::Crowd) and a pure spinner.
    Beside,
    /// The locks of [`Beside`](Self::Beside) and a lock that inherits priorities.
    Inversion,
}

/// A workload's requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing that any lock or user lacks.
    Nothing,
    /// Realtime threads.
    Realtime,
    /// Waiters that sleep, if it has more than one thread.
    SleepingWaiters,
}

/// The format of a value in a table of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nanoseconds, in a suitable unit.
    Time,
    /// Milliseconds, in a suitable unit.
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

/// A column: its heading, the quantity, the format of a value.
#[derive(Clone, Copy, Debug)]
pub struct Column(pub &'static str, pub Quantity, pub Shown);

/// The tables of a workload in the terminal. Headings follow the workload's name.
#[derive(Clone, Copy, Debug)]
pub enum Table {
    /// A lock in a process of many threads, and in one of a single thread.
    Alone {
        /// Its subject.
        heading: &'static str,
    },
    /// Numbers of threads across.
    Threads(Threads),
    /// A row for each lock and a column for each quantity, a table for each situation.
    Quantities {
        /// Its subject; `{}` stands for the situation.
        heading: &'static str,
        /// The columns; the first one orders the rows.
        columns: &'static [Column],
        /// A description of the columns; may be empty.
        note: &'static str,
    },
    /// The average run and the four longest times.
    Runs {
        /// Which times are long.
        what: &'static str,
    },
    /// The patterns of a handoff side by side.
    Patterns {
        /// Its subject.
        heading: &'static str,
    },
    /// The workload's own situations across, a table for each number of threads and quantity.
    Situations(&'static [Across]),
}

/// A table with numbers of threads across.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// Its subject.
    pub heading: &'static str,
    /// The quantity of the columns, and its factor.
    pub quantity: (Quantity, f64),
    /// Threads that are not in the heading of a column, because they have another role.
    pub others: usize,
    /// What the threads of the heading are.
    pub role: &'static str,
    /// The most numbers of threads that fit into a terminal beside the other columns.
    pub most: usize,
    /// Columns for the greatest number of threads.
    pub extras: &'static [Column],
    /// A description of the extra columns.
    pub note: &'static str,
}

/// A table with situations across.
#[derive(Clone, Copy, Debug)]
pub struct Across {
    /// Its subject; `{}` stands for the number of threads.
    pub heading: &'static str,
    /// The quantity, and its factor.
    pub quantity: (Quantity, f64),
    /// The heading of a situation's column, derived from its parameters.
    pub label: fn(&BTreeMap<String, String>) -> String,
}
