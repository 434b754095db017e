//! A recording in the form that simulated threads replay.

use std::collections::BTreeSet;

use crate::long::{cut_if_long, passage_of, rare};
use crate::recording::{Action, Burst, Long, Operation, Recording, Thread};

/// Threads that hold locks for a smaller part of the time of the thread that holds them longest are left out, if they
/// also acquire so few: they only set up and wait for others. A thread that locks rarely and holds long is kept.
const LEAST: f64 = 0.02;
/// The most parts of a recording.
const PARTS: usize = 4;
/// The bursts of each thread that a part needs.
const BURSTS: usize = 4;

/// Shortens the work of a function's sections to this part of the recorded time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shorter {
    /// The function, in [`Recording::sites`].
    pub site: usize,
    /// The remaining part.
    pub factor: f64,
}

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

/// A burst.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Acquisitions that it stands for.
    pub weight: u64,
    /// How often it is drawn: the weight, divided by the acquisitions of a drawing.
    pub draw: f64,
    /// Whether it is a long section, by its count.
    pub is_long: bool,
    /// Its steps.
    pub steps: Vec<Step>,
    /// Indices of steps before which the thread holds no lock.
    pub entries: Vec<usize>,
}

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Works, in nanoseconds.
    Work(f64),
    /// Sleeps, in nanoseconds.
    Sleep(f64),
    /// Yields its CPU for so many nanoseconds.
    Yield(f64),
    /// Locks.
    Lock(usize),
    /// Unlocks.
    Unlock(usize),
    /// Locks a reader-writer lock to read.
    Read(usize),
    /// Ends a read.
    EndRead(usize),
    /// Locks a reader-writer lock to write.
    Write(usize),
    /// Ends a write.
    EndWrite(usize),
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

/// Calls this for each operation of a thread, with how often it happened for each that was recorded, and the call site
/// of each held lock.
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

/// A lock that a thread holds, and its call site.
struct Held {
    lock: usize,
    site: Option<usize>,
    /// The first step with the lock.
    begun: usize,
    take: Step,
    release: Step,
    /// The number of nested locks.
    again: usize,
}

/// Converts a burst so that it unlocks every lock that it locks, and nothing else.
///
/// Without the work of long sections of these kinds.
fn passage(burst: &Burst, weight: u64, shorter: &[Shorter], rare: &[Long]) -> Passage {
    let mut held: Vec<Held> = Vec::new();
    let mut steps = Vec::new();
    let mut entries = Vec::new();
    for operation in &burst.operations {
        if held.is_empty() {
            entries.push(steps.len());
        }
        let factor =
            |it: &Shorter| held.iter().any(|held| held.site == Some(it.site)).then_some(it.factor);
        let work = operation.work * shorter.iter().filter_map(factor).product::<f64>();
        if work > 0.0 {
            steps.push(Step::Work(work));
        }
        let lock = operation.lock.unwrap_or_default();
        let place = held.iter().position(|held| held.lock == lock);
        let (take, release) = match operation.action {
            Action::Lock => (Step::Lock(lock), Step::Unlock(lock)),
            Action::Read => (Step::Read(lock), Step::EndRead(lock)),
            Action::Write => (Step::Write(lock), Step::EndWrite(lock)),
            Action::Unlock => {
                match place {
                    Some(place) if held[place].again == 0 => {
                        let Held { begun, site, release, .. } = held.remove(place);
                        let is_its = |it: &Long| (it.lock, it.site) == (lock, site);
                        if held.is_empty() && rare.iter().any(is_its) {
                            cut_if_long(&mut steps[begun..]);
                        }
                        steps.push(release);
                    }
                    Some(place) => held[place].again -= 1,
                    // It was locked before the burst began.
                    None => {}
                }
                continue;
            }
            Action::Wait => {
                let sleep = Step::Sleep(operation.took);
                // A wait gives up what the thread holds, even if a file says that this is a read.
                match place {
                    Some(place) => steps.extend([held[place].release, sleep, held[place].take]),
                    None => steps.push(sleep),
                }
                continue;
            }
            Action::Blocked => {
                steps.push(Step::Sleep(operation.took));
                continue;
            }
            Action::Yield => {
                steps.push(Step::Yield(operation.took));
                continue;
            }
            Action::Notify => continue,
        };
        if let Some(place) = place {
            held[place].again += 1;
        } else {
            steps.push(take);
            let begun = steps.len();
            held.push(Held { lock, site: operation.site, begun, take, release, again: 0 });
        }
    }
    steps.extend(held.into_iter().rev().map(|held| held.release));
    // An entry needs a remaining acquisition.
    let takes = |step: &Step| matches!(step, Step::Lock(_) | Step::Read(_) | Step::Write(_));
    let last = steps.iter().rposition(takes);
    entries.retain(|&entry| last.is_some_and(|last| entry <= last));
    let of = |&entry: &usize| steps[entry..].iter().filter(|step| takes(step)).count();
    let acquired =
        entries.iter().map(of).sum::<usize>().max(1) as f64 / entries.len().max(1) as f64;
    Passage { weight, draw: weight as f64 / acquired, is_long: false, steps, entries }
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
    fn what_a_burst_does_not_begin_or_end_is_made_whole() {
        use Action::{Lock, Unlock, Wait};
        let cut = burst(vec![
            op(Unlock, 1.0, 0, 0),
            op(Lock, 2.0, 1, 0),
            op(Lock, 3.0, 1, 0),
            op(Unlock, 4.0, 1, 0),
            op(Wait, 5.0, 1, 0),
            op(Lock, 6.0, 2, 1),
        ]);
        let passage = passage(&cut, 9, &[Shorter { site: 0, factor: 0.5 }], &[]);
        let expected = [
            Step::Work(1.0),
            Step::Work(2.0),
            Step::Lock(1),
            Step::Work(1.5),
            Step::Work(2.0),
            Step::Work(2.5),
            Step::Unlock(1),
            Step::Sleep(7.0),
            Step::Lock(1),
            Step::Work(3.0),
            Step::Lock(2),
            Step::Unlock(2),
            Step::Unlock(1),
        ];
        assert_eq!(passage.steps, expected);
        assert_eq!(passage.entries, [0, 1]);
    }

    /// No recorder writes this, but a file may have it: an unlock of a mutex that no thread holds would follow.
    #[test]
    fn a_wait_gives_up_a_read_as_a_read() {
        use Action::{Read, Wait};
        let waits = burst(vec![op(Read, 0.0, 1, 0), op(Wait, 0.0, 1, 0)]);
        let passage = passage(&waits, 9, &[], &[]);
        let (take, release) = (Step::Read(1), Step::EndRead(1));
        assert_eq!(passage.steps, [take, release, Step::Sleep(7.0), take, release]);
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
