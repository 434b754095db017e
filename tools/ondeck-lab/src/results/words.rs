//! The words of the JSON document that this program decides by: units, kinds of failures, groups of
//! costs, extents.
//!
//! In the document they are strings. A report of another version may have a word that this program
//! does not know, and can still be shown and merged.

/// An enumeration whose variants are words of the document.
macro_rules! vocabulary {
    ($(#[$attribute:meta])* $Type:ident {
        $($(#[doc = $doc:literal])* $Variant:ident = $word:literal,)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Type {
            $($(#[doc = $doc])* $Variant,)*
        }

        $crate::worded! {
            $Type: "not a word of this program";
            $($Variant = $word),*
        }

        impl $Type {
            /// The variant of a word; `None` if this program does not know the word.
            pub fn of(word: &str) -> Option<Self> {
                word.parse().ok()
            }
        }
    };
}

vocabulary! {
    /// The unit of a metric.
    Unit {
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// Milliseconds.
        Milliseconds = "ms",
        /// Operations a second.
        PerSecond = "ops/s",
        /// So many for each operation.
        PerOperation = "1/op",
        /// One figure divided by another.
        Ratio = "ratio",
        /// Operations.
        Operations = "ops",
        /// Threads.
        Threads = "threads",
        /// Bytes.
        Bytes = "bytes",
    }
}

vocabulary! {
    /// Why a lock could not be measured.
    FailureKind {
        /// No thread made progress any more.
        Deadlock = "deadlock",
        /// The system refused something that the workload needs.
        Refused = "refused",
        /// A thread or a process ended before it was to.
        Crashed = "crashed",
        /// The lock let two threads in at once.
        Broken = "broken",
    }
}

vocabulary! {
    /// How much to measure.
    Extent {
        /// Under 30 seconds: to see that everything works.
        Quick = "quick",
        /// Some four minutes.
        Suite = "suite",
        /// As the sources did: 100 runs of `wait`, 1,000 of `idle`, every lock. Hours, with locks
        /// that collapse.
        Full = "full",
    }
}

impl Unit {
    /// How many nanoseconds it has; none if it is no unit of time.
    pub fn nanoseconds(self) -> Option<f64> {
        match self {
            Self::Nanoseconds => Some(1.0),
            Self::Milliseconds => Some(1e6),
            _ => None,
        }
    }
}
