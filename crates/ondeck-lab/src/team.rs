//! A team of threads that do the same thing to the same lock at the same time.
//!
//! The life of a round: the threads are made, placed and prepared; they start together; the
//! coordinator watches their progress, tells them when to stop, and sees them end. A team that
//! makes no progress any more is stuck: its threads are frozen where they are, reported, and left
//! behind, so that the run goes on without that lock.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

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
    /// For how long nobody may make progress before the team counts as stuck.
    pub stall_limit: Duration,
}

/// When a team stops.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// When every thread has done its work, or after this time: the threads look at
    /// [`Member::stopped`].
    Finished(Duration),
    /// After this time: the threads look at [`Member::stopped`].
    Elapsed(Duration),
}

/// What a team did.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The time that was watched: until the stop, or until the last thread ended.
    pub window: Duration,
    /// Pairs of each thread within the window.
    pub window_pairs: Vec<u64>,
    /// Pairs of each thread at a moment when all of them still wanted the lock: at the stop, or
    /// when the first thread ended. What fairness is judged by.
    pub contended_pairs: Vec<u64>,
    /// Pairs of each thread altogether, including what was under way at the stop.
    pub pairs: Vec<u64>,
    /// What the kernel charged all threads, from their start to their end.
    pub usage: Usage,
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
    #[error("no thread made progress for {limit:?}; {} of {threads} threads were still in the lock", states.len())]
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
    /// A thread panicked.
    #[error("a thread panicked in the lock")]
    Panicked,
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
    stop: CachePadded<AtomicBool>,
    threads: Vec<CachePadded<Lane>>,
    /// Everybody's progress when the first thread ended.
    first_end: OnceLock<Vec<u64>>,
}

#[derive(Default)]
struct Gate {
    ready: usize,
    ended: usize,
    open: bool,
    /// The team is given up before its start.
    cancelled: bool,
}

/// What one thread tells the coordinator.
#[derive(Default)]
struct Lane {
    pairs: AtomicU64,
    kernel_id: AtomicI32,
    ended: AtomicBool,
}

impl Shared {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        // A thread that panicked in its work never holds the gate.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut gate = self.shared.gate();
        gate.ready += 1;
        self.shared.changed.notify_all();
        while !gate.open && !gate.cancelled {
            gate = self.shared.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        let go = gate.open;
        drop(gate);
        self.usage_at_start = Usage::of_this_thread();
        go
    }

    /// Whether the time is over.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Tells how many pairs this thread has done: a store to a cache line of its own.
    #[inline]
    pub fn done(&self, pairs: u64) {
        self.shared.threads[self.index].pairs.store(pairs, Ordering::Relaxed);
    }
}

/// Runs `body` on every thread of a team and watches over it.
///
/// The body calls [`Member::start`] once it is prepared, and [`Member::done`] as it goes: a thread
/// that does not is taken for stuck.
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
        stop: CachePadded::new(AtomicBool::new(false)),
        threads: (0..setting.threads).map(|_| CachePadded::default()).collect(),
        first_end: OnceLock::new(),
    });
    let mut handles = Vec::with_capacity(setting.threads);
    for index in 0..setting.threads {
        let (member_shared, body, placement) =
            (Arc::clone(&shared), Arc::clone(body), setting.placement.clone());
        let spawned = std::thread::Builder::new().name(format!("lab-{index}")).spawn(move || {
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
                shared.gate().cancelled = true;
                shared.changed.notify_all();
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
    let watch = watch(setting, until, &shared);
    let (window, window_pairs) = match watch {
        Ok(watched) => watched,
        Err(limit) => {
            let states = handles
                .iter()
                .zip(&shared.threads)
                .filter(|(_, lane)| !lane.ended.load(Ordering::Acquire))
                .map(|(handle, lane)| {
                    let state = freeze::describe(lane.kernel_id.load(Ordering::Relaxed));
                    freeze::freeze(handle);
                    format!("{state}, after {} pairs", lane.pairs.load(Ordering::Relaxed))
                })
                .collect();
            return Err(TeamError::Stuck { threads: setting.threads, limit, states });
        }
    };

    let contended_pairs = match until {
        Until::Elapsed(_) => window_pairs.clone(),
        Until::Finished(_) => shared.first_end.get().cloned().unwrap_or_default(),
    };
    let mut outcome = Outcome {
        window,
        window_pairs,
        contended_pairs,
        pairs: Vec::new(),
        usage: Usage::default(),
        results: Vec::with_capacity(setting.threads),
    };
    for handle in handles {
        let (result, usage) = handle.join().map_err(|_| TeamError::Panicked)?;
        outcome.usage = outcome.usage.plus(usage);
        outcome.results.push(result);
    }
    outcome.pairs = shared.progress();
    Ok(outcome)
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

/// Opens the gate, stops the team in time, waits for its end; `Err` with the limit when it is stuck.
fn watch(
    setting: &TeamSetting,
    until: Until,
    shared: &Shared,
) -> Result<(Duration, Vec<u64>), Duration> {
    let wait = |gate, time| match shared.changed.wait_timeout(gate, time) {
        Ok((gate, _)) => gate,
        Err(poisoned) => poisoned.into_inner().0,
    };

    let mut gate = shared.gate();
    while gate.ready + gate.ended < setting.threads {
        gate = wait(gate, setting.stall_limit);
    }
    gate.open = true;
    shared.changed.notify_all();
    let start = Instant::now();

    let mut snapshot = None;
    let mut seen = shared.progress();
    let mut moved = start;
    while gate.ended < setting.threads {
        let now = Instant::now();
        let (Until::Elapsed(limit) | Until::Finished(limit)) = until;
        if snapshot.is_none() && now - start >= limit {
            snapshot = Some((now - start, shared.progress()));
            shared.stop.store(true, Ordering::Relaxed);
        }
        let progress = shared.progress();
        if progress != seen {
            seen = progress;
            moved = now;
        } else if now - moved >= setting.stall_limit {
            return Err(setting.stall_limit);
        }
        let next = if snapshot.is_none() {
            limit.saturating_sub(now - start)
        } else {
            setting.stall_limit
        };
        // A little more than nothing, so that a deadline just ahead is not polled for.
        gate = wait(gate, next.clamp(Duration::from_micros(50), setting.stall_limit / 4));
    }
    Ok(snapshot.unwrap_or_else(|| (start.elapsed(), shared.progress())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(threads: usize) -> TeamSetting {
        TeamSetting {
            threads,
            placement: Placement::default(),
            stall_limit: Duration::from_millis(300),
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
    fn a_panicking_thread_is_an_error() {
        let error = run(&setting(1), Until::Finished(Duration::MAX), |_| panic!("a broken lock"))
            .map(|_: Outcome<()>| ());
        assert_eq!(error, Err(TeamError::Panicked));
    }
}
