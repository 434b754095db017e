//! Steps of simulated threads, from the operations of a burst.

use crate::LONG;
use crate::recording::{Action, Burst, Long};

/// Shortens the work of a function's sections to this part of the recorded time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shorter {
    /// The function, in [`Recording::sites`](crate::Recording::sites).
    pub site: usize,
    /// The remaining part.
    pub factor: f64,
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
pub fn passage(burst: &Burst, weight: u64, shorter: &[Shorter], rare: &[Long]) -> Passage {
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

/// Removes the work of a section, if it was long.
fn cut_if_long(steps: &mut [Step]) {
    let time = |step: &Step| match step {
        Step::Work(nanos) | Step::Sleep(nanos) => *nanos,
        _ => 0.0,
    };
    if steps.iter().map(time).sum::<f64>() > LONG {
        for step in steps {
            if let Step::Work(nanos) | Step::Sleep(nanos) = step {
                *nanos = 0.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Operation;

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

    /// No recorder writes this, but a file may have it: an unlock of a mutex that no thread holds
    /// would follow.
    #[test]
    fn a_wait_gives_up_a_read_as_a_read() {
        use Action::{Read, Wait};
        let waits = burst(vec![op(Read, 0.0, 1, 0), op(Wait, 0.0, 1, 0)]);
        let passage = passage(&waits, 9, &[], &[]);
        let (take, release) = (Step::Read(1), Step::EndRead(1));
        assert_eq!(passage.steps, [take, release, Step::Sleep(7.0), take, release]);
    }
}
