//! A recording in the form that simulated threads replay.

use std::collections::BTreeSet;

use crate::long::{passage_of, rare};
use crate::passage::{Passage, Shorter, passage};
use crate::recording::{Action, Burst, Operation, Recording, Thread};

/// Threads that hold locks for a smaller part of the time of the thread that holds them longest are
/// left out, if they also acquire so few: they only set up and wait for others. A thread that locks
/// rarely and holds long is kept.
const LEAST: f64 = 0.02;
/// The most parts of a recording.
const PARTS: usize = 4;
/// The bursts of each thread that a part needs.
const BURSTS: usize = 4;

/// The input of simulated threads.
#[derive(Clone, Debug)]
pub struct Script {
    /// The number of recorded threads that are replayed.
    pub threads: usize,
    /// Acquisitions of these threads.
    pub acquisitions: u64,
    /// The threads of [`Recording::threads`] that are left out.
    pub left_out: Vec<usize>,
    /// The locks of [`Recording::locks`].
    pub locks: Vec<Sharing>,
    /// The parts, which are simulated one by one.
    pub parts: Vec<Part>,
}

/// Which threads use a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// No replayed thread.
    Unused,
    /// Each simulated thread has a private one.
    Own,
    /// All threads.
    Shared,
}

/// A part of the recording.
#[derive(Clone, Debug)]
pub struct Part {
    /// Acquisitions in it.
    pub acquisitions: u64,
    /// The bursts of each recorded thread; empty if it did not run in this part.
    pub threads: Vec<Vec<Passage>>,
}

impl Script {
    /// Makes the script of a checked recording, with sections shortened.
    pub fn new(recording: &Recording, shorter: &[Shorter]) -> Self {
        let held: Vec<f64> = recording.threads.iter().map(held).collect();
        let longest = held.iter().copied().fold(0.0, f64::max);
        let counts = recording.threads.iter().map(|thread| thread.acquisitions);
        let most = counts.max().unwrap_or(0);
        let locks = |thread: &Thread| {
            thread.bursts.iter().any(|it| it.operations.iter().any(Operation::acquires))
        };
        let (kept, left_out): (Vec<usize>, Vec<usize>) =
            (0..held.len()).filter(|&it| locks(&recording.threads[it])).partition(|&it| {
                held[it] >= LEAST * longest.max(1.0)
                    || recording.threads[it].acquisitions as f64 >= LEAST * most as f64
            });
        let threads: Vec<&Thread> = kept.iter().map(|&it| &recording.threads[it]).collect();
        Self {
            threads: threads.len(),
            acquisitions: threads.iter().map(|thread| thread.acquisitions).sum(),
            left_out,
            locks: sharing(recording.locks.len(), &threads),
            parts: parts(&threads, shorter),
        }
    }
}

/// Calls this for each operation of a thread, with how often it happened for each that was
/// recorded, and the call site of each held lock.
fn each(thread: &Thread, mut of: impl FnMut(&Operation, f64, &[(usize, Option<usize>)])) {
    for (index, burst) in thread.bursts.iter().enumerate() {
        let acquired = burst.operations.iter().filter(|it| it.acquires()).count();
        let times = weight(thread, index) as f64 / acquired.max(1) as f64;
        let mut held = Vec::new();
        for operation in &burst.operations {
            of(operation, times, &held);
            match (operation.lock, operation.action) {
                (Some(lock), Action::Unlock) => {
                    if let Some(place) = held.iter().rposition(|(its, _)| *its == lock) {
                        held.remove(place);
                    }
                }
                (Some(lock), _) if operation.acquires() => held.push((lock, operation.site)),
                _ => {}
            }
        }
    }
}

/// The nanoseconds for which the thread works while it holds a lock.
fn held(thread: &Thread) -> f64 {
    let mut all = rare(thread).iter().map(|long| long.work + long.blocked).sum();
    each(thread, |operation, times, held| {
        let slept = if operation.action == Action::Blocked { operation.took } else { 0.0 };
        if !held.is_empty() {
            all += times * (operation.work + slept);
        }
    });
    all
}

/// The acquisitions that a burst stands for.
fn weight(thread: &Thread, index: usize) -> u64 {
    let from = if index == 0 { 0 } else { thread.bursts[index].first };
    let to = thread.bursts.get(index + 1).map_or(thread.acquisitions, |next| next.first);
    to.saturating_sub(from).max(1)
}

/// The call site whose sections of that lock take the most time of all threads.
pub fn longest_site(recording: &Recording, lock: usize) -> Option<usize> {
    let mut work = vec![0.0; recording.sites.len()];
    for thread in &recording.threads {
        for long in rare(thread).iter().filter(|long| long.lock == lock) {
            if let Some(site) = long.site {
                work[site] += long.work;
            }
        }
        each(thread, |operation, times, held| {
            let site = held.iter().find(|(its, _)| *its == lock).and_then(|(_, site)| *site);
            if let Some(site) = site {
                work[site] += times * operation.work;
            }
        });
    }
    (0..work.len()).filter(|&site| work[site] > 0.0).max_by(|&a, &b| work[a].total_cmp(&work[b]))
}

fn sharing(locks: usize, threads: &[&Thread]) -> Vec<Sharing> {
    let mut users = vec![BTreeSet::new(); locks];
    for (index, thread) in threads.iter().enumerate() {
        for long in &thread.long {
            users[long.lock].insert(index);
        }
        for operation in thread.bursts.iter().flat_map(|burst| &burst.operations) {
            if let (Some(lock), true) = (operation.lock, operation.acquires()) {
                users[lock].insert(index);
            }
        }
    }
    let of = |users: &BTreeSet<usize>| match users.len() {
        0 => Sharing::Unused,
        1 if threads.len() > 1 => Sharing::Own,
        _ => Sharing::Shared,
    };
    users.iter().map(of).collect()
}

/// Divides by time. A thread without a burst in a part does not take part in it.
fn parts(threads: &[&Thread], shorter: &[Shorter]) -> Vec<Part> {
    let least = threads.iter().map(|thread| thread.bursts.len()).min().unwrap_or(0);
    let count = (least / BURSTS).clamp(1, PARTS);
    let begins = || threads.iter().flat_map(|thread| &thread.bursts).map(|burst| burst.begun);
    let (from, to) = (begins().fold(f64::MAX, f64::min), begins().fold(0.0, f64::max));
    let part_of = |burst: &Burst| {
        let place = (burst.begun - from) / (to - from).max(1e-9) * count as f64;
        (place as usize).min(count - 1)
    };
    let part = |number: usize| {
        let passages: Vec<Vec<Passage>> = threads
            .iter()
            .map(|thread| {
                let bursts = thread.bursts.iter().enumerate();
                let rare = rare(thread);
                let mut passages: Vec<Passage> = bursts
                    .filter(|(_, burst)| part_of(burst) == number)
                    .map(|(index, burst)| passage(burst, weight(thread, index), shorter, &rare))
                    .filter(|passage| !passage.entries.is_empty())
                    .collect();
                let acquisitions = passages.iter().map(|it| it.weight).sum::<u64>() as f64;
                let share = acquisitions / thread.acquisitions.max(1) as f64;
                if share > 0.0 {
                    let of = |long| passage_of(long, acquisitions, share, shorter);
                    passages.extend(rare.iter().map(of));
                }
                passages
            })
            .collect();
        let weights = passages.iter().flatten().map(|passage| passage.weight);
        Part { acquisitions: weights.sum(), threads: passages }
    };
    (0..count).map(part).filter(|part| part.acquisitions != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Sharing::{Own, Shared, Unused};

    fn op(action: Action, work: f64, lock: usize, site: usize) -> Operation {
        Operation { action, work, took: 7.0, lock: Some(lock), site: Some(site) }
    }

    fn burst(operations: Vec<Operation>) -> Burst {
        Burst { first: 0, begun: 0.0, operations }
    }

    #[test]
    fn locks_of_one_thread_are_its_own_and_idle_threads_are_left_out() {
        let pairs = |lock, count: usize| {
            let pair = [op(Action::Lock, 1.0, lock, 0), op(Action::Unlock, 1.0, lock, 0)];
            burst(pair.into_iter().cycle().take(2 * count).collect())
        };
        let thread = |acquisitions, bursts| Thread { acquisitions, bursts, long: Vec::new() };
        let mut recording = Recording::new(String::new(), 1.0);
        recording.locks = ["a", "b", "c", "d"]
            .map(|name| crate::Lock { name: name.into(), at: String::new() })
            .into();
        recording.threads = vec![
            thread(1_000, vec![pairs(0, 3), pairs(1, 3)]),
            thread(2_000, vec![pairs(0, 3), pairs(2, 3)]),
            thread(3, vec![pairs(3, 3)]),
        ];
        let script = Script::new(&recording, &[]);
        assert_eq!(script.threads, 2);
        assert_eq!((script.left_out, script.acquisitions), (vec![2], 3_000));
        assert_eq!(script.locks, [Shared, Own, Own, Unused]);
        recording.threads.truncate(1);
        assert_eq!(Script::new(&recording, &[]).locks, [Shared, Shared, Unused, Unused]);
    }

    #[test]
    fn phases_are_parts_with_the_acquisitions_that_they_stand_for() {
        let at = |begun, first| Burst { first, begun, ..burst(vec![op(Action::Lock, 1.0, 0, 0)]) };
        let bursts = (0..8).map(|number| at(f64::from(number), 100 * number as u64)).collect();
        let mut recording = Recording::new(String::new(), 8.0);
        recording.locks.push(crate::Lock { name: String::new(), at: String::new() });
        recording.threads.push(Thread { acquisitions: 5_000, bursts, long: Vec::new() });
        let script = Script::new(&recording, &[]);
        let counts: Vec<u64> = script.parts.iter().map(|part| part.acquisitions).collect();
        assert_eq!(counts, [400, 4_600]);
    }
}
