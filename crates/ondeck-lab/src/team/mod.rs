//! A team of threads that do the same thing to the same lock at the same time.
//!
//! The life of a round: the threads are made, placed and prepared; they start together; the
//! coordinator watches their progress, stops them, and waits for their end. A team that
//! makes no progress any more is stuck: its threads are frozen where they are, and reported, so that
//! the run goes on without that lock.

mod member;
pub(crate) mod threads;
mod watch;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ondeck::platform::Host;

use crate::environment::Placement;
use crate::usage::Usage;

pub use member::{Member, Shared};

/// How a team is made and watched.
#[derive(Clone, Debug)]
pub struct TeamSetting {
    /// How many threads.
    pub threads: usize,
    /// Where they run and under which policy.
    pub placement: Placement,
    /// For how long no thread may make progress before the team counts as stuck.
    pub stall_limit: Duration,
    /// Set from outside to end the round now; it then yields nothing.
    pub cancel: Arc<AtomicBool>,
}

/// When a team stops.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// When every thread has done its work, or after this time: the threads look at
    /// [`Member::stopped`].
    Finished(Duration),
    /// When all threads have run at the same time for so long: they look at [`Member::stopped`].
    Elapsed(Duration),
}

/// What a team did.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The time that was watched: from when every thread ran, or the common start, until the stop
    /// or until the last thread ended.
    pub window: Duration,
    /// Pairs of each thread within the window.
    pub window_pairs: Vec<u64>,
    /// Pairs of each thread at a moment when all of them still wanted the lock: at the stop, or
    /// when the first thread ended. What fairness is judged by.
    pub contended_pairs: Vec<u64>,
    /// Pairs of each thread altogether, including what was under way at the stop.
    pub pairs: Vec<u64>,
    /// What the kernel charged all threads together, from their start to their end.
    pub usage: Usage,
    /// The time in which it did: from the common start to the end of the last thread. Not the mean of the
    /// threads' own times, because a thread that first has to wait for a CPU starts its own later.
    pub span: Duration,
    /// How many CPUs the threads could run on. With more threads than that, shares are those of the scheduler unless
    /// the window is long.
    pub cpus: usize,
    /// What the threads returned.
    pub results: Vec<T>,
}

impl<T> Outcome<T> {
    /// Pairs of all threads altogether.
    pub fn total_pairs(&self) -> u64 {
        self.pairs.iter().sum()
    }
}

/// Why a team did not come to its end.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum TeamError {
    /// No thread made progress for the time of the setting.
    #[error("no thread made progress for {limit:?}; {} of {threads} threads had not ended", states.len())]
    Stuck {
        /// How many threads there were.
        threads: usize,
        /// The limit that was passed.
        limit: Duration,
        /// Where each remaining thread was.
        states: Vec<String>,
    },
    /// The system would not make another thread.
    #[error("thread {made} of {threads} could not be made: {reason}")]
    NoThread {
        /// How many there were already.
        made: usize,
        /// How many were wanted.
        threads: usize,
        /// The system's words.
        reason: String,
    },
    /// What the lock guarded does not add up.
    #[error(
        "{what}: {guarded} by the data behind the lock, {counted} by the threads: the lock let two in at once"
    )]
    Broken {
        /// What was counted.
        what: &'static str,
        /// The count under the lock.
        guarded: u64,
        /// The threads' own.
        counted: u64,
    },
    /// A thread panicked.
    #[error("a thread panicked in the lock")]
    Panicked,
    /// The machine does not grant what the workload is about.
    #[error("{0}")]
    Refused(String),
    /// The round was cancelled from outside.
    #[error("cancelled")]
    Cancelled,
}

/// A machine that teams run on.
pub trait Teams: Host {
    /// Runs `body` on every thread of a team, watches over it, and says what it did; see
    /// [`Shared`] for the steps of a round.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the team did not come to its end.
    fn run_team<T: Send + 'static>(
        setting: &TeamSetting,
        until: Until,
        body: &Body<Self, T>,
    ) -> Result<Outcome<T>, TeamError>;

    /// What the machine has charged the calling thread.
    fn usage() -> Usage;

    /// The number of the calling thread, for [`is_parked`](Self::is_parked): not 0.
    fn thread_number() -> i32;

    /// Whether the thread of that number sleeps, and not only for a time of its own choice; false for 0. Costs some
    /// microseconds.
    fn is_parked(thread: i32) -> bool;
}

/// Runs `body` on every thread of a team of the machine and watches over it.
///
/// The body calls [`Member::start`] once it is prepared, and [`Member::done`] as it goes: a thread that
/// does not call them counts as stuck.
///
/// # Errors
///
/// [`TeamError`]; a stuck team's threads remain, frozen.
pub fn run<M: Teams, T: Send + 'static>(
    setting: &TeamSetting,
    until: Until,
    body: impl Fn(&mut Member<M>) -> T + Send + Sync + 'static,
) -> Result<Outcome<T>, TeamError> {
    M::run_team(setting, until, &(Arc::new(body) as Body<M, T>))
}

/// What each thread of a team does. Not a type parameter of [`Teams::run_team`]: that would be compiled
/// anew for every lock in every workload, to save one indirect call a thread.
pub type Body<M, T> = Arc<dyn Fn(&mut Member<M>) -> T + Send + Sync>;
