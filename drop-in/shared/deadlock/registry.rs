//! Which thread holds and awaits what, of all threads: a table under one lock.
//!
//! That a thread holds a lock is entered after it took it and struck out before it gives it up. That it
//! waits is entered before it waits and struck out after. So what the table says of held locks is true
//! whenever it is read, and of waits it is at most late. A circle of threads in it, each waiting for a lock
//! that the next one holds, is therefore a deadlock: none of the waits can be one that has ended already,
//! because its lock is held by another.
//!
//! The table's lock is the standard library's, so that it is not among the locks that it describes.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use backtrace::Backtrace;

use super::{Ends, Held, Want};

/// What a thread waits for.
pub(super) struct Wait {
    pub(super) key: usize,
    pub(super) want: Want,
    pub(super) ends: Ends,
    /// No two waits have the same.
    pub(super) number: u64,
    pub(super) is_reported: bool,
    /// Where the thread began to wait, without names.
    pub(super) stack: Backtrace,
}

/// What is known of a thread.
#[derive(Default)]
pub(super) struct Thread {
    pub(super) held: Vec<(usize, Held)>,
    pub(super) wait: Option<Wait>,
}

/// What is known of all threads that hold or await something.
#[derive(Default)]
pub(super) struct Table {
    pub(super) threads: HashMap<ThreadId, Thread>,
    waits: u64,
}

pub(super) fn table() -> MutexGuard<'static, Table> {
    static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);
    // No panic leaves it half changed.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    /// Forgets a thread of which nothing is known any more.
    fn tidy(&mut self, id: ThreadId) {
        if self.threads.get(&id).is_some_and(|it| it.held.is_empty() && it.wait.is_none()) {
            self.threads.remove(&id);
        }
    }
}

/// The calling thread holds the lock.
pub(super) fn holds(key: usize, held: Held) {
    let id = thread::current().id();
    table().threads.entry(id).or_default().held.push((key, held));
}

/// The calling thread gives the lock up.
///
/// One that it does not hold was locked by another thread, and is unlocked by unsafe code: then that one
/// does not hold it any more.
pub(super) fn gives_up(key: usize, held: Held) {
    let id = thread::current().id();
    let mut table = table();
    let place = |it: &Thread| it.held.iter().rposition(|entry| *entry == (key, held));
    let holds = |it: &Thread| place(it).is_some();
    let holder = if table.threads.get(&id).is_some_and(holds) {
        Some(id)
    } else {
        table.threads.iter().find(|(_, it)| holds(it)).map(|(id, _)| *id)
    };
    let Some(holder) = holder else { return };
    if let Some(it) = table.threads.get_mut(&holder)
        && let Some(place) = place(it)
    {
        it.held.swap_remove(place);
    }
    table.tidy(holder);
}

/// Runs `block`; meanwhile the calling thread waits for the lock.
pub(super) fn waits<T>(key: usize, want: Want, ends: Ends, block: impl FnOnce() -> T) -> T {
    /// Also if `block` unwinds, as that of a once that is poisoned does.
    struct Over;

    impl Drop for Over {
        fn drop(&mut self) {
            waits_no_more();
        }
    }

    let id = thread::current().id();
    let stack = Backtrace::new_unresolved();
    {
        let mut table = table();
        table.waits += 1;
        let number = table.waits;
        let entry = Wait { key, want, ends, number, is_reported: false, stack };
        table.threads.entry(id).or_default().wait = Some(entry);
    }
    let _over = Over;
    block()
}

/// The calling thread does not wait.
pub(super) fn waits_no_more() {
    let id = thread::current().id();
    let mut table = table();
    if let Some(it) = table.threads.get_mut(&id) {
        it.wait = None;
    }
    table.tidy(id);
}
