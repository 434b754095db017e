//! Misuse that a debug build reports: a thread locks a mutex that it holds, or unlocks one that is free; the closure of
//! a [`Once`](crate::Once) waits for the same `Once`.
//!
//! Dropping a locked mutex is not misuse: safe code may forget a guard, and the mutex then stays locked.
//!
//! One byte has no room for an owner, so each thread keeps a list of the locks it holds. The list is short and of fixed
//! size: if a thread holds more locks at once, the others are not checked.
//!
//! Guards cannot be sent, so only unsafe code can unlock a mutex on another thread than the one that locked it. The list of
//! the locking thread is then wrong until that thread acquires the mutex and unlocks it again.

extern crate std;

use core::cell::Cell;

use super::{Access, Guards, Kind, Observed, Observer};

const MOST: usize = 16;

std::thread_local! {
    /// The locks that this thread holds; 0 marks a free place. Constant and without a destructor, so that locks work in
    /// destructors of other values.
    static HELD: Cell<[usize; MOST]> = const { Cell::new([0; MOST]) };
}

fn is_held_here(name: usize) -> bool {
    HELD.get().contains(&name)
}

/// Replaces one `old` in the list by `new`.
fn replace(old: usize, new: usize) {
    let mut list = HELD.get();
    if let Some(place) = list.iter_mut().find(|place| **place == old) {
        *place = new;
        HELD.set(list);
    }
}

#[derive(Default)]
pub(super) struct Misuse {
    has_deadline: bool,
}

impl Observer for Misuse {
    fn observes<L: Observed>() -> bool {
        matches!(L::KIND, Kind::Mutex | Kind::Once) && L::GUARDS == Guards::Own
    }

    fn wants<L: Observed>(&mut self, _: &L, _: Access, has_deadline: bool) {
        self.has_deadline = has_deadline;
    }

    #[track_caller]
    fn waits<L: Observed>(&mut self, lock: &L) {
        let name = lock.name();
        if self.has_deadline || !is_held_here(name) {
            return;
        }
        assert!(
            L::KIND != Kind::Once,
            "deadlock: the closure of a `Once` waits for the same `Once`, {name:#x}"
        );
        assert!(!lock.is_held(), "deadlock: this thread locks a mutex that it holds, {name:#x}");
    }

    fn acquired<L: Observed>(&mut self, lock: &L, _: Access) {
        if !is_held_here(lock.name()) {
            replace(0, lock.name());
        }
    }

    #[track_caller]
    fn unlocks<L: Observed>(&mut self, lock: &L, _: Access) {
        let name = lock.name();
        assert!(lock.is_held(), "misuse: unlock of a mutex that is not locked, {name:#x}");
        replace(name, 0);
    }

    /// A thread that has forgotten a guard does not hold a later lock at the same address.
    fn dropped(name: usize) {
        replace(name, 0);
    }
}
