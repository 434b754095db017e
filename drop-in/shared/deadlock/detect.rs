//! The locks' reports to crate `ondeck-deadlock`, and the queries of programs.
//!
//! Only actual deadlocks are detected. Lock orders are not checked, and nothing is printed.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use backtrace::Backtrace;
use ondeck_deadlock::{Attempt, Ends, Held, Lock, LockKind, Mode, Want};

/// Returns the lock at `key`. The first call switches detection on.
fn lock(key: usize) -> Lock {
    if !ondeck_deadlock::is_on() {
        ondeck_deadlock::enable(Mode::Report);
    }
    Lock { address: key, kind: LockKind::Mutex }
}

/// Acquires the lock at `key` by `attempt`, or otherwise by `block`. Returns whether that succeeded.
pub(crate) fn acquire(
    key: usize,
    want: Want,
    ends: Ends,
    attempt: impl FnOnce() -> bool,
    block: impl FnOnce() -> bool,
) -> bool {
    try_acquire(key, want, || attempt() || waits(key, want, ends, |_| block()))
}

/// Records an acquisition of the lock at `key` if `attempt` succeeds. Returns whether it did.
pub(crate) fn try_acquire(key: usize, want: Want, attempt: impl FnOnce() -> bool) -> bool {
    let has = attempt();
    if has {
        acquired(key, want);
    }
    has
}

/// Records that the calling thread has acquired the lock at `key`.
pub(crate) fn acquired(key: usize, want: Want) {
    ondeck_deadlock::acquired(lock(key), want.held());
}

/// Records that the calling thread is about to unlock the lock at `key`.
pub(crate) fn releases(key: usize, held: Held) {
    ondeck_deadlock::released(lock(key), held);
}

/// Records that the calling thread holds the lock at `key` in another way from now on.
#[allow(dead_code, reason = "the parking table has one way to hold a resource")]
pub(crate) fn changes(key: usize, from: Held, to: Held) {
    ondeck_deadlock::changed(lock(key), from, to);
}

/// The stack with which each waiting thread began to wait, without names.
fn stacks() -> MutexGuard<'static, HashMap<ThreadId, Backtrace>> {
    static STACKS: LazyLock<Mutex<HashMap<ThreadId, Backtrace>>> = LazyLock::new(Mutex::default);
    // A panic never leaves it half changed.
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A wait, until it ends or is dropped.
pub(crate) struct Wait(Cell<Option<Attempt>>);

impl Wait {
    /// A wait with a deadline is never in a deadlock, and is not entered.
    fn begin(key: usize, want: Want, ends: Ends) -> Self {
        if ends == Ends::AtADeadline {
            return Self(Cell::new(None));
        }
        let lock = lock(key);
        let mut attempt =
            ondeck_deadlock::with_ignored(|| ondeck_deadlock::begin(lock, want, ends));
        let stack = Backtrace::new_unresolved();
        stacks().insert(thread::current().id(), stack);
        // Enters the wait without a search for deadlocks: the program asks for them.
        attempt.waits_for_condition();
        Self(Cell::new(Some(attempt)))
    }

    /// Ends the wait of the calling thread.
    pub(crate) fn is_over(&self) {
        if self.0.take().is_some() {
            stacks().remove(&thread::current().id());
        }
    }
}

impl Drop for Wait {
    /// Also ends the wait if the wait unwinds, as for a poisoned once.
    fn drop(&mut self) {
        self.is_over();
    }
}

/// Runs `block`, which waits for the lock at `key` without acquiring it.
pub(crate) fn waits<T>(key: usize, want: Want, ends: Ends, block: impl FnOnce(&Wait) -> T) -> T {
    block(&Wait::begin(key, want, ends))
}

/// A thread that waits forever.
pub struct DeadlockedThread {
    id: ThreadId,
    /// Without names.
    stack: Backtrace,
    /// With names, from the first time that they are wanted: they are slow to find.
    named: OnceLock<Backtrace>,
}

impl DeadlockedThread {
    /// Returns the thread's id.
    pub fn thread_id(&self) -> ThreadId {
        self.id
    }

    /// Returns where it waits.
    pub fn backtrace(&self) -> &Backtrace {
        self.named.get_or_init(|| {
            let mut stack = self.stack.clone();
            stack.resolve();
            stack
        })
    }
}

impl fmt::Debug for DeadlockedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadlockedThread").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Returns the deadlocks that were not reported before, each as the threads that wait for each other.
///
/// It covers mutexes of all kinds, reader-writer locks and onces. It covers neither waits inside
/// [`Condvar`](crate::Condvar) nor the locks of other crates. A thread whose wait has a deadline is never in a
/// deadlock. A forgotten guard holds its lock forever.
///
/// The threads stay deadlocked.
///
/// # Cost
///
/// With the feature `deadlock_detection` each lock and each unlock accesses a table that all threads share, and
/// each wait records a stack: expect microseconds. Without it there is no cost.
pub fn check_deadlock() -> Vec<Vec<DeadlockedThread>> {
    let thread = |edge: &ondeck_deadlock::Edge| {
        let id = edge.thread.id?;
        // None for a lock of another package of this kind.
        let stack = stacks().get(&id).cloned().unwrap_or_else(|| Backtrace::from(Vec::new()));
        Some(DeadlockedThread { id, stack, named: OnceLock::new() })
    };
    let found = ondeck_deadlock::check();
    found.iter().map(|report| report.edges.iter().filter_map(thread).collect()).collect()
}
