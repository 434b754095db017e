//! A round: a team's threads on a machine that is made for them.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ondeck_lab::environment::Pinning;
use ondeck_lab::team::{Body, Outcome, Shared, TeamError, TeamSetting, Until};
use ondeck_lab::usage::Usage;

use super::{PRESENT, Setup};
use crate::engine::{Call, End, Job, Ran, Set, Sim, Simulation};
use crate::time::{Time, in_nanos, of_nanos};

/// This part of a round's length passes before the window begins: then all threads have begun, and
/// threads that park have parked.
const WARM_UP: u64 = 4;

/// The nanoseconds within which as many threads begin as there are CPUs.
const FIRST_ARRIVALS: f64 = 100_000.0;

/// The nanoseconds within which each further such group begins.
const NEXT_ARRIVALS: f64 = 30_000.0;

/// The difference between the seeds of consecutive rounds; odd and large, so that the rounds of two
/// seeds differ.
const NEXT_SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The results of threads, each with its charge.
type Results<T> = Rc<RefCell<Vec<Option<(T, Usage)>>>>;

/// The progress of all threads at a moment.
type Snapshot = Rc<RefCell<Option<(Time, Vec<u64>)>>>;

pub(super) fn run<T: Send + 'static>(
    setting: &TeamSetting,
    until: Until,
    body: &Body<Sim, T>,
) -> Result<Outcome<T>, TeamError> {
    let (setup, team) = next_round();
    let shared = Shared::<Sim>::new(setting.threads);
    let results: Results<Option<T>> =
        Rc::new(RefCell::new((0..setting.threads).map(|_| None).collect()));
    let last_end = Rc::new(Cell::new(0));
    let cpus = setup.costs.places.len();
    let jobs = (0..setting.threads)
        .map(|index| {
            let (shared, body) = (Arc::clone(&shared), Arc::clone(body));
            let (results, last_end) = (Rc::clone(&results), Rc::clone(&last_end));
            let work = move || {
                let result = shared.work(index, |member| body(member));
                results.borrow_mut()[index] = Some(result);
                last_end.set(Sim::now_free());
            };
            Job { allowed: allowed(&setting.placement.pinning, index, cpus), body: Box::new(work) }
        })
        .collect();

    let time = |duration: Duration| of_nanos(duration.as_nanos().min(1 << 60) as f64);
    // At this time all threads have reached their start, where they sleep.
    let start = of_nanos(FIRST_ARRIVALS + NEXT_ARRIVALS * setting.threads.div_ceil(cpus) as f64);
    let (begin, limit) = match until {
        Until::Elapsed(length) => (start + time(length) / WARM_UP, time(length)),
        Until::Finished(limit) => (start, time(limit)),
    };
    let (from, to): (Snapshot, Snapshot) = Default::default();
    let end = begin.saturating_add(limit);
    let opened = Arc::clone(&shared);
    let open = Call { at: start, call: Box::new(move || opened.open()) };
    let mut calls = vec![open, snapshot(begin, &shared, &from, false)];
    let stall = time(setting.stall_limit);
    let seen = Rc::new(Cell::new(0));
    if let Until::Elapsed(_) = until {
        calls.push(snapshot(end, &shared, &to, true));
        let (shared, seen) = (Arc::clone(&shared), Rc::clone(&seen));
        calls.push(Call { at: end, call: Box::new(move || seen.set(done_by(&shared))) });
    } else if end < Time::MAX / 2 {
        let shared = Arc::clone(&shared);
        calls.push(Call { at: end, call: Box::new(move || shared.stop()) });
    }
    let mut simulation =
        Simulation::new(&setup.costs, setup.seed.wrapping_add(team.wrapping_mul(NEXT_SEED)));
    // A counted run may take long; the time without progress is not watched.
    simulation.limit = match until {
        Until::Elapsed(_) => end.saturating_add(stall),
        Until::Finished(_) => end.min(100 * stall).saturating_add(stall),
    };
    // A thousand threads that are woken one after the other end long after the request to stop.
    let longer = |now: Time| {
        let done = done_by(&shared);
        (done != seen.replace(done)).then(|| now.saturating_add(stall))
    };
    if let Until::Elapsed(_) = until {
        simulation.longer = Some(&longer);
    }
    let cancelled = || setting.cancel.load(Ordering::Relaxed);
    let ran = catch_unwind(AssertUnwindSafe(|| simulation.run(jobs, calls, &cancelled)))
        .map_err(|_| TeamError::Panicked)?;
    match ran.end {
        End::Done => {}
        End::Cancelled => return Err(TeamError::Cancelled),
        End::Deadlock | End::TooLong => return Err(stuck(setting, &shared, &ran)),
    }
    let (end_time, usages) = (last_end.get(), &results);
    let taken = |snapshot: &Snapshot| snapshot.borrow_mut().take();
    let from = taken(&from).unwrap_or_else(|| (begin, vec![0; setting.threads]));
    let to = taken(&to).unwrap_or_else(|| (end_time, shared.progress()));
    let window_pairs: Vec<u64> =
        to.1.iter().zip(&from.1).map(|(to, from)| to.saturating_sub(*from)).collect();
    let contended_pairs = match until {
        Until::Elapsed(_) => window_pairs.clone(),
        Until::Finished(_) => shared.first_end().unwrap_or_default().to_vec(),
    };
    let mut usage = Usage::default();
    let mut returned = Vec::with_capacity(setting.threads);
    for result in usages.borrow_mut().drain(..) {
        let (result, charged) = result.expect("each thread has ended");
        usage = usage.plus(charged);
        returned.extend(result);
    }
    let nanos = |time: Time| Duration::from_nanos(in_nanos(time));
    Ok(Outcome {
        window: nanos(to.0.saturating_sub(from.0)),
        window_pairs,
        contended_pairs,
        pairs: shared.progress(),
        usage,
        span: nanos(end_time.saturating_sub(start)),
        cpus,
        results: returned,
    })
}

/// What the next round simulates, and its number.
fn next_round() -> (Setup, u64) {
    PRESENT.with_borrow_mut(|present| {
        let present =
            present.as_mut().expect("a round of a simulated lock runs within `lab::with`");
        present.teams += 1;
        (present.setup.clone(), present.teams)
    })
}

/// Records the progress of all threads at that time, and then stops them, if requested.
fn snapshot(at: Time, shared: &Arc<Shared<Sim>>, into: &Snapshot, stops: bool) -> Call {
    let (shared, into) = (Arc::clone(shared), Rc::clone(into));
    let call = move || {
        into.replace(Some((at, shared.progress())));
        if stops {
            shared.stop();
        }
    };
    Call { at, call: Box::new(call) }
}

/// The number of all pairs and of all ended threads. It changes while a team that was stopped still
/// makes progress.
fn done_by(shared: &Shared<Sim>) -> u64 {
    shared.progress().iter().sum::<u64>() + shared.ended() as u64
}

/// The CPUs that the thread with that index may run on.
fn allowed(pinning: &Pinning, index: usize, cpus: usize) -> Option<Set> {
    match pinning {
        Pinning::None => None,
        Pinning::Each => Some(Set::of(index % cpus)),
        Pinning::One => Some(Set::of(cpus - 1)),
        Pinning::List(list) => Some(Set::of(list[index % list.len()])),
    }
}

fn stuck(setting: &TeamSetting, shared: &Shared<Sim>, ran: &Ran) -> TeamError {
    let progress = shared.progress();
    let state = |stuck: &crate::engine::Stuck| {
        let pairs = progress.get(stuck.thread).copied().unwrap_or_default();
        format!("{stuck}, after {pairs} pairs")
    };
    TeamError::Stuck {
        threads: setting.threads,
        limit: setting.stall_limit,
        states: ran.stuck.iter().map(state).collect(),
    }
}
