//! The locks that each thread holds and waits for, in a table under one lock.
//!
//! A hold is entered after the thread acquired the lock, and removed before the thread unlocks it.
//! A wait is entered before the thread waits, and becomes a hold in one step. So a hold in the
//! table is true, and a wait may only be outdated: in a circle of waits, each for a lock that the
//! next thread holds, no wait has ended.
//!
//! A hold is false only if its lock was freed: a guard was forgotten, and another lock occupies the
//! memory. Holds are numbered in the order of acquisition, and a later hold that excludes an
//! earlier one reveals this: see [`Table::holders`].
//!
//! The table's own lock is the standard library's.

use std::alloc::System;
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::kinds::{Ends, Held, Hold, Lock, Want};
use crate::memory::{Map, Set, Vec};
use crate::order::Order;
use crate::stack::Stack;
use crate::thread::Thread;

/// A thread's wait for a lock.
pub(crate) struct Wait {
    pub(crate) lock: Lock,
    pub(crate) want: Want,
    pub(crate) ends: Ends,
    /// Unique among waits.
    pub(crate) number: u64,
    pub(crate) is_told: bool,
    pub(crate) stack: Stack,
    pub(crate) thread: Thread,
}

/// The locks and the wait of a thread.
pub(crate) struct Known {
    pub(crate) held: Vec<Hold>,
    pub(crate) wait: Option<Wait>,
}

impl Known {
    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.wait.is_none()
    }
}

/// The locks and waits of all threads, and the order in which they acquired locks.
pub(crate) struct Table {
    pub(crate) threads: Map<u64, Known>,
    pub(crate) order: Order,
    /// Digests of the reports that were made, computed from the stacks in them.
    pub(crate) told: Set<u64>,
    /// Addresses of ignored locks.
    pub(crate) ignored: Set<usize>,
    last: u64,
    /// When the table has this number of threads, those without information are forgotten.
    most: usize,
}

/// A thread that holds more at once has forgotten guards: the oldest holds are dropped.
const MOST_HELD: usize = 512;
/// Ended threads are forgotten when there are this many.
const FEW_THREADS: usize = 64;

static TABLE: Mutex<Table> = Mutex::new(Table::new());

/// Locks the table. Nothing may use the program's allocator while it is locked: another thread may
/// hold that allocator's lock and wait for the table.
pub(crate) fn lock() -> MutexGuard<'static, Table> {
    // A panic never leaves the table half changed.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    pub(crate) const fn new() -> Self {
        Self {
            threads: Map::with_hasher_in(BuildHasherDefault::new(), System),
            order: Order::new(),
            told: Set::with_hasher_in(BuildHasherDefault::new(), System),
            ignored: Set::with_hasher_in(BuildHasherDefault::new(), System),
            last: 0,
            most: FEW_THREADS,
        }
    }

    /// Returns a number greater than all previous ones.
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The locks and the wait of a thread.
    pub(crate) fn known(&mut self, thread: u64) -> &mut Known {
        if self.threads.len() >= self.most {
            self.threads.retain(|_, known| !known.is_empty());
            self.most = FEW_THREADS.max(2 * self.threads.len());
        }
        let new = || Known { held: Vec::new_in(System), wait: None };
        self.threads.entry(thread).or_insert_with(new)
    }

    /// Records that the thread holds the lock.
    pub(crate) fn holds(&mut self, thread: u64, lock: Lock, held: Held, stack: &Stack) {
        let number = self.next();
        let known = self.known(thread);
        // A hold that the new one excludes belonged to another lock at that address.
        known.held.retain(|hold| hold.lock.address != lock.address || hold.held.goes_with(held));
        if known.held.len() == MOST_HELD {
            known.held.remove(0);
        }
        known.held.push(Hold { lock, held, number, stack: *stack });
    }

    /// Removes the thread's hold of the lock. If the thread has none, it was given the guard of
    /// another thread, whose hold is removed.
    pub(crate) fn gives_up(&mut self, thread: u64, lock: Lock, held: Held) {
        let newest = |known: &Known| {
            let is_it = |hold: &Hold| hold.lock.address == lock.address && hold.held == held;
            known.held.iter().rposition(is_it)
        };
        let own = self.threads.get_mut(&thread).and_then(|known| Some((newest(known)?, known)));
        let found = own.map(|(place, known)| _ = known.held.remove(place));
        if found.is_none() {
            let mut all = self.threads.values_mut();
            if let Some((place, known)) = all.find_map(|known| Some((newest(known)?, known))) {
                known.held.remove(place);
            }
        }
    }

    /// Returns the threads that hold the lock, and how. If two holds exclude each other, the later
    /// one is true.
    pub(crate) fn holders(&self, address: usize) -> Vec<(u64, Hold)> {
        let mut found = Vec::new_in(System);
        for (thread, known) in &self.threads {
            let of_lock = known.held.iter().filter(|hold| hold.lock.address == address);
            found.extend(of_lock.map(|hold| (*thread, *hold)));
        }
        let is_true = |hold: &Hold| {
            !found.iter().any(|(_, it)| it.number > hold.number && !it.held.goes_with(hold.held))
        };
        let mut holders = Vec::new_in(System);
        holders.extend(found.iter().filter(|(_, hold)| is_true(hold)).copied());
        holders
    }

    /// Forgets the lock: the next lock at its address is another one.
    pub(crate) fn forget(&mut self, address: usize) {
        for known in self.threads.values_mut() {
            known.held.retain(|hold| hold.lock.address != address);
        }
        self.order.forget(address);
        self.ignored.remove(&address);
    }

    /// Returns whether a report with this digest is the first one.
    pub(crate) fn is_new(&mut self, digest: u64) -> bool {
        self.told.insert(digest)
    }

    /// Forgets everything except the ignored locks.
    pub(crate) fn clear(&mut self) {
        self.threads.clear();
        self.told.clear();
        self.order.clear();
    }

    /// Forgets all other threads.
    pub(crate) fn keep_only(&mut self, thread: u64) {
        self.threads.retain(|number, _| *number == thread);
    }
}
