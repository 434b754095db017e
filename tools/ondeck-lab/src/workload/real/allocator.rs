//! An allocator's central list guarded by one lock, and a cache of blocks in every thread.
//!
//! Each thread allocates and frees blocks at random. It takes them from its own cache, fetches 16
//! from the central list when the cache is empty, and returns 16 when the cache has 64. So the lock
//! is acquired once in some ten operations, for a section that walks a list through memory that
//! others wrote.

use std::sync::atomic::{AtomicU32, Ordering};

use fastrand::Rng;

use crate::workload::gaps::{self, Gaps};
use crate::workload::prelude::*;

const BATCH: usize = 16;
const CACHED: usize = 64;

/// The most blocks that a thread uses at a time.
const USED: usize = 64;

/// The most blocks that one thread can have, in its cache and in use.
const PER_THREAD: usize = CACHED + USED;

/// Free blocks, each with the number of the next.
struct Central {
    next: Box<[u32]>,
    first: u32,
    fetched: u64,
    returned: u64,
}

/// The end of the list.
const NONE: u32 = u32::MAX;

impl Central {
    fn new(blocks: usize) -> Self {
        let next = (1..=blocks as u32).map(|next| if next < blocks as u32 { next } else { NONE });
        Self { next: next.collect(), first: 0, fetched: 0, returned: 0 }
    }

    /// Moves a batch into a thread's cache; fewer blocks if the list ends.
    fn fetch(&mut self, cache: &mut Vec<u32>) {
        for _ in 0..BATCH {
            // A broken lock may leave any number here.
            let Some(&next) = self.next.get(self.first as usize) else { break };
            cache.push(std::mem::replace(&mut self.first, next));
            self.fetched += 1;
        }
    }

    /// Moves a batch back.
    fn give_back(&mut self, cache: &mut Vec<u32>) {
        for _ in 0..BATCH {
            let Some(block) = cache.pop() else { break };
            self.next[block as usize] = std::mem::replace(&mut self.first, block);
            self.returned += 1;
        }
    }

    /// The number of blocks in the list; one more than all blocks if the list has a cycle.
    fn len(&self) -> usize {
        let mut block = self.first;
        let mut count = 0;
        while let Some(&next) = self.next.get(block as usize)
            && count <= self.next.len()
        {
            count += 1;
            block = next;
        }
        count
    }
}

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// The work of one thread.
#[derive(Default)]
struct Part {
    fetched: u64,
    /// Blocks that it received while another thread had them.
    double: u64,
    /// Blocks that it has kept.
    kept: u64,
    /// Its longest gap, in ticks.
    gap: u64,
}

pub(super) fn round(given: &Round, lock: AnyMutex<Native>) -> Sampled {
    let blocks = PER_THREAD * given.team.threads;
    let central = Guarded::<_, Central>::new(lock, Central::new(blocks));
    let states: Box<[AtomicU32]> = (0..blocks).map(|_| AtomicU32::new(FREE)).collect();
    let shared = (central, states);
    let (shared, outcome) = given.timed::<Native, _, _>(shared, |member, (central, states)| {
        let mut context = central.context();
        let mut rng = Rng::with_seed(member.index as u64);
        let (mut cache, mut used) = (Vec::with_capacity(PER_THREAD), Vec::with_capacity(USED));
        let mut part = Part::default();
        member.start()?;
        let mut gaps = Gaps::begin::<Native>();
        let operation = || {
            if used.len() < USED && (used.is_empty() || rng.bool()) {
                if cache.is_empty() {
                    central.with(&mut context, |central| central.fetch(&mut cache));
                    part.fetched += cache.len() as u64;
                }
                if let Some(block) = cache.pop() {
                    let former = states[block as usize].swap(TAKEN, Ordering::Relaxed);
                    part.double += u64::from(former != FREE);
                    used.push(block);
                }
            } else {
                let block = used.swap_remove(rng.usize(0..used.len()));
                states[block as usize].store(FREE, Ordering::Relaxed);
                cache.push(block);
                if cache.len() >= CACHED {
                    central.with(&mut context, |central| central.give_back(&mut cache));
                }
            }
        };
        member.repeat(operation, |()| gaps.done::<Native>());
        part.gap = gaps.end::<Native>();
        part.kept = (cache.len() + used.len()) as u64;
        Some(part)
    })?;
    let sum = |of: fn(&Part) -> u64| outcome.results.iter().map(of).sum::<u64>();
    let (fetched, returned, left) = shared.0.with(&mut shared.0.context(), |central| {
        (central.fetched, central.returned, central.len() as u64)
    });
    audit::balance("blocks fetched", fetched, sum(|part| part.fetched))?;
    audit::balance("blocks given out twice", 0, sum(|part| part.double))?;
    audit::balance("blocks", left + sum(|part| part.kept), blocks as u64)?;
    audit::balance("blocks out", fetched.wrapping_sub(returned), sum(|part| part.kept))?;
    let gaps = outcome.results.iter().map(|part| part.gap);
    Ok(gaps::with::<Native>(Sample::of_outcome(&outcome), gaps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_go_out_and_come_back_in_batches() {
        let mut central = Central::new(40);
        let mut cache = Vec::new();
        central.fetch(&mut cache);
        assert_eq!((cache.len(), central.len()), (16, 24));
        central.fetch(&mut cache);
        central.fetch(&mut cache);
        assert_eq!((cache.len(), central.len()), (40, 0));
        cache.sort_unstable();
        cache.dedup();
        assert_eq!(cache.len(), 40);
        central.give_back(&mut cache);
        assert_eq!((cache.len(), central.len()), (24, 16));
    }

    #[test]
    fn a_list_that_was_spoilt_has_a_length_all_the_same() {
        let mut central = Central::new(4);
        central.next[2] = 1;
        assert!(central.len() > 4);
    }
}
