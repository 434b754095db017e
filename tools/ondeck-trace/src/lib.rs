//! Why the lock was idle, and why a thread waited: the actions of the scheduler in that time.
//!
//! Threads hammer a lock and stamp every pair ([`ondeck_lab::stamp`]); the kernel reports which
//! thread ran where (`kernel`). Both make a [`timeline::Timeline`], of which [`cause`] is a
//! function. The result is a [`Document`](ondeck_lab::results::trace::Document), which becomes text
//! or JSON.
//!
//! ```text
//! a run with stamps            the kernel: schedstat, its tracepoints where permitted
//!   lock called, acquired,       which thread ran on which CPU, which was woken
//!   unlock called, done            │
//!        │                         │
//!        └───────► timeline ◄──────┘   lock, threads and CPUs in one time
//!                     │
//!                     ▼
//!                   cause              of an idle or a wait, by the timeline alone
//!                     │
//!                     ▼
//!                   Document           episodes, and the longest of each kind
//! ```

mod clocks;
mod episode;
mod kernel;
mod verdict;

pub mod cause;
pub mod text;
pub mod timeline;

use std::time::{Duration, Instant};

use ondeck_lab::environment::{Placement, Refusal};
pub use ondeck_lab::results::episode::Sight;
use ondeck_lab::results::trace::{Episode, LockTrace};
use ondeck_lab::schedstat;
use ondeck_lab::stamp::{self, Course, Recorded};
use ondeck_lab::team::{TeamError, TeamSetting};
use ondeck_lab::work::Work;
use ondeck_lab::workload::Subject;

use clocks::Clocks;
use kernel::WholeMachine;
use timeline::{Nanos, Pair, Thread, Timeline};

pub use episode::LEAST;

/// A request for a trace.
#[derive(Clone, Debug)]
pub struct Request {
    /// The threads.
    pub team: TeamSetting,
    /// Runs of each lock.
    pub runs: usize,
    /// How long runs of a lock are repeated at most.
    pub duration: Duration,
    /// Pairs of each thread in a run.
    pub pairs: u32,
    /// Work in the section, in nanoseconds.
    pub section_nanos: u64,
    /// Work between an unlock and the next lock, in nanoseconds.
    pub outside_nanos: u64,
    /// The number of longest idles to keep.
    pub longest_idles: usize,
    /// The number of longest waits to keep; if 0, waits are not counted either.
    pub longest_waits: usize,
}

/// A tracer that has checked what the kernel permits.
pub struct Tracer {
    request: Request,
    course: Course,
    sight: Sight,
    refused: Vec<Refusal>,
    machine: Option<WholeMachine>,
}

/// A limit of a run that suits most locks: ticket locks take seconds a run.
const LONGEST_RUN: Duration = Duration::from_secs(2);

impl Tracer {
    /// Checks what the kernel reports.
    pub fn new(request: Request) -> Self {
        let mut refused = Vec::new();
        let machine = WholeMachine::open().map_err(|refusal| refused.push(refusal)).ok();
        let sight = if machine.is_some() { Sight::Machine } else { Sight::Stamps };
        refused.extend(schedstat::refused().map(|reason| Refusal {
            reason,
            fix: "run on a kernel that has CONFIG_SCHED_INFO".to_owned(),
        }));
        let course = Course {
            team: request.team.clone(),
            pairs: request.pairs,
            section: Work::of_nanos(request.section_nanos),
            outside: Work::of_nanos(request.outside_nanos),
            longest_run: LONGEST_RUN,
        };
        Self { request, course, sight, refused, machine }
    }

    /// The detail that the kernel reports.
    pub fn sight(&self) -> Sight {
        self.sight
    }

    /// The refusals of the kernel.
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// The nanoseconds that stamping adds to a pair.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if no thread can be created, or the measurement was cancelled.
    pub fn stamp_cost(&self) -> Result<f64, TeamError> {
        let placement = Placement::default();
        let team = TeamSetting { placement, ..self.course.team.clone() };
        stamp::cost(&Course { team, pairs: 16_384, ..self.course.clone() })
    }

    /// Traces one lock, and calls `watch` before each run. After a failure or a cancellation the
    /// results so far are complete.
    pub fn trace(
        &mut self,
        lock: &Subject,
        mut watch: impl FnMut(usize),
    ) -> (LockTrace, Option<TeamError>) {
        let start = Instant::now();
        let mut found = LockTrace { lock: lock.info.name.to_owned(), ..LockTrace::default() };
        let Request { longest_idles, longest_waits, .. } = self.request;
        let mut failed = None;
        for run in 0..self.request.runs {
            if run > 0 && start.elapsed() >= self.request.duration {
                break;
            }
            watch(run);
            match self.run(lock, &mut found) {
                Ok(timeline) => add(&mut found, &timeline, run, (longest_idles, longest_waits)),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        (found, failed)
    }

    fn run(&mut self, lock: &Subject, found: &mut LockTrace) -> Result<Timeline, TeamError> {
        let begun = self.machine.as_mut().is_some_and(|machine| machine.begin().is_ok());
        let recorded = lock.record(&self.course);
        let seen = self.machine.as_mut().filter(|_| begun).map(WholeMachine::end);
        let recorded = recorded?;
        found.runs += 1;
        found.cut_runs += usize::from(recorded.iter().any(|thread| thread.cut));
        for thread in &recorded {
            found.account = found.account.plus(thread.account);
            found.pairs += thread.stamps.len() as u64;
        }
        let (timeline, whole, end) = assemble(recorded, seen);
        found.overflown_runs += usize::from(!whole);
        found.nanos += end;
        Ok(timeline)
    }
}

/// Adds the episodes of a run, and keeps the given numbers of longest idles and waits.
fn add(found: &mut LockTrace, timeline: &Timeline, run: usize, longest: (usize, usize)) {
    let more = episode::find(timeline, run, longest, LEAST);
    episode::add(&mut found.idles, &more.idles);
    episode::add(&mut found.waits, &more.waits);
    keep(&mut found.longest_idles, more.longest_idles, longest.0);
    keep(&mut found.longest_waits, more.longest_waits, longest.1);
}

fn keep(longest: &mut Vec<Episode>, more: Vec<Episode>, most: usize) {
    longest.extend(more);
    longest.sort_by_key(|episode| std::cmp::Reverse(episode.to - episode.from));
    longest.truncate(most);
}

type Seen = (Vec<kernel::Event>, Option<u64>);

/// The timeline of a run, whether the kernel's events are complete, and the run's length.
fn assemble(recorded: Vec<Recorded>, seen: Option<Seen>) -> (Timeline, bool, Nanos) {
    let begin = recorded.iter().map(|thread| thread.begin).min_by_key(|anchor| anchor.ticks);
    let last = recorded.iter().map(|thread| thread.end).max_by_key(|anchor| anchor.ticks);
    let (Some(begin), Some(last)) = (begin, last) else {
        return (Timeline::default(), true, 0);
    };
    let clocks = Clocks::between(begin, last);
    let end = clocks.of_ticks(last.ticks);
    let first_cpu = |thread: &Recorded| thread.stamps.first().map(|stamps| stamps.cpu);
    let mut seen_until = 0;
    let mut whole = true;
    let (mut spans, mut cpus) = (Vec::new(), Vec::new());
    if let Some((events, lost)) = seen {
        let threads: Vec<_> =
            recorded.iter().map(|thread| (thread.kernel_id, first_cpu(thread))).collect();
        (spans, cpus) = kernel::of_whole_machine(&events, &threads, clocks, end);
        whole = lost.is_none();
        seen_until = lost.map_or(end, |lost| clocks.of_kernel(lost).min(end));
    }
    spans.resize(recorded.len(), Vec::new());
    let threads = recorded.into_iter().zip(spans).map(|(thread, spans)| Thread {
        pairs: thread.stamps.iter().map(|stamps| pair(stamps, clocks)).collect(),
        spans,
    });
    (Timeline { threads: threads.collect(), cpus, seen_until }, whole, end)
}

fn pair(stamps: &stamp::Stamps, clocks: Clocks) -> Pair {
    let wanted = clocks.of_ticks(stamps.wanted);
    let acquired = clocks.of_ticks(stamps.acquired).max(wanted);
    let released = clocks.of_ticks(stamps.released).max(acquired);
    let freed = clocks.of_ticks(stamps.freed).max(released);
    Pair { wanted, acquired, released, freed, cpu: stamps.cpu }
}
