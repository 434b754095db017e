//! A team of threads that do the same thing to the same lock at the same time.
//!
//! The life of a round: the threads are made, placed and prepared; they start together; the
//! coordinator watches their progress, tells them when to stop, and sees them end. A team that
//! makes no progress any more is stuck: its threads are frozen where they are, reported, and left
//! behind, so that the run goes on without that lock.

mod watch;

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use ondeck::platform::{Linux, Platform};

use crate::environment::Placement;
use crate::freeze;
use crate::usage::Usage;

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

/// A thread's view of its team.
pub struct Member {
    /// Which thread of the team this is, from 0.
    pub index: usize,
    shared: Arc<Shared>,
    usage_at_start: Usage,
}

struct Shared {
    gate: Mutex<Gate>,
    changed: Condvar,
    /// What the threads wait on for their start: `CLOSED`, then `OPEN` or `GIVEN_UP` for ever. A word
    /// of its own, because behind a mutex they would start one after the other: each would leave
    /// only when the one before it had unlocked, and had its CPU taken away.
    start: AtomicU32,
    stop: CachePadded<AtomicBool>,
    threads: Vec<CachePadded<Lane>>,
    /// The progress of all threads when the first one ended.
    first_end: OnceLock<Vec<u64>>,
}

/// More threads than this are a crowd. Its threads have small stacks: stacks as large as usual
/// would be gigabytes of address space, which some systems refuse.
pub(crate) const CROWD: usize = 256;

/// Far more than the threads of any workload need.
const SMALL_STACK: usize = 128 << 10;

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const GIVEN_UP: u32 = 2;

/// How many threads have come to the start, and how many have ended.
#[derive(Default)]
struct Gate {
    ready: usize,
    ended: usize,
}

/// What one thread tells the coordinator.
#[derive(Default)]
struct Lane {
    pairs: AtomicU64,
    /// It has run since the start.
    running: AtomicBool,
    kernel_id: AtomicI32,
    ended: AtomicBool,
}

impl Shared {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        // A thread that panics in its work does not hold this lock.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the threads go, or end, from their start.
    fn release(&self, word: u32) {
        self.start.store(word, Ordering::Release);
        Linux::futex_wake(&raw const self.start, u32::MAX);
    }

    fn progress(&self) -> Vec<u64> {
        self.threads.iter().map(|lane| lane.pairs.load(Ordering::Relaxed)).collect()
    }
}

impl Member {
    /// Waits until the whole team is ready, then starts the clock of this thread.
    ///
    /// False if the team is given up: the thread must return at once.
    #[must_use]
    pub fn start(&mut self) -> bool {
        let shared = &self.shared;
        shared.gate().ready += 1;
        shared.changed.notify_all();
        while shared.start.load(Ordering::Acquire) == CLOSED {
            // Every outcome means the same: look again.
            let _ = Linux::futex_wait(&shared.start, CLOSED, None);
        }
        self.usage_at_start = Usage::of_this_thread();
        shared.threads[self.index].running.store(true, Ordering::Relaxed);
        shared.start.load(Ordering::Relaxed) == OPEN
    }

    /// What each thread of the team has done by now.
    pub fn progress(&self) -> Vec<u64> {
        self.shared.progress()
    }

    /// Whether the time is over.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Says how many pairs this thread has done, by a store to a cache line of its own.
    #[inline]
    pub fn done(&self, pairs: u64) {
        self.shared.threads[self.index].pairs.store(pairs, Ordering::Relaxed);
    }
}

/// Runs `body` on every thread of a team and watches over it.
///
/// The body calls [`Member::start`] once it is prepared, and [`Member::done`] as it goes: a thread that
/// does not call them counts as stuck.
///
/// # Errors
///
/// [`TeamError`]; a stuck team's threads stay behind, frozen.
pub fn run<T: Send + 'static>(
    setting: &TeamSetting,
    until: Until,
    body: impl Fn(&mut Member) -> T + Send + Sync + 'static,
) -> Result<Outcome<T>, TeamError> {
    run_any(setting, until, &(Arc::new(body) as Body<T>))
}

/// What each thread of a team does. Not a type parameter of [`run_any`]: that would be compiled
/// anew for every lock in every workload, to save one indirect call a thread.
type Body<T> = Arc<dyn Fn(&mut Member) -> T + Send + Sync>;

fn run_any<T: Send + 'static>(
    setting: &TeamSetting,
    until: Until,
    body: &Body<T>,
) -> Result<Outcome<T>, TeamError> {
    let shared = Arc::new(Shared {
        gate: Mutex::default(),
        changed: Condvar::new(),
        start: AtomicU32::new(CLOSED),
        stop: CachePadded::new(AtomicBool::new(false)),
        threads: (0..setting.threads).map(|_| CachePadded::default()).collect(),
        first_end: OnceLock::new(),
    });
    let mut handles = Vec::with_capacity(setting.threads);
    for index in 0..setting.threads {
        let (member_shared, body, placement) =
            (Arc::clone(&shared), Arc::clone(body), setting.placement.clone());
        let mut builder = std::thread::Builder::new().name(format!("lab-{index}"));
        if setting.threads > CROWD {
            builder = builder.stack_size(SMALL_STACK);
        }
        let spawned = builder.spawn(move || {
            let _ended = Ended(Arc::clone(&member_shared), index);
            let lane = &member_shared.threads[index];
            lane.kernel_id.store(nix::unistd::gettid().as_raw(), Ordering::Relaxed);
            // Refusals were reported before the run; a CPU that went away since is not worth one.
            let _ = placement.apply(index);
            let mut member = Member {
                index,
                shared: Arc::clone(&member_shared),
                usage_at_start: Usage::default(),
            };
            let result = body(&mut member);
            member_shared.first_end.get_or_init(|| member_shared.progress());
            (result, Usage::of_this_thread().since(member.usage_at_start))
        });
        match spawned {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                shared.release(GIVEN_UP);
                let made = handles.len();
                for handle in handles {
                    // Its result does not matter any more.
                    let _ = handle.join();
                }
                return Err(TeamError::NoThread {
                    made,
                    threads: setting.threads,
                    reason: error.to_string(),
                });
            }
        }
    }

    let _raised = setting.placement.raise_coordinator();
    let watched = match watch::watch(setting, until, &shared) {
        Ok(watched) => watched,
        Err(limit) => {
            let remaining = || {
                handles
                    .iter()
                    .zip(&shared.threads)
                    .filter(|(_, lane)| !lane.ended.load(Ordering::Acquire))
            };
            // First all are described, then all frozen: freezing one changes what the others wait
            // for.
            let states = remaining()
                .map(|(_, lane)| {
                    let state = freeze::describe(None, lane.kernel_id.load(Ordering::Relaxed));
                    format!("{state}, after {} pairs", lane.pairs.load(Ordering::Relaxed))
                })
                .collect();
            remaining().for_each(|(handle, _)| freeze::freeze(handle));
            return Err(TeamError::Stuck { threads: setting.threads, limit, states });
        }
    };

    let mut outcome = Outcome {
        window: watched.window,
        window_pairs: watched.window_pairs,
        contended_pairs: watched.contended_pairs,
        pairs: Vec::new(),
        usage: Usage::default(),
        span: watched.span,
        results: Vec::with_capacity(setting.threads),
    };
    for handle in handles {
        let (result, usage) = handle.join().map_err(|_| TeamError::Panicked)?;
        outcome.usage = outcome.usage.plus(usage);
        outcome.results.push(result);
    }
    outcome.pairs = shared.progress();
    if setting.cancel.load(Ordering::Relaxed) { Err(TeamError::Cancelled) } else { Ok(outcome) }
}

/// Marks a thread's end, also when it panics.
struct Ended(Arc<Shared>, usize);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.threads[self.1].ended.store(true, Ordering::Release);
        self.0.gate().ended += 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(threads: usize) -> TeamSetting {
        TeamSetting {
            threads,
            placement: Placement::default(),
            stall_limit: Duration::from_millis(300),
            cancel: Arc::default(),
        }
    }

    #[test]
    fn every_thread_works_until_the_time_is_over() {
        let outcome = run(&setting(3), Until::Elapsed(Duration::from_millis(20)), |member| {
            assert!(member.start());
            let mut pairs = 0;
            while !member.stopped() {
                pairs += 1;
                member.done(pairs);
            }
            pairs
        })
        .expect("the team ends");
        assert_eq!(outcome.pairs, outcome.results);
        assert!(outcome.total_pairs() >= outcome.window_pairs.iter().sum());
        assert!(outcome.window >= Duration::from_millis(20));
        assert!(outcome.span >= outcome.window, "{outcome:?}");
    }

    #[test]
    fn a_team_may_end_by_itself() {
        let outcome = run(&setting(2), Until::Finished(Duration::MAX), |member| {
            assert!(member.start());
            member.done(7);
            member.index
        })
        .expect("the team ends");
        assert_eq!(outcome.results, [0, 1]);
        assert_eq!(outcome.window_pairs, [7, 7]);
    }

    #[test]
    fn a_stuck_team_is_reported_and_frozen() {
        let error = run(&setting(2), Until::Elapsed(Duration::from_millis(10)), |member| {
            assert!(member.start());
            if member.index == 1 {
                loop {
                    std::hint::spin_loop();
                }
            }
            member.done(1);
        })
        .expect_err("one thread never ends");
        let TeamError::Stuck { threads: 2, states, .. } = error else { panic!("{error}") };
        assert_eq!(states.len(), 1, "{states:?}");
        assert!(states[0].contains("lab-1"), "{states:?}");
    }

    #[test]
    fn a_thread_that_never_comes_to_the_start_is_stuck_too() {
        let error = run(&setting(2), Until::Finished(Duration::MAX), |member| {
            if member.index == 1 {
                loop {
                    std::thread::park();
                }
            }
            assert!(!member.start(), "the team is given up");
        })
        .expect_err("one thread never starts");
        assert!(matches!(error, TeamError::Stuck { .. }), "{error}");
    }

    #[test]
    fn a_cancelled_round_ends_early_and_yields_nothing() {
        let setting = setting(2);
        let cancel = Arc::clone(&setting.cancel);
        let error = run(&setting, Until::Elapsed(Duration::from_hours(1)), move |member| {
            assert!(member.start());
            let mut pairs = 0;
            while !member.stopped() {
                pairs += 1;
                member.done(pairs);
                cancel.store(pairs > 1_000, Ordering::Relaxed);
            }
        })
        .map(|_| ());
        assert_eq!(error, Err(TeamError::Cancelled));
    }

    #[test]
    fn a_panicking_thread_is_an_error() {
        let error = run(&setting(1), Until::Finished(Duration::MAX), |_| panic!("a broken lock"))
            .map(|_: Outcome<()>| ());
        assert_eq!(error, Err(TeamError::Panicked));
    }
}
