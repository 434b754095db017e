//! A queue of jobs guarded by one lock: each thread takes the oldest job, works on it, and puts its
//! successor at the end.
//!
//! There are four jobs for every thread, so that no thread ever finds the queue empty. A job is the
//! number of its chain and the number of links that the chain has had. The work on a job is 32
//! turns of a hash function. They take some 100 ns, most of which an out-of-order CPU overlaps with
//! the next job.

use std::hint::black_box;

use super::mixed;
use crate::workload::gaps::{self, Gaps};
use crate::workload::prelude::*;
use crate::workload::ring::Ring;

const JOBS_PER_THREAD: usize = 4;

/// Turns of the hash function for one job.
const TURNS: usize = 32;

/// A job is its chain in the upper bits, and the links of the chain in the lower.
const LINK: u64 = 1;
const CHAIN: u64 = 1 << 48;

pub(super) fn round(given: &Round, lock: AnyMutex<Native>) -> Sampled {
    let jobs = JOBS_PER_THREAD * given.team.threads;
    let mut queue = Ring::new(jobs);
    (0..jobs as u64).for_each(|job| queue.push::<Native>(job * CHAIN));
    let queue = Guarded::<_, Ring>::new(lock, queue);
    let (shared, outcome) = given.timed::<Native, _, _>(queue, |member, queue| {
        let mut context = queue.context();
        member.start()?;
        let mut gaps = Gaps::begin::<Native>();
        let mut done = 0;
        // Whole jobs only: a thread that stopped while it had a job would lose it.
        while !member.stopped() {
            let job = queue.with(&mut context, |queue| take(queue));
            let Some(job) = job else { continue };
            black_box((0..TURNS).fold(job, |number, _| mixed(number)));
            queue.with(&mut context, |queue| put(queue, job + LINK));
            done += 1;
            member.done(done);
            gaps.done::<Native>();
        }
        Some(gaps.end::<Native>())
    })?;
    let (chains, links) = shared.with(&mut shared.context(), |queue| count(queue, jobs));
    audit::balance("chains of jobs", chains, (0..jobs as u64).sum())?;
    audit::balance("jobs", links, outcome.total_pairs())?;
    Ok(gaps::with::<Native>(Sample::of_outcome(&outcome), outcome.results.iter().copied()))
}

/// Takes the oldest job. If there is none, or no room for one, the lock is broken.
fn take(queue: &mut Ring) -> Option<u64> {
    (!queue.is_empty()).then(|| queue.pop::<Native>())
}

fn put(queue: &mut Ring, job: u64) {
    if !queue.is_full() {
        queue.push::<Native>(job);
    }
}

/// The sum of the chains' numbers, and all their links.
fn count(queue: &mut Ring, jobs: usize) -> (u64, u64) {
    let (mut chains, mut links) = (0, 0);
    for job in (0..jobs).map_while(|_| take(queue)) {
        chains += job / CHAIN;
        links += job % CHAIN;
    }
    (chains, links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_job_and_a_lost_link_are_noticed() {
        let mut queue = Ring::new(4);
        for job in [0, CHAIN + 3 * LINK, 2 * CHAIN] {
            queue.push::<Native>(job);
        }
        assert_eq!(count(&mut queue, 3), (3, 3));
        queue.push::<Native>(CHAIN + 2 * LINK);
        assert_eq!(count(&mut queue, 3), (1, 2));
    }
}
