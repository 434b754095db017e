//! What the scheduler knows of the calling thread, and does for it.

use super::Platform;

/// A machine whose scheduler may say something of its threads. None of it is needed for correctness.
pub trait Threads: Platform {
    /// True once in about `count` calls by each thread: for what should happen now and then, without
    /// a word that all threads write.
    fn once_in(count: u32) -> bool;

    /// The CPU that the calling thread runs on, by its number. A hint: the thread may have moved
    /// since.
    #[inline]
    fn cpu() -> u32 {
        0
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

    /// Asks the scheduler to leave the calling thread its CPU a little longer if its time slice ends before
    /// [`give_back_slice`](Self::give_back_slice), as the owner of a lock wants it. Says whether it asks from now
    /// on: false where the machine has nothing of the kind, and in a section within one that asks.
    ///
    /// On Linux it is the extension of time slices by rseq(2), of some microseconds, with Linux 7.0 and
    /// glibc 2.41 on x86-64: some loads and a store, and in the first call of each thread a system call.
    /// Elsewhere it is a load. It orders nothing between threads.
    ///
    /// A system call within the section ends the extension. The thread then loses its CPU before the kernel does
    /// what it was called for.
    #[inline(always)]
    fn extend_slice() -> bool {
        false
    }

    /// Ends what an [`extend_slice`](Self::extend_slice) that said true has begun, after the unlock. If the
    /// slice was extended, the calling thread gives up its CPU, by a system call; else this is a store and
    /// some loads.
    #[inline(always)]
    fn give_back_slice() {}
}
