//! A litmus test and its verdict, and the places where a heavy fence interrupts the other threads.
//!
//! A heavy fence is membarrier(2): a full barrier of the caller, then an interrupt of every other thread with a full
//! barrier in it, then another full barrier of the caller after all of them. An interrupt may come before or after
//! any access. So the test is checked once for each possible place of the interrupt in each other thread.
//!
//! Source: the comments of the Linux kernel's `kernel/sched/membarrier.c`, which name the pairs of its barriers.

use crate::candidates::executions;
use crate::event::{Forced, Program};
use crate::{Execution, Instr, Model};

/// One outcome of some threads.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// The threads. Each read has the value that it returned.
    pub threads: Vec<Vec<Instr>>,
    /// The initial values of locations, if not 0.
    pub initial: Vec<(usize, u64)>,
    /// The final values of locations, as far as the outcome specifies them.
    pub last: Vec<(usize, u64)>,
}

/// The verdict on an outcome.
#[derive(Debug)]
pub enum Verdict {
    /// It may happen, in this execution.
    Allowed(Execution),
    /// It may not happen: the model accepts none of this number of executions. If that is 0, the value of some read
    /// was never written, or the reads of one location contradict its coherence, in every model.
    Forbidden {
        /// The number of executions that were considered.
        considered: usize,
    },
}

impl Verdict {
    /// Returns whether the outcome may happen.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

impl Test {
    /// Decides whether the outcome may happen in the model.
    #[must_use]
    pub fn verdict(&self, model: Model) -> Verdict {
        let mut considered = 0;
        for (threads, forced) in placements(&self.threads) {
            let initial =
                |at| self.initial.iter().find(|(l, _)| *l == at).map_or(0, |(_, value)| *value);
            let program = Program::of(&threads, initial, &forced);
            for execution in executions(program, &self.last) {
                considered += 1;
                if model.accepts(&execution) {
                    return Verdict::Allowed(execution);
                }
            }
        }
        Verdict::Forbidden { considered }
    }
}

/// Threads without heavy fences, and the order between fences.
type Placed = (Vec<Vec<Instr>>, Vec<Forced>);

/// Returns the threads with every heavy fence in every place, and the order between fences.
fn placements(threads: &[Vec<Instr>]) -> Vec<Placed> {
    let mut done = Vec::new();
    let mut open = vec![(threads.to_vec(), Vec::new())];
    while let Some((threads, forced)) = open.pop() {
        let heavy = threads.iter().enumerate().find_map(|(number, thread)| {
            thread.iter().position(|i| *i == Instr::Heavy).map(|place| (number, place))
        });
        let Some((caller, place)) = heavy else {
            done.push((threads, forced));
            continue;
        };
        let mut begun = threads;
        let mut moved = forced;
        begun[caller][place] = Instr::FULL;
        insert(&mut begun, &mut moved, caller, place + 1);
        let mut all = vec![(begun, moved)];
        for other in (0..all[0].0.len()).filter(|other| *other != caller) {
            all = all
                .into_iter()
                .flat_map(|(threads, forced)| {
                    interrupted(&threads, &forced, (caller, place), other)
                })
                .collect();
        }
        open.extend(all);
    }
    done
}

/// Returns the thread `other` interrupted in each place where that makes a difference: before each access, and at the
/// end.
fn interrupted(
    threads: &[Vec<Instr>],
    forced: &[Forced],
    begin: (usize, usize),
    other: usize,
) -> Vec<Placed> {
    let instrs = &threads[other];
    let places = (0..=instrs.len()).filter(|at| instrs.get(*at).is_none_or(Instr::is_access));
    let end = (begin.0, begin.1 + 1);
    places
        .map(|at| {
            let (mut threads, mut forced) = (threads.to_vec(), forced.to_vec());
            insert(&mut threads, &mut forced, other, at);
            forced.extend([(begin, (other, at)), ((other, at), end)]);
            (threads, forced)
        })
        .collect()
}

/// Puts a full barrier into a thread.
fn insert(threads: &mut [Vec<Instr>], forced: &mut [Forced], thread: usize, place: usize) {
    threads[thread].insert(place, Instr::FULL);
    for (from, to) in forced {
        for at in [from, to] {
            at.1 += usize::from(at.0 == thread && at.1 >= place);
        }
    }
}
