//! The scheduler's knowledge of the calling thread.

use super::Platform;

/// The CPU of a thread whose scheduler does not report it.
pub const UNKNOWN_CPU: u32 = (1 << 20) - 1;

/// A machine whose scheduler may report facts about its threads. Correctness needs none of them.
pub trait Threads: Platform {
    /// Returns true once in about `count` calls by each thread: for work that is due now and then,
    /// without a word that all threads write.
    fn once_in(count: u32) -> bool;

    /// Returns a number other than 0 that identifies the calling thread while it lives.
    fn thread() -> usize;

    /// Returns the number of the CPU that the calling thread runs on; 2^20 - 1 if the system does
    /// not report it. A hint: the thread may have moved since.
    #[inline]
    fn cpu() -> u32 {
        0
    }

    /// Returns the number of the last-level cache of the CPU that the calling thread runs on: CPUs
    /// that share a cache have the same number. Where the system does not report it, returns the
    /// NUMA node. A hint, as [`cpu`](Self::cpu) is.
    #[inline]
    fn cache() -> usize {
        Self::node()
    }

    /// Returns the real-time priority of the calling thread; 0 if it is of an ordinary scheduling
    /// class.
    ///
    /// A thread that is about to park calls this: at most a system call or two.
    #[inline]
    fn priority() -> u32 {
        0
    }

    /// Returns whether [`priority`](Self::priority) has ever returned a value other than 0, to any
    /// thread: a load.
    #[inline]
    fn has_real_time_threads() -> bool {
        false
    }
}
