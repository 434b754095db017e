//! What programs ask.

use std::fmt;
use std::thread::{self, ThreadId};
use std::time::Duration;

use backtrace::Backtrace;

use super::registry::table;

/// How long a deadlock must last to be reported: a reader that waits beside a writer that has only just
/// begun to wait may still come first.
const LASTS: Duration = Duration::from_millis(5);

/// A thread that waits for ever.
pub struct DeadlockedThread {
    id: ThreadId,
    stack: Backtrace,
}

impl DeadlockedThread {
    /// The thread.
    pub fn thread_id(&self) -> ThreadId {
        self.id
    }

    /// Where it waits.
    pub fn backtrace(&self) -> &Backtrace {
        &self.stack
    }
}

impl fmt::Debug for DeadlockedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadlockedThread").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The deadlocks that were not reported before: of each, the threads that wait for each other.
///
/// It sees mutexes of all kinds, reader-writer locks and onces. It does not see what a thread waits for
/// inside of [`Condvar`](crate::Condvar), nor locks of others. A thread whose wait has a deadline is in no
/// deadlock. A guard that was forgotten holds its lock for ever.
///
/// The threads stay where they are.
///
/// # Cost
///
/// With the feature `deadlock_detection` each lock and each unlock enters a table that all threads share,
/// and each wait records a stack: expect microseconds. Without it, nothing.
pub fn check_deadlock() -> Vec<Vec<DeadlockedThread>> {
    let first = table().deadlocks();
    if first.is_empty() {
        return Vec::new();
    }
    thread::sleep(LASTS);
    let mut table = table();
    let mut found = table.deadlocks();
    let lasts = |wait: &(ThreadId, u64)| first.iter().flatten().any(|it| it == wait);
    found.retain(|threads| threads.iter().all(lasts));
    let mut reported = Vec::new();
    for threads in found {
        let mut of_one = Vec::new();
        let mut is_new = false;
        for (id, _) in threads {
            if let Some(wait) = table.threads.get_mut(&id).and_then(|it| it.wait.as_mut()) {
                is_new |= !wait.is_reported;
                wait.is_reported = true;
                of_one.push(DeadlockedThread { id, stack: wait.stack.clone() });
            }
        }
        if is_new {
            reported.push(of_one);
        }
    }
    drop(table);
    for it in reported.iter_mut().flatten() {
        it.stack.resolve();
    }
    reported
}
