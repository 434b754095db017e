//! A round in phases: some of a team's threads work while the others sleep, then others do.
//!
//! For workloads that compare a thing alone with the same thing beside others. Both are measured in
//! the same round, so that a disturbance of the machine affects both. One more thread conducts. It
//! sleeps while the others work, and every phase begins when all of them sleep.

use std::ops::Range;

use crossbeam_utils::CachePadded;

use super::prelude::*;
use crate::environment::Placement;

/// The threads that work in a phase, and its length.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    /// Its threads.
    pub(super) workers: Range<usize>,
    /// How long it is.
    pub(super) length: Duration,
}

/// The phases of a round, and the current one.
pub(super) struct Phases<M: Machine> {
    plan: Vec<Phase>,
    /// `RESTING`, `ENDED`, or the number of the phase.
    word: CachePadded<M::AtomicU32>,
    /// For each thread but the conductor: whether it sleeps.
    asleep: Vec<CachePadded<M::AtomicU32>>,
}

const RESTING: u32 = u32::MAX;
const ENDED: u32 = u32::MAX - 1;

/// The work of one thread in one phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stint {
    pub(super) operations: u64,
    pub(super) usage: Usage,
}

/// The conductor's observations of a phase.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) window: Duration,
    /// Operations of each thread within the window.
    pub(super) operations: Vec<u64>,
}

impl Seen {
    /// Operations a second of some threads together.
    pub(super) fn rate(&self, threads: Range<usize>) -> f64 {
        self.operations[threads].iter().sum::<u64>() as f64 / self.window.as_secs_f64()
    }
}

impl<M: Machine> Phases<M> {
    /// Makes the phases of a team of `threads`. The conductor is not counted: it is the thread
    /// after them.
    fn new(threads: usize, plan: Vec<Phase>) -> Self {
        Self {
            plan,
            word: CachePadded::new(AtomicInt::new(RESTING)),
            asleep: (0..threads).map(|_| CachePadded::new(AtomicInt::new(0))).collect(),
        }
    }

    /// Runs a worker: repeats `operation` in the phases in which the thread works; `operation`
    /// receives the phase. Returns the work done in each.
    #[inline]
    pub(super) fn work(&self, member: &Member<M>, mut operation: impl FnMut(usize)) -> Vec<Stint> {
        let mut stints = vec![Stint::default(); self.plan.len()];
        let mut operations = 0;
        while let Some(phase) = self.await_turn(member.index) {
            let (before, first) = (M::usage(), operations);
            while self.word.load(Ordering::Relaxed) == phase {
                operation(phase as usize);
                operations += 1;
                member.done(operations);
            }
            let stint = &mut stints[phase as usize];
            stint.operations += operations - first;
            stint.usage = stint.usage.plus(M::usage().since(before));
        }
        stints
    }

    /// Sleeps until the thread's next phase; `None` after the last.
    fn await_turn(&self, index: usize) -> Option<u32> {
        let asleep = &self.asleep[index];
        asleep.store(1, Ordering::Release);
        M::futex_wake(&raw const **asleep, 1);
        loop {
            let word = self.word.load(Ordering::Acquire);
            if word == ENDED {
                return None;
            }
            if let Some(phase) = self.plan.get(word as usize)
                && phase.workers.contains(&index)
            {
                asleep.store(0, Ordering::Relaxed);
                return Some(word);
            }
            // The loop rereads the word, whatever ended the wait.
            let _ = M::futex_wait(&self.word, word, None);
        }
    }

    /// Runs the conductor: every phase once. `None` if the team is stopped before the end.
    fn conduct(&self, member: &Member<M>, placement: &Placement) -> Option<Vec<Seen>> {
        let _raised = placement.raise_coordinator();
        let seen = (0..self.plan.len()).map(|number| self.run(member, number)).collect();
        self.turn_to(ENDED);
        seen
    }

    fn run(&self, member: &Member<M>, number: usize) -> Option<Seen> {
        if !self.await_rest(member) {
            return None;
        }
        self.turn_to(number as u32);
        let seen = watch(member, self.plan[number].length);
        self.turn_to(RESTING);
        (!member.stopped()).then_some(seen)
    }

    fn turn_to(&self, word: u32) {
        self.word.store(word, Ordering::Release);
        M::futex_wake(&raw const *self.word, u32::MAX);
    }

    /// Waits until every worker sleeps; returns false if the team is stopped.
    fn await_rest(&self, member: &Member<M>) -> bool {
        for asleep in &self.asleep {
            while asleep.load(Ordering::Acquire) == 0 {
                if member.stopped() {
                    return false;
                }
                let until = M::now().as_nanos() + CANCEL_CHECK.as_nanos() as u64;
                let _ = M::futex_wait(asleep, 0, Some(Timestamp::from_nanos(until)));
            }
        }
        true
    }
}

/// Runs `worker` on every thread of the round, and one more thread that conducts. Returns the
/// results of the workers, what the conductor saw of each phase, and the number of CPUs.
pub(super) fn conducted<M: Machine, T: Send + 'static>(
    given: &Round,
    plan: Vec<Phase>,
    worker: impl Fn(&mut Member<M>, &Phases<M>) -> Option<T> + Send + Sync + 'static,
) -> Result<(Vec<T>, Vec<Seen>, usize), TeamError> {
    let conductor = given.team.threads;
    let phases = Phases::new(conductor, plan);
    let placement = given.team.placement.clone();
    let setting = TeamSetting { threads: conductor + 1, ..given.team.clone() };
    let outcome = team::run::<M, _>(&setting, Until::Finished(Duration::MAX), move |member| {
        if member.index < conductor {
            return worker(member, &phases).map(Ok);
        }
        member.start()?;
        Some(Err(phases.conduct(member, &placement)))
    })?;
    let (mut workers, mut seen) = (Vec::new(), None);
    for result in outcome.results {
        match result {
            Ok(worker) => workers.push(worker),
            Err(phases) => seen = phases,
        }
    }
    Ok((workers, seen.ok_or(TeamError::Cancelled)?, outcome.cpus))
}

/// The interval of checks for a cancellation.
const CANCEL_CHECK: Duration = Duration::from_millis(20);

/// Sleeps for that time, or until the team is stopped. Returns what its threads did meanwhile.
pub(super) fn watch<M: Machine>(member: &Member<M>, length: Duration) -> Seen {
    let (begin, before) = (M::now(), member.progress());
    while let Some(left) = length.checked_sub(M::now().since(begin))
        && !left.is_zero()
        && !member.stopped()
    {
        M::sleep(left.min(CANCEL_CHECK));
    }
    // Operations first: if this thread is switched out in between, operations are lost rather than
    // gained.
    let after = member.progress();
    let window = M::now().since(begin);
    let operations = after.iter().zip(before).map(|(after, before)| after - before).collect();
    Seen { window, operations }
}

/// The work of `threads` in some phases as the outcome of a round; the stints are theirs alone.
pub(super) fn outcome_of(
    phases: &[usize],
    threads: Range<usize>,
    stints: Vec<Vec<Stint>>,
    seen: &[Seen],
    cpus: usize,
) -> Outcome<Vec<Stint>> {
    let window = phases.iter().map(|&phase| seen[phase].window).sum();
    let within = |thread: usize| phases.iter().map(|&phase| seen[phase].operations[thread]).sum();
    let window_pairs: Vec<u64> = threads.map(within).collect();
    let done = |stints: &Vec<Stint>| phases.iter().map(|&phase| stints[phase].operations).sum();
    let charged = stints.iter().flat_map(|stints| phases.iter().map(|&phase| stints[phase].usage));
    Outcome {
        window,
        contended_pairs: window_pairs.clone(),
        window_pairs,
        pairs: stints.iter().map(done).collect(),
        usage: charged.fold(Usage::default(), Usage::plus),
        span: window,
        cpus,
        results: stints,
    }
}
