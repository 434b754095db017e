//! Misuse that a debug build reports: a thread waits for a lock that it holds alone, or unlocks one
//! that is free; the closure of a [`Once`](crate::Once) waits for the same `Once`. And whether a
//! thread holds a lock alone, for [`IsHeld`](crate::IsHeld).
//!
//! Dropping a locked mutex is not misuse: safe code may forget a guard, and the mutex then stays
//! locked.
//!
//! One byte has no room for an owner, so a table of the process has the locks that are held, each
//! with its thread. A thread enters a lock that it has acquired in the row of the lock's address;
//! if the row is full, the lock is not checked. An unlock on another thread than the owner's
//! removes the lock too.
//!
//! A lock whose guard was forgotten stays in the table, also when it is gone: no destructor reports
//! its end, because a const function could not drop a lock that has a destructor. The next thread
//! that acquires a lock at its address takes the place over. So a wrong report takes a thread that
//! forgot a guard, and later waits for another lock at the same address while that lock's owner has
//! acquired it and has not entered it yet.

extern crate std;

use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::{Access, Guards, Kind, Observed, Observer};

/// A place in the table.
struct Held {
    /// The name of the lock; 0 if the place is free.
    name: AtomicUsize,
    /// The thread that holds it; 0 until that has entered itself.
    thread: AtomicUsize,
}

const ROWS: usize = 64;

static HELD: [[Held; 8]; ROWS] =
    [const { [const { Held { name: AtomicUsize::new(0), thread: AtomicUsize::new(0) } }; 8] };
        ROWS];

/// Names the calling thread.
fn this_thread() -> usize {
    std::thread_local! {
        /// Constant and without a destructor, so that locks work in destructors of other values.
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| ptr::from_ref(place).addr())
}

fn row(name: usize) -> &'static [Held; 8] {
    // Names of locks in arrays of structures differ in few bits.
    &HELD[(name.wrapping_mul(0x9E37_79B1) >> 16) % ROWS]
}

fn find(name: usize) -> Option<&'static Held> {
    // Acquire: with a new name in it, a place no longer has the thread of an earlier lock.
    row(name).iter().find(|held| held.name.load(Ordering::Acquire) == name)
}

/// Returns whether the calling thread holds the lock alone; `None` if the lock is not in the table.
pub(super) fn is_held_here(name: usize) -> Option<bool> {
    find(name).map(|held| held.thread.load(Ordering::Relaxed) == this_thread())
}

fn what<L: Observed>() -> &'static str {
    if L::KIND == Kind::RwLock { "reader-writer lock" } else { "mutex" }
}

/// Returns whether a thread that has this access has the lock alone.
fn is_alone(access: Access) -> bool {
    matches!(access, Access::Alone | Access::Upgrade)
}

fn enter(name: usize) {
    let enters = |held: &&Held| {
        // Acquire and release: see `find`.
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        held.name.compare_exchange(0, name, success, failure).is_ok()
    };
    if let Some(held) = find(name).or_else(|| row(name).iter().find(enters)) {
        held.thread.store(this_thread(), Ordering::Relaxed);
    }
}

fn leave(name: usize) {
    if let Some(held) = find(name) {
        held.thread.store(0, Ordering::Relaxed);
        // Release: see `find`.
        held.name.store(0, Ordering::Release);
    }
}

#[derive(Default)]
pub(super) struct Misuse {
    has_deadline: bool,
}

impl Observer for Misuse {
    fn observes<L: Observed>() -> bool {
        L::KIND != Kind::PiMutex && L::GUARDS == Guards::Own
    }

    fn wants<L: Observed>(&mut self, _: &L, _: Access, has_deadline: bool) {
        self.has_deadline = has_deadline;
    }

    #[track_caller]
    fn waits<L: Observed>(&mut self, lock: &L) {
        let name = lock.name();
        if self.has_deadline || is_held_here(name) != Some(true) {
            return;
        }
        assert!(
            L::KIND != Kind::Once,
            "deadlock: the closure of a `Once` waits for the same `Once`, {name:#x}"
        );
        let what = what::<L>();
        assert!(!lock.is_held(), "deadlock: this thread locks a {what} that it holds, {name:#x}");
    }

    fn acquired<L: Observed>(&mut self, lock: &L, access: Access) {
        if is_alone(access) {
            enter(lock.name());
        }
    }

    #[track_caller]
    fn unlocks<L: Observed>(&mut self, lock: &L, access: Access) {
        if is_alone(access) {
            let (name, what) = (lock.name(), what::<L>());
            assert!(lock.is_held(), "misuse: unlock of a {what} that is not locked, {name:#x}");
            leave(name);
        }
    }

    fn changes<L: Observed>(&mut self, lock: &L, from: Access, to: Access) {
        if is_alone(from) {
            leave(lock.name());
        }
        if is_alone(to) {
            enter(lock.name());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use crate::Mutex;

    use super::*;

    #[test]
    fn more_locks_than_the_table_has_room_for_are_no_misuse() {
        let mutexes: Vec<_> = (0..2 * ROWS * HELD[0].len()).map(|_| Mutex::new(())).collect();
        for _ in 0..2 {
            let guards: Vec<_> = mutexes.iter().map(Mutex::lock).collect();
            assert!(HELD.iter().flatten().all(|held| held.name.load(Ordering::Relaxed) != 0));
            drop(guards);
        }
    }
}
