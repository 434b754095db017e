//! The words that the JSON document has for units and for kinds of failures. The document keeps words,
//! because a report of another version may have others; whatever this program does with one, it does with the
//! type.

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Milliseconds.
    Milliseconds,
    /// Operations a second.
    PerSecond,
    /// So many for each operation.
    PerOperation,
    /// One figure by another.
    Ratio,
    /// Operations.
    Operations,
    /// Threads.
    Threads,
    /// Bytes.
    Bytes,
}

impl Unit {
    const ALL: [Self; 8] = [
        Self::Nanoseconds,
        Self::Milliseconds,
        Self::PerSecond,
        Self::PerOperation,
        Self::Ratio,
        Self::Operations,
        Self::Threads,
        Self::Bytes,
    ];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Milliseconds => "ms",
            Self::PerSecond => "ops/s",
            Self::PerOperation => "1/op",
            Self::Ratio => "ratio",
            Self::Operations => "ops",
            Self::Threads => "threads",
            Self::Bytes => "bytes",
        }
    }

    /// The unit of that word; none if this program has no such unit.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.word() == word)
    }
}

/// Why a lock could not be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No thread made progress any more.
    Deadlock,
    /// The system refused something that the workload needs.
    Refused,
    /// A thread or a process ended before it was to.
    Crashed,
    /// The lock let two threads in at once.
    Broken,
}

impl FailureKind {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::Refused => "refused",
            Self::Crashed => "crashed",
            Self::Broken => "broken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_they_are_written() {
        for unit in Unit::ALL {
            assert_eq!(Unit::of(unit.word()), Some(unit));
        }
        assert_eq!(Unit::of("furlongs"), None);
    }
}
