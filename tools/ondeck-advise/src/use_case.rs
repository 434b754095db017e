//! A user's description of the place of a lock.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The place of a lock.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct UseCase {
    /// Threads that use the lock.
    pub threads: usize,
    /// CPUs of the machine that the program runs on.
    pub cpus: usize,
    /// Work with the lock held, in nanoseconds.
    pub section_ns: u64,
    /// Work of a thread between an unlock and its next lock, in nanoseconds.
    pub outside_ns: u64,
    /// The share of the sections that only read. Without any the lock is a mutex.
    pub reads: Reads,
    /// The kind of its users.
    pub used_by: Users,
    /// How evenly the lock has to be shared.
    pub fairness: Need,
    /// Threads run under a realtime policy, with priorities that count.
    pub realtime: bool,
    /// The most bytes that a lock may take.
    pub bytes: Option<usize>,
    /// The other work on the machine.
    pub company: Company,
    /// Threads also wait for conditions.
    pub condvar: bool,
    /// The language of the program.
    pub language: Language,
    /// The lock that the program has now.
    pub now: Option<String>,
    /// Another thread may free the lock's memory as soon as it has locked and unlocked it.
    pub freed: bool,
    /// Locks from texts are also acceptable, not only locks that a library offers.
    pub specimens: bool,
    /// CPUs of the measured machine, or of this one.
    pub measured_cpus: usize,
    /// Whether that machine is a virtual one.
    pub virtual_machine: bool,
}

/// The number of sections in a thousand that only read: one of the mixes of the workload `rwmix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reads(u32);

impl Reads {
    /// Every section may write.
    pub const NONE: Self = Self(0);

    /// One section in ten may write.
    pub const MOSTLY: Self = Self(900);

    /// The mixes, in thousandths.
    const ALL: [u32; 6] = [0, 500, 900, 990, 999, 1_000];

    /// The percentage of sections that write, as in reports.
    pub fn writes(self) -> String {
        (f64::from(1_000 - self.0) / 10.0).to_string()
    }
}

/// The kind of a lock's users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Users {
    /// Threads of one process, each as often as another.
    Threads,
    /// Threads that may lock again what they already hold.
    Reentrant,
    /// Threads of several processes.
    Processes,
}

/// How evenly a lock has to be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// It does not matter which thread is served.
    None,
    /// No thread may go unserved for long.
    Some,
    /// Strictly in the order of arrival.
    Strict,
    /// No thread may wait longer than this.
    Bound(Duration),
}

/// The other work on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Company {
    /// Nothing that would be missed.
    None,
    /// Work for half of the CPUs.
    Some,
    /// Work for every CPU.
    Busy,
}

/// The language of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// Rust.
    #[serde(rename = "rust")]
    Rust,
    /// C.
    #[serde(rename = "c")]
    C,
    /// C++.
    #[serde(rename = "c++")]
    Cpp,
    /// It cannot be compiled again.
    #[serde(rename = "none")]
    Binary,
}

impl UseCase {
    /// The assumptions for this number of threads on this number of CPUs unless more is given: a
    /// program in Rust that works a little with the lock held and more without it, and needs
    /// nothing else.
    pub fn usual(threads: usize, cpus: usize) -> Self {
        Self {
            threads,
            cpus,
            section_ns: 100,
            outside_ns: 500,
            reads: Reads::NONE,
            used_by: Users::Threads,
            fairness: Need::None,
            realtime: false,
            bytes: None,
            company: Company::None,
            condvar: false,
            language: Language::Rust,
            now: None,
            freed: false,
            specimens: false,
            measured_cpus: cpus,
            virtual_machine: false,
        }
    }

    /// Threads that want a CPU if all threads run, for each CPU.
    pub fn runnable_per_cpu(&self) -> f64 {
        (self.threads + self.company.threads(self.cpus)) as f64 / self.cpus.max(1) as f64
    }

    /// The number of owners there would be if the lock let all threads in: above 1 a thread always
    /// waits.
    pub fn demand(&self) -> f64 {
        /// A lock and unlock, which exclude others even with an empty section: 10 to 20 ns.
        const PAIR: u64 = 20;
        let section = (self.section_ns + PAIR) as f64;
        self.threads as f64 * section / (section + self.outside_ns as f64)
    }
}

impl Company {
    /// The number of busy threads that this means on this number of CPUs.
    pub fn threads(self, cpus: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Some => cpus.div_ceil(2),
            Self::Busy => cpus,
        }
    }
}

impl FromStr for Reads {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().map(Self).find(|reads| reads.to_string() == word.trim());
        found.ok_or_else(|| {
            let all = Self::ALL.map(|reads| Self(reads).to_string());
            format!("expected a percentage that is measured: {}", all.join(", "))
        })
    }
}

ondeck_lab::worded! {
    Users: "expected `threads`, `reentrant` (a thread may lock again what it holds) or `processes` (several share the memory)";
    Threads = "threads", Reentrant = "reentrant", Processes = "processes"
}

ondeck_lab::worded! {
    Company: "expected `none`, `some` or `busy`";
    None = "none", Some = "some", Busy = "busy"
}

ondeck_lab::worded! {
    Language: "expected `rust`, `c`, `c++`, or `none` if nothing is compiled again";
    Rust = "rust", C = "c", Cpp = "c++", Binary = "none"
}

impl FromStr for Need {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "none" => Ok(Self::None),
            "some" => Ok(Self::Some),
            "strict" => Ok(Self::Strict),
            bound => bound
                .strip_suffix("ms")
                .and_then(|number| number.trim().parse::<f64>().ok())
                .filter(|millis| (0.001..=60_000.0).contains(millis))
                .map(|millis| Self::Bound(Duration::from_secs_f64(millis / 1e3)))
                .ok_or_else(|| {
                    "expected `none`, `some`, `strict`, or the longest wait in milliseconds up to \
                     60000, as `10ms`"
                        .to_owned()
                }),
        }
    }
}

impl fmt::Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 10.0)
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.pad("none"),
            Self::Some => f.pad("some"),
            Self::Strict => f.pad("strict"),
            Self::Bound(bound) => write!(f, "{}ms", bound.as_secs_f64() * 1e3),
        }
    }
}

impl fmt::Display for UseCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = ondeck_text::numbers::terminal::time;
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let Self { threads, cpus, .. } = self;
        write!(f, "{threads} thread{} on {cpus} CPU{}", s(*threads), s(*cpus))?;
        if *threads > 1 {
            let (section, outside) = (time(self.section_ns as f64), time(self.outside_ns as f64));
            write!(f, ", sections of {section}, {outside} outside")?;
        }
        if self.reads != Reads::NONE {
            write!(f, ", {} % reads", self.reads)?;
        }
        match self.used_by {
            Users::Threads => {}
            Users::Reentrant => f.write_str(", locked again by its owner")?,
            Users::Processes => f.write_str(", shared by processes")?,
        }
        match self.fairness {
            Need::None => {}
            Need::Some => f.write_str(", no thread left out for long")?,
            Need::Strict => f.write_str(", in order of arrival")?,
            Need::Bound(_) => write!(f, ", no wait above {}", self.fairness)?,
        }
        if self.realtime {
            f.write_str(", realtime priorities")?;
        }
        if let Some(bytes) = self.bytes {
            write!(f, ", at most {bytes} byte{}", s(bytes))?;
        }
        match self.company {
            Company::None => f.write_str(", no other work")?,
            Company::Some => f.write_str(", some other work")?,
            Company::Busy => f.write_str(", a busy machine")?,
        }
        if self.condvar {
            f.write_str(", condition variables")?;
        }
        match self.language {
            Language::Binary => f.write_str(", nothing compiled again")?,
            Language::Rust => f.write_str(", Rust")?,
            Language::C => f.write_str(", C")?,
            Language::Cpp => f.write_str(", C++")?,
        }
        if let Some(now) = &self.now {
            write!(f, ", {now} now")?;
        }
        if self.freed {
            f.write_str(", freed right after an unlock")?;
        }
        if self.specimens {
            f.write_str(", locks of texts too")?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// 8 threads on 8 CPUs, and no needs.
    pub(crate) fn plain() -> UseCase {
        UseCase { specimens: true, ..UseCase::usual(8, 8) }
    }

    #[test]
    fn words_and_values_agree() {
        for word in ["none", "some", "strict", "10ms", "0.5ms"] {
            assert_eq!(word.parse::<Need>().expect(word).to_string(), word);
        }
        for word in ["", "ms", "-1ms", "0ms", "NaNms", "infms", "1e300ms", "10", "10s"] {
            assert!(word.parse::<Need>().is_err(), "{word}");
        }
        for word in ["0", "50", "90", "99", "99.9", "100"] {
            assert_eq!(word.parse::<Reads>().expect(word).to_string(), word);
        }
        assert_eq!("99.9".parse::<Reads>().map(Reads::writes), Ok("0.1".to_owned()));
        for word in ["threads", "reentrant", "processes"] {
            assert_eq!(word.parse::<Users>().expect(word).to_string(), word);
        }
        for word in ["none", "some", "busy"] {
            assert_eq!(word.parse::<Company>().expect(word).to_string(), word);
        }
        for word in ["rust", "c", "c++", "none"] {
            assert_eq!(word.parse::<Language>().expect(word).to_string(), word);
        }
    }

    #[test]
    fn company_counts_as_runnable_and_an_empty_section_is_wanted_by_all() {
        let busy = UseCase { company: Company::Busy, ..plain() };
        assert!((plain().runnable_per_cpu() - 1.0).abs() < 1e-9);
        assert!((busy.runnable_per_cpu() - 2.0).abs() < 1e-9);
        let empty = UseCase { section_ns: 0, outside_ns: 0, ..plain() };
        assert!((empty.demand() - 8.0).abs() < 1e-9);
        assert!(UseCase { outside_ns: 100_000, ..plain() }.demand() < 0.1);
    }
}
