//! A lock's trace of timelines that were computed: all of each is known, and no kernel was asked.

use ondeck_lab::results::trace::{LockTrace, WayTime};

use crate::Kept;
use crate::timeline::{Nanos, Timeline};

/// Idles and waits shorter than this are counted and not explained: about as long as a cache line is on its way between
/// two cores. Times are exact, so there is no reason to begin where a real machine's noise ends.
pub const LEAST: Nanos = 100;

/// What runs of a lock have found, with this number of the longest idles and of the longest waits. Each run comes with
/// its length; the others of its numbers, and those of the kernel, are the caller's.
pub fn explain(lock: &str, runs: Vec<(Timeline, Nanos)>, longest: usize) -> LockTrace {
    let mut found = LockTrace { lock: lock.to_owned(), ..LockTrace::default() };
    let mut kept = Kept::new((longest, longest), LEAST);
    for (run, (timeline, length)) in runs.into_iter().enumerate() {
        let began = found.nanos;
        found.runs += 1;
        found.nanos += length;
        found.pairs += timeline.threads.iter().map(|thread| thread.pairs.len() as u64).sum::<u64>();
        for thread in &timeline.threads {
            for time in WayTime::between(&thread.ways, 0, length) {
                match found.ways.iter_mut().find(|one| one.way == time.way) {
                    Some(one) => one.nanos += time.nanos,
                    None => found.ways.push(time),
                }
            }
        }
        kept.add(&mut found, timeline, run, began);
    }
    found.ways.sort_by_key(|time| std::cmp::Reverse(time.nanos));
    kept.draw(&mut found);
    found
}
