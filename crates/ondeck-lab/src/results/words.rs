//! The words of the JSON document that come from closed lists: units, kinds of failures, groups of costs,
//! facts of locks, settings.
//!
//! A report of another version may have a word that this program does not know. Such a word is kept as it
//! is, so that the report can be shown and merged; whatever this program does with a word, it does with
//! the type.

use std::borrow::Cow;
use std::fmt;

use ondeck_zoo::{CondvarKind, Fairness, Kind, Origin, Waiting};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::environment::{Pinning, Policy};

/// A type whose values have words in the document.
pub trait Vocabulary: Sized {
    /// The word of this value.
    fn word(&self) -> Cow<'static, str>;

    /// The value that the word means; none if this program has no such word.
    fn of(word: &str) -> Option<Self>;
}

/// A word of the document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Word<T> {
    /// One that this program knows.
    Known(T),
    /// Any other.
    Other(String),
}

impl<T> Word<T> {
    /// Whether the document has no word here.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Other(word) if word.is_empty())
    }

    /// What the word means; none if this program does not know it.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

impl<T: Vocabulary> Word<T> {
    /// The word itself.
    pub fn word(&self) -> Cow<'_, str> {
        match self {
            Self::Known(value) => value.word(),
            Self::Other(word) => Cow::Borrowed(word),
        }
    }
}

impl<T: Vocabulary> From<&str> for Word<T> {
    fn from(word: &str) -> Self {
        // A word that would be written in another way is no word of this program.
        T::of(word)
            .filter(|value| value.word() == word)
            .map_or_else(|| Self::Other(word.to_owned()), Self::Known)
    }
}

impl<T: PartialEq> PartialEq<T> for Word<T> {
    fn eq(&self, value: &T) -> bool {
        self.known() == Some(value)
    }
}

/// In a document it is a string, and in the schema, too: another version may have another word.
macro_rules! as_text {
    ($Type:ident) => {
        impl<T: Vocabulary> Serialize for $Type<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de, T: Vocabulary> Deserialize<'de> for $Type<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Self::from(&*String::deserialize(deserializer)?))
            }
        }

        impl<T> JsonSchema for $Type<T> {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                String::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        }
    };
}

/// No word, where a document of an earlier version lacks one.
impl<T> Default for Word<T> {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl<T: Vocabulary> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.word())
    }
}

as_text! { Word }

/// Several words in one string, with a blank between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words<T>(Vec<Word<T>>);

impl<T: Vocabulary + PartialEq> Words<T> {
    /// The words of these values, each once.
    pub fn of(values: impl IntoIterator<Item = T>) -> Self {
        let mut words: Vec<Word<T>> = Vec::new();
        for value in values {
            if !words.iter().any(|word| *word == value) {
                words.push(Word::Known(value));
            }
        }
        Self(words)
    }
}

impl<T> Default for Words<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Vocabulary> From<&str> for Words<T> {
    fn from(words: &str) -> Self {
        let read: Vec<Word<T>> =
            words.split(' ').filter(|word| !word.is_empty()).map(Word::from).collect();
        let read = Self(read);
        // Blanks elsewhere than between two words are another program's, and stay where they are.
        if read.to_string() == words { read } else { Self(vec![Word::Other(words.to_owned())]) }
    }
}

impl<T: Vocabulary> fmt::Display for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(Word::word).collect();
        f.pad(&words.join(" "))
    }
}

as_text! { Words }

/// An enumeration whose variants have a word each.
macro_rules! vocabulary {
    ($(#[$attribute:meta])* $Type:ident {
        $($(#[doc = $doc:literal])* $Variant:ident = $word:literal,)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Type {
            $($(#[doc = $doc])* $Variant,)*
        }

        impl Vocabulary for $Type {
            fn word(&self) -> Cow<'static, str> {
                Cow::Borrowed(match self {
                    $(Self::$Variant => $word,)*
                })
            }

            fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$Variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// The same for an enumeration of elsewhere, which displays its words.
macro_rules! displayed {
    ($($Type:ident: $($Variant:ident)*;)*) => {$(
        impl Vocabulary for $Type {
            fn word(&self) -> Cow<'static, str> {
                match self {
                    // Named one by one, so that a variant that is missing below is an error.
                    $(Self::$Variant)|* => Cow::Owned(self.to_string()),
                }
            }

            fn of(word: &str) -> Option<Self> {
                [$(Self::$Variant),*].into_iter().find(|value| value.to_string() == word)
            }
        }
    )*};
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
    /// What kind of operation a cost is of.
    CostGroup {
        /// What a waiting thread does.
        Waiting = "waiting",
        /// Atomic instructions.
        Atomics = "atomics",
        /// Fences.
        Fences = "fences",
        /// Reading a clock.
        Clocks = "clocks",
        /// Sleeping and waking.
        Futex = "futex",
        /// Moving a cache line.
        Cache = "cache",
    }
}

vocabulary! {
    /// How much to measure.
    Extent {
        /// Under 30 seconds: to see that everything works.
        Quick = "quick",
        /// Some four minutes.
        Suite = "suite",
        /// As the sources did: 100 runs of `wait`, 1,000 of `idle`, every lock. Hours, with locks that
        /// collapse.
        Full = "full",
    }
}

displayed! {
    Origin: Sources Literature Own Peer;
    Waiting: Spins Yields Sleeps SpinsThenSleeps;
    Fairness: Barging Bounded Fifo Priority;
    CondvarKind: Own Generic Without;
    Kind: Mutex RwLock Semaphore Once Barrier;
    Policy: Other Batch Fifo RoundRobin;
}

impl Vocabulary for Pinning {
    fn word(&self) -> Cow<'static, str> {
        Cow::Owned(self.to_string())
    }

    fn of(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

impl Unit {
    /// How many nanoseconds it has; none if it is no unit of time.
    pub fn nanoseconds(self) -> Option<f64> {
        match self {
            Self::Nanoseconds => Some(1.0),
            Self::Milliseconds => Some(1e6),
            Self::PerSecond
            | Self::PerOperation
            | Self::Ratio
            | Self::Operations
            | Self::Threads
            | Self::Bytes => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the words are read as values of the type, and written as they were read.
    fn are_known<T: Vocabulary>(words: &[&str]) -> bool {
        words.iter().all(|word| {
            let read = Word::<T>::from(*word);
            read.known().is_some() && read.to_string() == *word
        })
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        assert!(are_known::<Unit>(&[
            "ns", "ms", "ops/s", "1/op", "ratio", "ops", "threads", "bytes"
        ]));
        assert!(are_known::<FailureKind>(&["deadlock", "refused", "crashed", "broken"]));
        assert!(are_known::<CostGroup>(&[
            "waiting", "atomics", "fences", "clocks", "futex", "cache"
        ]));
        assert!(are_known::<Extent>(&["quick", "suite", "full"]));
        assert!(are_known::<Origin>(&["sources", "literature", "own", "peer"]));
        assert!(are_known::<Waiting>(&["spins", "spins, yields", "sleeps", "spins, sleeps"]));
        assert!(are_known::<Fairness>(&["barging", "bounded", "fifo", "priority"]));
        assert!(are_known::<CondvarKind>(&["own", "generic", "none"]));
        assert!(are_known::<Kind>(&["mutex", "rwlock", "semaphore", "once", "barrier"]));
        assert!(are_known::<Policy>(&["other", "batch", "fifo", "rr"]));
        assert!(are_known::<Pinning>(&["none", "each", "one", "0,2"]));
    }

    #[test]
    fn a_word_of_another_version_is_kept() {
        let read: Word<Unit> = serde_json::from_str("\"furlongs\"").expect("a word");
        assert_eq!(read, Word::Other("furlongs".to_owned()));
        assert_eq!(serde_json::to_string(&read).expect("a word"), "\"furlongs\"");
        // These CPUs are known, and written in another way.
        let read: Word<Pinning> = "0-2".into();
        assert_eq!((read.known(), read.to_string()), (None, "0-2".to_owned()));
    }

    #[test]
    fn several_words_are_one_string() {
        let policies = Words::of([Policy::Fifo, Policy::Other, Policy::Fifo]);
        assert_eq!(policies.to_string(), "fifo other");
        for words in ["fifo other", "fifo deadline", "", " other", "other  fifo"] {
            assert_eq!(Words::<Policy>::from(words).to_string(), words);
        }
        assert_eq!(Words::from("fifo other"), policies);
    }
}
