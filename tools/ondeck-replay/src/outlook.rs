//! A program's performance with more threads, and with another lock.

use crate::SATURATED;
use crate::bound::bound;
use crate::run::{Outcome, Setup, run};
use crate::script::{Script, Sharing};

/// The result for one number of threads.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number.
    pub threads: usize,
    /// The result.
    pub outcome: Outcome,
    /// The rate of a queueing network: see [`bound`](crate::bound()).
    pub bound: f64,
}

/// The number of seeds with which each number of threads is simulated.
const SEEDS: u64 = 3;

/// The first lock that saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation {
    /// Its index in the recording.
    pub lock: usize,
    /// The least number of threads that saturates it, with the seed for which that is least.
    pub threads: usize,
    /// The same with the seed for which that is most; `None` if one saturates nothing.
    pub most: Option<usize>,
}

/// A program's performance with one lock.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// By the number of threads, ascending. Of several seeds the result with the median rate.
    pub rows: Vec<Row>,
    /// `None` if no lock saturates.
    pub saturation: Option<Saturation>,
}

/// Simulates these ascending numbers of threads, and searches between them for the one that
/// saturates a lock.
pub fn outlook(script: &Script, setup: &Setup<'_>, threads: &[usize]) -> Outlook {
    let (mut all, mut found) = (vec![Vec::new(); threads.len()], Vec::new());
    for seed in 0..SEEDS {
        let setup = Setup { seed: setup.seed.wrapping_add(seed << 32), ..setup.clone() };
        let simulate = |threads| run(script, &Setup { threads, ..setup.clone() });
        let outcomes: Vec<Outcome> = threads.iter().map(|&threads| simulate(threads)).collect();
        found.push(first_saturated(script, threads, &outcomes, simulate));
        all.iter_mut().zip(outcomes).for_each(|(all, outcome)| all.push(outcome));
    }
    let median = |mut outcomes: Vec<Outcome>| {
        outcomes.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        outcomes.swap_remove(outcomes.len() / 2)
    };
    let cpus = setup.costs.places.len();
    let row = |(&threads, all)| Row {
        threads,
        outcome: median(all),
        bound: bound(script, threads, cpus),
    };
    let is_sure = found.iter().all(Option::is_some);
    let least = found.iter().flatten().min_by_key(|(_, threads)| *threads);
    let most = found.iter().flatten().map(|(_, threads)| *threads).max();
    let saturation =
        least.map(|&(lock, threads)| Saturation { lock, threads, most: most.filter(|_| is_sure) });
    Outlook { rows: threads.iter().zip(all).map(row).collect(), saturation }
}

/// The first lock that saturates, and the number of threads.
fn first_saturated(
    script: &Script,
    threads: &[usize],
    outcomes: &[Outcome],
    simulate: impl Fn(usize) -> Outcome,
) -> Option<(usize, usize)> {
    let place = outcomes.iter().position(|outcome| saturated(script, outcome).is_some())?;
    let mut low = if place == 0 { 0 } else { threads[place - 1] };
    let mut high = threads[place];
    let mut lock = saturated(script, &outcomes[place])?;
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        match saturated(script, &simulate(middle)) {
            Some(first) => (high, lock) = (middle, first),
            None => low = middle,
        }
    }
    Some((lock, high))
}

/// The busiest lock, if it is saturated.
fn saturated(script: &Script, outcome: &Outcome) -> Option<usize> {
    let shared = |lock: &usize| script.locks[*lock] == Sharing::Shared;
    let busiest = (0..outcome.busy.len())
        .filter(shared)
        .max_by(|&one, &other| outcome.busy[one].total_cmp(&outcome.busy[other]))?;
    (outcome.busy[busiest] >= SATURATED).then_some(busiest)
}
