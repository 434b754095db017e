//! The order in which threads acquire locks.
//!
//! There is an edge from one lock to another if a thread held the first and then wanted the second,
//! without a deadline. If the edges form a circle, threads may wait for each other forever, in this
//! run or in another: a lock-order inversion. It is found when the last edge of the circle is
//! added, before that thread waits.
//!
//! An edge keeps up to four observations, which differ in how the lock was wanted and in which
//! locks the thread held. A circle counts if its edges have observations such that
//!
//! * at each lock, the thread that wants it may have to wait for the thread that holds it (readers
//!   wait for readers only if a writer may wait in between, and recursive readers never);
//! * no two of the threads held one lock in ways that exclude each other, because they could not
//!   have been there at the same time. Such a lock is a gate.
//!
//! Sources: lockdep of the Linux kernel (Ingo Molnar, Peter Zijlstra; readers by Boqun Feng);
//! Abseil's `GraphCycles`; gates: Klaus Havelund, "Using Runtime Analysis to Guide Model Checking
//! of Java Programs".

use std::alloc::System;
use std::hash::BuildHasherDefault;

use crate::kinds::{Held, Hold, Lock, Want};
use crate::memory::{Map, Set, Vec};
use crate::stack::Stack;
use crate::thread::Thread;

/// Before one more, all edges are forgotten: most may be of locks that are gone. This number takes
/// 30 MB.
const MOST_EDGES: usize = 32_768;
const MOST_SEEN: usize = 4;
/// A search for a circle ends without a result after this number of steps.
const MOST_STEPS: usize = 20_000;
/// The longest circle that is searched for.
const LONGEST: usize = 16;

/// An observation: a thread held `from` and wanted `to`.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) from: Hold,
    pub(crate) to: Lock,
    pub(crate) want: Want,
    pub(crate) wanted_at: Stack,
    pub(crate) thread: Thread,
    /// All locks that the thread held.
    held: Vec<(usize, Held)>,
}

impl Seen {
    /// Returns whether a thread that wants the same lock in this way, and holds all of `held`, adds
    /// no information.
    fn covers(&self, want: Want, held: &[(usize, Held)]) -> bool {
        self.want == want && self.held.iter().all(|it| held.contains(it))
    }

    /// Returns whether the threads of the two observations could not have been there at the same
    /// time.
    fn excludes(&self, other: &Self) -> bool {
        let excluded = |(address, held): &(usize, Held)| {
            other.held.iter().any(|(it, as_it)| it == address && !held.goes_with(*as_it))
        };
        self.held.iter().any(excluded)
    }
}

/// The edges.
pub(crate) struct Order {
    edges: Map<(usize, usize), Vec<Seen>>,
    after: Map<usize, Vec<usize>>,
    before: Map<usize, Vec<usize>>,
}

impl Order {
    pub(crate) const fn new() -> Self {
        Self {
            edges: Map::with_hasher_in(BuildHasherDefault::new(), System),
            after: Map::with_hasher_in(BuildHasherDefault::new(), System),
            before: Map::with_hasher_in(BuildHasherDefault::new(), System),
        }
    }

    /// Records that `thread`, which holds all of `held`, among them the one at `place`, wants a
    /// lock. Returns the circle that this closes, if it is new; the new observation is its first
    /// edge.
    pub(crate) fn learn(
        &mut self,
        held: &[Hold],
        place: usize,
        (to, want, wanted_at): (Lock, Want, &Stack),
        thread: impl FnOnce() -> Thread,
    ) -> Option<Vec<Seen>> {
        let from = &held[place];
        let mut all = Vec::new_in(System);
        all.extend(held.iter().map(|hold| (hold.lock.address, hold.held)));
        let edge = (from.lock.address, to.address);
        let known = self.edges.get(&edge).map_or(&[][..], |seen| &seen[..]);
        let is_known = known.iter().any(|seen| seen.covers(want, &all));
        if is_known || known.len() == MOST_SEEN {
            return None;
        }
        if known.is_empty() && self.edges.len() >= MOST_EDGES {
            self.clear();
        }
        let thread = thread();
        let seen = Seen { from: *from, to, want, wanted_at: *wanted_at, thread, held: all };
        let circle = self.circle(&seen);
        self.add(edge, seen);
        circle
    }

    fn add(&mut self, (from, to): (usize, usize), seen: Seen) {
        let new = || Vec::with_capacity_in(1, System);
        let edge = self.edges.entry((from, to)).or_insert_with(new);
        edge.push(seen);
        if edge.len() == 1 {
            self.after.entry(from).or_insert_with(new_list).push(to);
            self.before.entry(to).or_insert_with(new_list).push(from);
        }
    }

    /// Returns a circle that the observation closes, with the observation first.
    fn circle(&self, first: &Seen) -> Option<Vec<Seen>> {
        let (start, end) = (first.to.address, first.from.lock.address);
        if !self.leads(start, end) {
            return None;
        }
        let mut path = Vec::new_in(System);
        path.push(first);
        let mut steps = 0;
        self.extend(&mut path, end, &mut steps).then(|| {
            let mut circle = Vec::new_in(System);
            circle.extend(path.iter().map(|seen| (*seen).clone()));
            circle
        })
    }

    /// Returns whether there is a path of edges, regardless of their observations.
    fn leads(&self, start: usize, end: usize) -> bool {
        let mut found: Set<usize> = Set::with_hasher_in(BuildHasherDefault::new(), System);
        let mut next = new_list();
        next.push(start);
        while let Some(lock) = next.pop() {
            if lock == end {
                return true;
            }
            if found.insert(lock) {
                next.extend(self.after.get(&lock).into_iter().flatten().copied());
            }
        }
        false
    }

    /// Extends the path to `end` by observations that are compatible; restores the path if there
    /// are none.
    fn extend<'a>(&'a self, path: &mut Vec<&'a Seen>, end: usize, steps: &mut usize) -> bool {
        let Some(last) = path.last() else { return false };
        let (at, want) = (last.to.address, last.want);
        if at == end {
            return want.may_wait_for(path[0].from.held);
        }
        if path.len() == LONGEST {
            return false;
        }
        for to in self.after.get(&at).into_iter().flatten() {
            if *to != end && path.iter().any(|seen| seen.to.address == *to) {
                continue;
            }
            for seen in self.edges.get(&(at, *to)).into_iter().flatten() {
                *steps += 1;
                if *steps > MOST_STEPS {
                    return false;
                }
                let goes_on = want.may_wait_for(seen.from.held)
                    && !path.iter().any(|before| before.excludes(seen));
                if goes_on {
                    path.push(seen);
                    if self.extend(path, end, steps) {
                        return true;
                    }
                    path.pop();
                }
            }
        }
        false
    }

    /// Forgets a lock.
    pub(crate) fn forget(&mut self, address: usize) {
        for to in self.after.remove(&address).into_iter().flatten() {
            self.edges.remove(&(address, to));
            remove(&mut self.before, to, address);
        }
        for from in self.before.remove(&address).into_iter().flatten() {
            self.edges.remove(&(from, address));
            remove(&mut self.after, from, address);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.edges.clear();
        self.after.clear();
        self.before.clear();
    }
}

fn new_list() -> Vec<usize> {
    Vec::new_in(System)
}

/// Removes `address` from the list of a lock.
fn remove(lists: &mut Map<usize, Vec<usize>>, of: usize, address: usize) {
    if let Some(list) = lists.get_mut(&of) {
        list.retain(|it| *it != address);
        if list.is_empty() {
            lists.remove(&of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::LockKind;

    #[test]
    fn nothing_is_kept_of_a_lock_that_is_forgotten() {
        let lock = |address| Lock { address, kind: LockKind::Mutex, name: c"" };
        let hold = |address| {
            let stack = Stack::of_caller();
            Hold { lock: lock(address), held: Held::Alone, number: 0, stack }
        };
        let mut order = Order::new();
        for (from, to) in [(1, 2), (2, 3), (2, 4), (4, 2)] {
            _ = order.learn(&[hold(from)], 0, (lock(to), Want::Alone, &Stack::of_caller()), || {
                Thread::current(None)
            });
        }
        assert_eq!(order.edges.len(), 4);
        order.forget(2);
        assert_eq!([order.after.len(), order.before.len(), order.edges.len()], [0; 3]);
    }
}
