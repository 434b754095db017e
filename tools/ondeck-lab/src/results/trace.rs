//! What a trace found, as it is written with `--json`. Times are nanoseconds; those
//! of a run count from its beginning.

use serde::{Deserialize, Serialize};

use super::episode::{Cause, Nanos};
use super::{Build, Failure, Machine, Warning};
use crate::schedstat::Account;
use crate::system::Refusal;

pub use super::episode::{Doing, Episode, Part, Sight};

/// The version of this document.
pub const SCHEMA: u32 = 1;

/// The kind of this document.
pub const KIND: &str = "ondeck trace";

/// A whole trace.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: u32,
    /// [`KIND`], to tell this document from a report.
    pub kind: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// It was interrupted.
    pub partial: bool,
    /// The program.
    pub build: Build,
    /// The machine.
    pub machine: Machine,
    /// What was asked for.
    pub settings: Settings,
    /// How much the kernel told.
    pub sight: Sight,
    /// What the machine refused.
    pub refused: Vec<Refusal>,
    /// What makes the numbers less trustworthy.
    pub warnings: Vec<Warning>,
    /// What the stamps add to a pair, measured with the lock that does nothing.
    pub stamp_nanos: f64,
    /// Locks that could not be traced to their end.
    pub failures: Vec<Failure>,
    /// The locks.
    pub locks: Vec<LockTrace>,
}

/// What was asked for; where threads run as it was granted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Settings {
    /// The command line.
    pub command: String,
    /// How many threads.
    pub threads: usize,
    /// Runs of each lock.
    pub runs: usize,
    /// Pairs of each thread in a run.
    pub pairs: u32,
    /// Work in the section.
    pub section_nanos: u64,
    /// Work between an unlock and the next lock.
    pub outside_nanos: u64,
    /// The CPUs.
    pub pinning: String,
    /// The policy.
    pub policy: String,
    /// Idles and waits shorter than this are counted and not explained.
    pub least_nanos: Nanos,
}

/// What was found of one lock.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LockTrace {
    /// The lock.
    pub lock: String,
    /// Runs that were made.
    pub runs: usize,
    /// Runs that were stopped before every thread had made its pairs.
    pub cut_runs: usize,
    /// Runs in which the kernel had more events than there was room for.
    pub overflown_runs: usize,
    /// The length of all runs together.
    pub nanos: Nanos,
    /// Pairs of all threads in all runs.
    pub pairs: u64,
    /// What the kernel charged all threads in all runs.
    pub account: Account,
    /// The times that the lock was free.
    pub idles: Tally,
    /// The times that a thread waited.
    pub waits: Tally,
    /// The longest idles, longest first.
    pub longest_idles: Vec<Episode>,
    /// The longest waits, longest first.
    pub longest_waits: Vec<Episode>,
}

/// How often, how long and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Tally {
    /// How many there were.
    pub count: u64,
    /// Their time.
    pub nanos: Nanos,
    /// How many of them were too short to be explained.
    pub short_count: u64,
    /// The time of those.
    pub short_nanos: Nanos,
    /// The others by their cause.
    pub classes: Vec<Class>,
}

/// What one cause did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Class {
    /// The cause.
    pub cause: Cause,
    /// How many idles or waits it is the verdict of.
    pub count: u64,
    /// The time of its pieces, also in those with another verdict.
    pub nanos: Nanos,
}
