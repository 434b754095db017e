//! The longest idles and waits that a trace found: when and why. Times are nanoseconds since the
//! run began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds since the run began.
pub type Nanos = u64;

/// How much the kernel reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// Tracepoints of every CPU: which thread ran where and was woken when, of other programs too.
    Machine,
    /// Nothing but stamps and totals.
    Stamps,
}

/// Why time went by.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The owner was in its section, or within its unlock, and had lost its CPU.
    OwnerPreempted,
    /// The owner slept in its section: a page fault, or a stopped process.
    OwnerAsleep,
    /// Without the kernel's word: the owner's section or unlock took long, by its own stamps.
    OwnerStalled,
    /// The next owner was ready, another thread had its CPU, and another CPU was idle.
    QueuedCpuIdle,
    /// The next owner was ready, and no CPU was idle, or that is not known.
    QueuedCpuBusy,
    /// The lock was free and threads that ran wanted it, but it was kept for one without a CPU.
    KeptForQueued,
    /// The lock was free, and all threads that wanted it slept, or had been woken and did not run
    /// yet: wake-up latency.
    WakeUp,
    /// The thread slept while others had the lock.
    AsleepInLine,
    /// The thread ran, and others had the lock.
    Contended,
    /// The lock was free, and the thread ran and had not got it yet.
    Acquiring,
    /// The owner ran within its unlock, which may be the call that wakes a thread.
    Releasing,
    /// The lock was free and no thread wanted it.
    Unwanted,
    /// The kernel's events do not cover it.
    Unknown,
}

impl Cause {
    /// Every cause, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::OwnerPreempted,
        Self::OwnerAsleep,
        Self::OwnerStalled,
        Self::KeptForQueued,
        Self::QueuedCpuIdle,
        Self::QueuedCpuBusy,
        Self::WakeUp,
        Self::AsleepInLine,
        Self::Contended,
        Self::Acquiring,
        Self::Releasing,
        Self::Unwanted,
        Self::Unknown,
    ];

    /// The cause in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::OwnerPreempted => "owner preempted",
            Self::OwnerAsleep => "owner asleep in the section",
            Self::OwnerStalled => "owner stood still (by stamps)",
            Self::KeptForQueued => "kept for a thread without a CPU",
            Self::QueuedCpuIdle => "ready, no CPU, another CPU idle",
            Self::QueuedCpuBusy => "ready, no CPU",
            Self::WakeUp => "no thread awake: wake-up latency",
            Self::AsleepInLine => "asleep while others had it",
            Self::Contended => "running while others had it",
            Self::Acquiring => "running, not acquired yet",
            Self::Releasing => "unlock under way",
            Self::Unwanted => "no thread wanted it",
            Self::Unknown => "unknown",
        }
    }
}

/// A long idle or wait.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Episode {
    /// The run, from 0.
    pub run: usize,
    /// When it began.
    pub from: Nanos,
    /// When it ended.
    pub to: Nanos,
    /// The thread that had the lock at its end.
    pub thread: usize,
    /// The thread that unlocked at its beginning; of a wait, the last owner before its end.
    pub before: Option<usize>,
    /// Acquisitions of others meanwhile.
    pub passed: u64,
    /// Other waits that were mostly at the same time and are not shown.
    pub alike: u64,
    /// The cause with the most of its time.
    pub cause: Cause,
    /// What happened, in one line.
    pub verdict: String,
    /// The time of each cause, most first.
    pub parts: Vec<Part>,
    /// What each thread did meanwhile.
    pub threads: Vec<Doing>,
}

/// The time of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// The cause.
    pub cause: Cause,
    /// Its time.
    pub nanos: Nanos,
}

/// What a thread did during an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doing {
    /// Time on a CPU.
    pub running: Nanos,
    /// Time ready without one.
    pub queued: Nanos,
    /// Time asleep.
    pub asleep: Nanos,
    /// Time that the kernel told nothing of.
    pub unknown: Nanos,
    /// The CPUs that it ran on.
    pub cpus: Vec<u32>,
    /// How often it had the lock.
    pub acquired: u64,
}
