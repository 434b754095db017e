//! A team of threads that do the same thing to the same lock at the same time.
//!
//! The life of a round: the threads are created, placed and prepared; they start together; the
//! coordinator watches their progress, stops them, and waits for their end. A team that makes no
//! more progress is stuck: its threads are frozen where they are and reported, and the run
//! continues without that lock.

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
    /// Set from outside to end the round now; the round then has no result.
    pub cancel: Arc<AtomicBool>,
}

/// When a team stops.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// When every thread has done its work, or after this time: the threads poll
    /// [`Member::stopped`].
    Finished(Duration),
    /// When all threads have run at the same time for this long: they poll [`Member::stopped`].
    Elapsed(Duration),
}

/// What a team did.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The watched time: from the moment when every thread ran, or the common start, to the stop or
    /// the end of the last thread.
    pub window: Duration,
    /// Pairs of each thread within the window.
    pub window_pairs: Vec<u64>,
    /// Pairs of each thread at a moment when all of them still contended for the lock: at the stop,
    /// or when the first thread ended. Fairness is computed from them.
    pub contended_pairs: Vec<u64>,
    /// Pairs of each thread in total, including those in progress at the stop.
    pub pairs: Vec<u64>,
    /// What the kernel charged all threads together, from their start to their end.
    pub usage: Usage,
    /// The time from the common start to the end of the last thread. It is not the mean of the
    /// threads' own times, because a thread that first waits for a CPU starts its own later.
    pub span: Duration,
    /// The number of CPUs that the threads could run on. With more threads than CPUs, shares
    /// reflect the scheduler unless the window is long.
    pub cpus: usize,
    /// What the threads returned.
    pub results: Vec<T>,
}

impl<T> Outcome<T> {
    /// Pairs of all threads in total.
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
        /// The state of each remaining thread.
        states: Vec<String>,
    },
    /// The system refused to create another thread.
    #[error("thread {made} of {threads} could not be made: {reason}")]
    NoThread {
        /// The number of threads created before.
        made: usize,
        /// The number of threads requested.
        threads: usize,
        /// The system's error message.
        reason: String,
    },
    /// The counts under the lock and by the threads disagree.
    #[error(
        "{what}: {guarded} by the data behind the lock, {counted} by the threads: the lock let two in at once"
    )]
    Broken {
        /// The name of the count.
        what: &'static str,
        /// The count under the lock.
        guarded: u64,
        /// The sum of the threads' own counts.
        counted: u64,
    },
    /// A thread panicked.
    #[error("a thread panicked in the lock")]
    Panicked,
    /// The machine does not grant something that the workload needs.
    #[error("{0}")]
    Refused(String),
    /// The round was cancelled from outside.
    #[error("cancelled")]
    Cancelled,
}

/// A machine that teams run on.
pub trait Teams: Host {
    /// Runs `body` on every thread of a team, watches the team, and returns its outcome; see
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

    /// Whether the thread with that number sleeps without a timeout that it chose; false for 0.
    /// Costs some microseconds.
    fn is_parked(thread: i32) -> bool;
}

/// Runs `body` on every thread of a team of the machine and watches the team.
///
/// The body calls [`Member::start`] once it is prepared, and [`Member::done`] as it goes: a thread
/// that does not call them counts as stuck. It returns `None` if the team is given up.
///
/// # Errors
///
/// [`TeamError`]; a stuck team's threads remain, frozen.
pub fn run<M: Teams, T: Send + 'static>(
    setting: &TeamSetting,
    until: Until,
    body: impl Fn(&mut Member<M>) -> Option<T> + Send + Sync + 'static,
) -> Result<Outcome<T>, TeamError> {
    M::run_team(setting, until, &(Arc::new(body) as Body<M, T>))
}

/// The body of each thread of a team. It is no type parameter of [`Teams::run_team`], which would
/// then be compiled for every lock in every workload, to save one indirect call a thread.
pub type Body<M, T> = Arc<dyn Fn(&mut Member<M>) -> Option<T> + Send + Sync>;
