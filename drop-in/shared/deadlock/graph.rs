//! Which threads wait for each other in a circle.
//!
//! A thread that waits needs every thread to act that it waits for: a writer waits for all readers. So a
//! circle of waits is a deadlock, whatever else its threads wait for. A thread whose wait ends at a deadline
//! waits for no thread.

use std::collections::{HashMap, HashSet};
use std::thread::ThreadId;

use super::registry::{Table, Thread, Wait};
use super::{Ends, Held, Want};

/// Whether a thread that wants a lock in one way waits for a thread that holds it in another.
fn excludes(want: Want, held: Held) -> bool {
    match want {
        Want::Read | Want::Recursive => held == Held::Alone,
        Want::Upgradable => held != Held::Read,
        // Its own upgradable read is no hindrance, and there is no other one.
        Want::Upgrade => held == Held::Read,
        Want::Alone => true,
    }
}

/// The wait of a thread, if it does not end by itself.
fn endless(thread: &Thread) -> Option<&Wait> {
    thread.wait.as_ref().filter(|wait| wait.ends == Ends::Never)
}

impl Table {
    /// The threads for which a thread waits.
    fn waited_for(&self, id: ThreadId) -> Vec<ThreadId> {
        let Some(wait) = self.threads.get(&id).and_then(endless) else { return Vec::new() };
        let holds = |it: &Thread| {
            it.held.iter().any(|(key, held)| *key == wait.key && excludes(wait.want, *held))
        };
        let mut found: Vec<_> =
            self.threads.iter().filter(|(_, it)| holds(it)).map(|(id, _)| *id).collect();
        // A writer that waits for readers keeps new readers out.
        if matches!(wait.want, Want::Read | Want::Upgradable) {
            found.extend(self.waiting_writers(wait.key));
        }
        found
    }

    /// The threads that wait to write, unless one of them gives up by itself: then it may be the one that
    /// keeps readers out.
    fn waiting_writers(&self, key: usize) -> Vec<ThreadId> {
        let to_write =
            |wait: &Wait| wait.key == key && matches!(wait.want, Want::Alone | Want::Upgrade);
        let writers =
            || self.threads.iter().filter(|(_, it)| it.wait.as_ref().is_some_and(to_write));
        if writers().any(|(_, it)| endless(it).is_none()) {
            return Vec::new();
        }
        writers().map(|(id, _)| *id).collect()
    }

    /// The deadlocks: of each the threads, by the numbers of their waits.
    pub(super) fn deadlocks(&self) -> Vec<Vec<(ThreadId, u64)>> {
        let waiting: HashMap<_, _> =
            self.threads.iter().filter_map(|(id, it)| Some((*id, endless(it)?.number))).collect();
        let reached: HashMap<_, _> = waiting.keys().map(|id| (*id, self.reachable(*id))).collect();
        let mut taken = HashSet::new();
        let mut found = Vec::new();
        for id in waiting.keys() {
            if !reached[id].contains(id) || taken.contains(id) {
                continue;
            }
            // Two threads wait for each other if each is reached from the other.
            let together: Vec<_> = waiting
                .iter()
                .filter(|(other, _)| reached[id].contains(other) && reached[other].contains(id))
                .map(|(other, number)| (*other, *number))
                .collect();
            taken.extend(together.iter().map(|(other, _)| *other));
            found.push(together);
        }
        found
    }

    /// The threads for which a thread waits, directly or through others.
    fn reachable(&self, from: ThreadId) -> HashSet<ThreadId> {
        let mut found = HashSet::new();
        let mut next = self.waited_for(from);
        while let Some(id) = next.pop() {
            if found.insert(id) {
                next.extend(self.waited_for(id));
            }
        }
        found
    }
}
