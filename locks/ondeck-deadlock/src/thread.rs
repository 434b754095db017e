//! The thread-local state of the detection.
//!
//! The variables have constant initializers and no destructors, so that locks work in the
//! destructors of other thread-local variables.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ThreadId;

thread_local! {
    /// Unique in the process, also among ended threads; 0 before the first use.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    static IGNORES: Cell<u32> = const { Cell::new(0) };
}

/// Returns the number of the calling thread.
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

/// While it lives, locks that the thread acquires are not checked: the locks of printing a report,
/// of an allocator, and of a signal handler that interrupted the detection.
pub(crate) struct Inside(());

/// Returns none if the thread is already inside.
pub(crate) fn enter() -> Option<Inside> {
    (!IS_INSIDE.replace(true)).then_some(Inside(()))
}

impl Drop for Inside {
    fn drop(&mut self) {
        IS_INSIDE.set(false);
    }
}

/// Whether the thread runs a part of the program whose lock order is not checked.
pub(crate) fn ignores() -> bool {
    IGNORES.get() != 0
}

/// Runs `part` without checking the order in which it acquires locks.
///
/// Locks that the calling thread acquires in `part` add no edges from the locks it holds, and no
/// read in it counts as a read within a read. Deadlocks are still reported. Other threads are not
/// affected.
///
/// ```
/// ondeck_deadlock::with_ignored(|| { /* locks in an order that is safe for another reason */ });
/// ```
pub fn with_ignored<R>(part: impl FnOnce() -> R) -> R {
    /// Restores the flag also if `part` panics.
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

/// A thread in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number in the kernel.
    pub tid: u32,
    /// Its number in the standard library, known only for threads that wait in a deadlock.
    pub id: Option<ThreadId>,
    name: [u8; 16],
}

impl Thread {
    /// Returns a thread of another process.
    pub fn of(tid: u32, name: [u8; 16]) -> Self {
        Self { tid, id: None, name }
    }

    /// Returns the calling thread. Makes two system calls.
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
