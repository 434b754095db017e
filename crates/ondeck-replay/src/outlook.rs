//! A program's performance with more threads, and with another lock.

use crate::SATURATED;
use crate::run::{Outcome, Setup, run};
use crate::script::{Script, Sharing};

/// The result for one number of threads.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number.
    pub threads: usize,
    /// The result.
    pub outcome: Outcome,
}

/// The first lock that saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation {
    /// Its index in the recording.
    pub lock: usize,
    /// The least number of threads that saturates it.
    pub threads: usize,
}

/// A program's performance with one lock.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// By the number of threads, ascending.
    pub rows: Vec<Row>,
    /// `None` if no lock saturates.
    pub saturation: Option<Saturation>,
}

/// Simulates these ascending numbers of threads, and searches between them for the one that saturates a lock.
pub fn outlook(script: &Script, setup: &Setup<'_>, threads: &[usize]) -> Outlook {
    let simulate = |threads| run(script, &Setup { threads, ..setup.clone() });
    let rows: Vec<Row> =
        threads.iter().map(|&threads| Row { threads, outcome: simulate(threads) }).collect();
    let found = rows.iter().position(|row| saturated(script, &row.outcome).is_some());
    let saturation = found.and_then(|place| {
        let mut low = if place == 0 { 0 } else { rows[place - 1].threads };
        let mut high = rows[place].threads;
        let mut lock = saturated(script, &rows[place].outcome)?;
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            match saturated(script, &simulate(middle)) {
                Some(first) => (high, lock) = (middle, first),
                None => low = middle,
            }
        }
        Some(Saturation { lock, threads: high })
    });
    Outlook { rows, saturation }
}

/// The busiest lock, if it is saturated.
fn saturated(script: &Script, outcome: &Outcome) -> Option<usize> {
    let shared = |lock: &usize| script.locks[*lock] == Sharing::Shared;
    let busiest = (0..outcome.busy.len())
        .filter(shared)
        .max_by(|&one, &other| outcome.busy[one].total_cmp(&outcome.busy[other]))?;
    (outcome.busy[busiest] >= SATURATED).then_some(busiest)
}
