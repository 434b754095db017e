//! Finds threads that wait for each other in a circle.
//!
//! A waiting thread needs all threads that it waits for to act: a writer waits for all readers. So
//! a circle of waits without deadlines is a deadlock, regardless of the other waits of its threads.
//! The thread that begins the last wait of the circle finds it, checks again some milliseconds
//! later, and reports the circle if it is there both times.

use std::alloc::System;
use std::hash::BuildHasherDefault;
use std::thread;
use std::time::Duration;

use crate::kinds::{Ends, Held, Hold};
use crate::memory::{Map, Vec};
use crate::report::{Report, ReportKind};
use crate::switch;
use crate::table::{self, Table, Wait};
use crate::tell::Found;

/// The time that a deadlock must last before it is reported. A reader that waits together with a
/// writer that has only just begun to wait may still acquire the lock first, and a thread that was
/// handed a lock enters its hold late.
const LASTS: Duration = Duration::from_millis(10);

/// A thread in a circle.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    thread: u64,
    /// The number of its wait.
    wait: u64,
    /// The hold that the previous thread waits for.
    hold: Option<Hold>,
}

impl Link {
    fn is(&self, other: &Self) -> bool {
        let hold = |link: &Self| link.hold.map(|hold| hold.number);
        (self.thread, self.wait, hold(self)) == (other.thread, other.wait, hold(other))
    }
}

fn is_same(one: &[Link], other: &[Link]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is(other))
}

impl Table {
    /// Returns the wait of a thread, if it has no deadline.
    fn endless(&self, thread: u64) -> Option<&Wait> {
        self.threads.get(&thread)?.wait.as_ref().filter(|wait| wait.ends == Ends::Never)
    }

    /// Returns the waiting threads for which a thread waits.
    fn waited_for(&self, thread: u64) -> Vec<Link> {
        let mut found = Vec::new_in(System);
        let Some(wait) = self.endless(thread) else { return found };
        let holders = self.holders(wait.lock.address);
        let is_read = holders.iter().any(|(_, hold)| hold.held == Held::Read);
        for (holder, hold) in holders {
            if wait.want.waits_for(hold.held)
                && let Some(next) = self.endless(holder)
            {
                found.push(Link { thread: holder, wait: next.number, hold: Some(hold) });
            }
        }
        if is_read && wait.want.waits_for_writers() {
            self.add_writers(wait.lock.address, &mut found);
        }
        // Sorted, because the table's iteration order varies.
        found.sort_unstable_by_key(|link| (link.hold.is_none(), link.wait));
        found
    }

    /// Adds the threads that wait to write, unless one of them has a deadline, since that one may
    /// be the writer that keeps readers out.
    fn add_writers(&self, address: usize, found: &mut Vec<Link>) {
        let before = found.len();
        for (writer, known) in &self.threads {
            let writes = |wait: &&Wait| wait.lock.address == address && wait.want.writes();
            if let Some(wait) = known.wait.as_ref().filter(writes) {
                if wait.ends == Ends::AtADeadline {
                    found.truncate(before);
                    return;
                }
                found.push(Link { thread: *writer, wait: wait.number, hold: None });
            }
        }
    }

    /// Returns the shortest circle of waits that a thread is in, beginning with that thread.
    pub(crate) fn circle(&self, thread: u64) -> Option<Vec<Link>> {
        let mut from: Map<u64, (u64, Link)> =
            Map::with_hasher_in(BuildHasherDefault::new(), System);
        let mut level = Vec::new_in(System);
        level.push(thread);
        while !level.is_empty() {
            let mut next = Vec::new_in(System);
            for it in level {
                for link in self.waited_for(it) {
                    if from.contains_key(&link.thread) {
                        continue;
                    }
                    from.insert(link.thread, (it, link));
                    if link.thread == thread {
                        return Some(path(&from, thread));
                    }
                    next.push(link.thread);
                }
            }
            level = next;
        }
        None
    }

    /// Returns the report of a circle, unless each of its threads is already in a reported one, and
    /// marks them as reported.
    pub(crate) fn report(&mut self, circle: &[Link]) -> Option<Found> {
        let mut is_new = false;
        let itself = circle.len() == 1;
        let kind = if itself { ReportKind::SelfDeadlock } else { ReportKind::Deadlock };
        let mut found = Found::new(kind);
        for link in circle {
            let wait = self.threads.get_mut(&link.thread)?.wait.as_mut()?;
            is_new |= !wait.is_told;
            wait.is_told = true;
            let wanted = (wait.lock, wait.want, &wait.stack);
            found.edge(wait.thread, link.hold.as_ref(), wanted);
        }
        is_new.then_some(found)
    }
}

/// Returns the path from a thread back to itself, in the order of waiting.
fn path(from: &Map<u64, (u64, Link)>, thread: u64) -> Vec<Link> {
    let mut path = Vec::new_in(System);
    let mut at = thread;
    loop {
        let (before, link) = from[&at];
        path.push(link);
        at = before;
        if at == thread {
            break;
        }
    }
    // The thread itself is first, then the thread that it waits for.
    path[1..].reverse();
    path
}

/// Returns a deadlock that the thread is in, if it lasts and was not reported before.
fn lasting(thread: u64) -> Option<Found> {
    let mut before = table::lock().circle(thread)?;
    loop {
        thread::sleep(LASTS);
        let mut table = table::lock();
        let now = table.circle(thread)?;
        if is_same(&before, &now) {
            return table.report(&now);
        }
        before = now;
    }
}

/// Reports the deadlock that the calling thread's wait causes. The wait is entered, and the thread
/// is about to begin it.
pub(crate) fn look(thread: u64) {
    if let Some(found) = lasting(thread) {
        found.tell();
    }
}

/// Returns the unreported deadlocks of all threads.
fn all() -> std::vec::Vec<Found> {
    let mut waiting = Vec::new_in(System);
    {
        let table = table::lock();
        let untold = |thread: &&u64| table.endless(**thread).is_some_and(|wait| !wait.is_told);
        waiting.extend(table.threads.keys().filter(untold).copied());
    }
    waiting.into_iter().filter_map(lasting).collect()
}

/// Called after a wait has ended at its deadline: another writer may keep the readers out now, and
/// be in a deadlock with them.
pub(crate) fn look_at_all() {
    for found in all() {
        found.tell();
    }
}

/// Returns the actual deadlocks that were not reported before.
///
/// A thread that causes a deadlock reports it itself; this function is for programs that want to
/// check explicitly. Takes some milliseconds if there is a deadlock. Finds nothing while detection
/// is off.
pub fn check() -> std::vec::Vec<Report> {
    let Some(_inside) = crate::thread::enter() else { return std::vec::Vec::new() };
    if !switch::is_on() {
        return std::vec::Vec::new();
    }
    all().iter().map(Found::report).collect()
}
