//! Deadlocks, at the program's request: which threads wait for each other, and where.
//!
//! Crate `ondeck-deadlock` knows what each thread holds and awaits, as the locks of crate `ondeck`
//! report it. It keeps stacks as addresses; here they are of the type that the original has.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use backtrace::Backtrace;
use ondeck_deadlock::Mode;

/// Called by the loader, after the constructor that reads `ONDECK_DEADLOCK`: each lock is known
/// from the first on.
#[used]
#[unsafe(link_section = ".init_array")]
static SWITCH_ON: extern "C" fn() = switch_on;

extern "C" fn switch_on() {
    if !ondeck_deadlock::is_on() {
        ondeck_deadlock::enable(Mode::OnRequest);
    }
}

/// The stack with which each waiting thread began to wait, without names.
fn stacks() -> MutexGuard<'static, HashMap<ThreadId, Backtrace>> {
    static STACKS: LazyLock<Mutex<HashMap<ThreadId, Backtrace>>> = LazyLock::new(Mutex::default);
    // A panic never leaves it half changed.
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stack of the calling thread, known until this is dropped: also if the wait unwinds, as for a
/// poisoned once.
pub(crate) struct Stack(());

impl Stack {
    pub(crate) fn keep() -> Self {
        let stack = Backtrace::new_unresolved();
        stacks().insert(thread::current().id(), stack);
        Self(())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        stacks().remove(&thread::current().id());
    }
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

    /// Returns where it waits; nothing if it waits for a condition.
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

/// Returns the deadlocks that were not reported before, each as the threads that wait for each
/// other.
///
/// It covers mutexes of all kinds, reader-writer locks and onces, of this package and of crate
/// `ondeck`. A thread that waits for a condition waits for its mutex, also if the wait has a
/// deadline. Otherwise a thread whose wait has a deadline is never in a deadlock. A forgotten guard
/// holds its lock forever.
///
/// Where `ONDECK_DEADLOCK` is set, deadlocks are reported when they occur, and not here.
///
/// The threads stay deadlocked.
///
/// # Cost
///
/// With the feature `deadlock_detection` each lock and each unlock accesses a table that all
/// threads share, and each wait records a stack: expect microseconds. Without it there is no cost.
pub fn check_deadlock() -> Vec<Vec<DeadlockedThread>> {
    let thread = |edge: &ondeck_deadlock::Edge| {
        let id = edge.thread.id?;
        // None for a wait of another package.
        let stack = stacks().get(&id).cloned().unwrap_or_else(|| Backtrace::from(Vec::new()));
        Some(DeadlockedThread { id, stack, named: OnceLock::new() })
    };
    let found = ondeck_deadlock::check();
    found.iter().map(|report| report.edges.iter().filter_map(thread).collect()).collect()
}
