//! What is known of the calling thread without asking the table.
//!
//! The variables are constant and without destructors, so that locks work in destructors of others.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ThreadId;

thread_local! {
    /// No two threads of the process have the same, also after their end; 0 before the thread was asked.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    static IGNORES: Cell<u32> = const { Cell::new(0) };
}

/// The number of the calling thread.
pub(crate) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let known = NUMBER.get();
    if known != 0 {
        return known;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    NUMBER.set(number);
    number
}

/// While it is there, the thread's locks are not looked at: those that printing a report takes, those of an
/// allocator and those of a signal handler that interrupted the detection.
pub(crate) struct Inside(());

/// None if the thread is inside already.
pub(crate) fn enter() -> Option<Inside> {
    (!IS_INSIDE.replace(true)).then_some(Inside(()))
}

impl Drop for Inside {
    fn drop(&mut self) {
        IS_INSIDE.set(false);
    }
}

/// Whether the thread runs a part of the program whose order of locks is not looked at.
pub(crate) fn ignores() -> bool {
    IGNORES.get() != 0
}

/// Runs `part` without looking at the order in which it takes locks.
///
/// Nothing that the calling thread locks in `part` counts as taken behind what the thread holds, and no read
/// there as recursive. Deadlocks are still reported. Other threads are not concerned.
///
/// ```
/// ondeck_deadlock::with_ignored(|| { /* locks in an order that is safe for another reason */ });
/// ```
pub fn with_ignored<R>(part: impl FnOnce() -> R) -> R {
    /// Also if `part` panics.
    struct Over;

    impl Drop for Over {
        fn drop(&mut self) {
            IGNORES.set(IGNORES.get() - 1);
        }
    }

    IGNORES.set(IGNORES.get() + 1);
    let _over = Over;
    part()
}

/// A thread of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number in the kernel.
    pub tid: u32,
    /// Its number in the standard library. Known of threads that wait in a deadlock.
    pub id: Option<ThreadId>,
    name: [u8; 16],
}

impl Thread {
    /// The calling thread. Makes two system calls.
    pub(crate) fn current(id: Option<ThreadId>) -> Self {
        let mut name = [0_u8; 16];
        // SAFETY: gettid has no preconditions.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
        // SAFETY: PR_GET_NAME writes 16 bytes at most.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        Self { tid, id, name }
    }

    /// Its name, of which the kernel keeps 15 bytes.
    pub fn name(&self) -> String {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        String::from_utf8_lossy(&self.name[..end]).into_owned()
    }
}
