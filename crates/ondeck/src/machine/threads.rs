//! What the scheduler knows of the calling thread, and does for it.

use super::Platform;

/// The CPU of a thread whose scheduler does not tell.
pub const UNKNOWN_CPU: u32 = (1 << 20) - 1;

/// A machine whose scheduler may say something of its threads. None of it is needed for correctness.
pub trait Threads: Platform {
    /// True once in about `count` calls by each thread: for what should happen now and then, without
    /// a word that all threads write.
    fn once_in(count: u32) -> bool;

    /// The CPU that the calling thread runs on, by its number; 2^20 - 1 if the system does not tell. A hint: the
    /// thread may have moved since.
    #[inline]
    fn cpu() -> u32 {
        0
    }

    /// The last-level cache of the CPU that the calling thread runs on, by a number: CPUs that share one have the same.
    /// The NUMA node where the system does not tell. A hint, as [`cpu`](Self::cpu) is.
    #[inline]
    fn cache() -> usize {
        Self::node()
    }

    /// The real-time priority of the calling thread; 0 if it is of an ordinary scheduling class.
    ///
    /// Asked by a thread that is about to park: at most a system call or two.
    #[inline]
    fn priority() -> u32 {
        0
    }

    /// Whether [`priority`](Self::priority) has ever returned another value than 0, to any thread: a load.
    #[inline]
    fn has_real_time_threads() -> bool {
        false
    }
}
