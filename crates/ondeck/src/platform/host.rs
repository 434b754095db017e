//! What a machine that hosts waiters has besides: the parking table, and the policy of waiting.

use super::{Ordering, Platform};
use crate::parking::{Bias, Bucket, Row};
use crate::spin::Polling;

/// A machine with a parking table: what this crate's own locks need of it.
///
/// A lock that keeps its waiters to itself, in its own words or in nodes that the waiters bring,
/// needs a [`Platform`] only. [`RawMutex`](crate::mutex::RawMutex),
/// [`RawCondvar`](crate::condvar::RawCondvar) and the functions of [`parking`](crate::parking) need
/// a host.
///
/// A platform has to give the table and [`once_in`](Self::once_in). Everything else has a default,
/// which is right on every machine: full fences that are never relaxed, and constants where
/// [`Native`](super::Native) measures.
///
/// # Safety
///
/// The locks of this crate rely on a host for memory safety: they follow pointers to nodes on the
/// stacks of other threads, which they find in the table.
///
/// * [`bucket`](Self::bucket) and [`unlock_mode`](Self::unlock_mode) are functions of the address:
///   every call by every thread returns the same object. Two addresses have the same word if and
///   only if they have the same bucket.
/// * A bucket begins as [`Bucket::new`], a word as 0, and nothing but this crate changes them. The
///   child of a fork that can use locks finds all of them as they began.
/// * [`presumed_light_fence`](Self::presumed_light_fence) orders as
///   [`light_fence`](Platform::light_fence) does for as long as
///   [`fences_are_asymmetric`](Self::fences_are_asymmetric), and
///   [`may_relax`](Self::may_relax) is true only where that is.
/// * No two threads have the same [`row`](Self::row) at the same time, and [`rows`](Self::rows) has each
///   that the caller can know of: one that a thread stored to before a pair of a light fence of that
///   thread and a heavy fence of the caller.
/// * [`bias`](Self::bias) is a function of the address. Nothing but this crate changes rows and biases.
pub unsafe trait Host: Platform {
    /// The word of the parking table that says what an unlock of the lock at `address` has to do
    /// after its store; see [`parking`](crate::parking).
    fn unlock_mode(address: usize) -> &'static Self::AtomicUsize;

    /// The bucket of the parking table for the lock at `address`.
    fn bucket(address: usize) -> &'static Bucket<Self>;

    /// The address by which the words of visible readers are chosen: the address itself on a real machine. A
    /// machine that is to behave alike in each run gives one that does not depend on where memory was allocated.
    ///
    /// A function of the address, and of no two addresses the same.
    #[inline(always)]
    fn name_of(address: usize) -> usize {
        address
    }

    /// How a waiter polls before it sleeps.
    #[inline]
    fn polling() -> Polling {
        Polling::default()
    }

    /// Whether heavy fences carry the cost, so that light ones are free: membarrier(2) on Linux.
    ///
    /// Decides it now if nothing has before: a light fence is a full fence until then. Later it can only
    /// change to false, when [heavy fences are refused](Self::heavy_fences_are_refused).
    #[inline]
    fn fences_are_asymmetric() -> bool {
        false
    }

    /// The light fence where [`fences_are_asymmetric`](Self::fences_are_asymmetric): keeps only the
    /// compiler in order on Linux, whether or not that is so.
    ///
    /// For code that reads, right behind it, a word which tells whether it was enough.
    #[inline(always)]
    fn presumed_light_fence() {
        Self::fence(Ordering::SeqCst);
    }

    /// Whether now is a time to rely on heavy fences in one more place: true at a limited rate where
    /// [`fences_are_asymmetric`](Self::fences_are_asymmetric), never elsewhere.
    ///
    /// Relying means a heavy fence later. The limit keeps a process from spending its time in them: on
    /// [`Native`](super::Native) a permission in 32 times what a heavy fence costs there, and in 20 µs.
    #[inline]
    fn may_relax() -> bool {
        false
    }

    /// Whether the machine has refused a heavy fence, although it had granted them:
    /// [`fences_are_asymmetric`] was true before, and is false from then on. Never becomes false again.
    ///
    /// From then on [`heavy_fence`] is a full fence of the caller's alone, that of the first call that
    /// was refused included. An unlock of another thread that was under way, or that reads an older
    /// word of the table, may have had no fence at all. A thread that parks must not trust that such
    /// an unlock sees it: it asks here after its heavy fence, and if so sleeps in bounded slices, and
    /// looks at the lock again after each. That is sound because a store becomes visible to all CPUs in
    /// finite time. Unlocks that are told to have a full fence have one from then on.
    ///
    /// [`fences_are_asymmetric`]: Self::fences_are_asymmetric
    /// [`heavy_fence`]: Platform::heavy_fence
    #[inline]
    fn heavy_fences_are_refused() -> bool {
        false
    }

    /// What a heavy fence costs its caller, in [`ticks`](Platform::ticks), on average; 0 while that
    /// is not known.
    #[inline]
    fn heavy_cost_ticks() -> usize {
        0
    }

    /// Notes how long a wake took, in [`ticks`](Platform::ticks): from the call that woke the calling
    /// thread until it ran.
    #[inline]
    fn note_wake(_ticks: usize) {}

    /// How long a wake takes, in [`ticks`](Platform::ticks): about the median of what was noted, between
    /// 2 and 50 µs, and 20 µs at first.
    #[inline]
    fn wake_ticks() -> usize {
        Self::ticks_in(20_000)
    }

    /// The [`ticks`](Platform::ticks) after everything that the caller has done has completed: for the
    /// end of a time of some nanoseconds.
    #[inline]
    fn ticks_ordered() -> u64 {
        Self::ticks()
    }

    /// Notes how long a read-modify-write took, in [`ticks`](Platform::ticks), of a cache line that
    /// another CPU had.
    #[inline]
    fn note_transfer(_ticks: usize) {}

    /// How long a read-modify-write takes, in [`ticks`](Platform::ticks), of a cache line that another
    /// CPU has: about the median of what was noted, between 20 and 500 ns, and 100 ns at first.
    #[inline]
    fn transfer_ticks() -> usize {
        Self::ticks_in(100)
    }

    /// True once in about `count` calls by each thread: for what should happen now and then, without
    /// a word that all threads write.
    fn once_in(count: u32) -> bool;

    /// The CPU that the calling thread runs on, by its number. A hint: the thread may have moved
    /// since.
    #[inline]
    fn cpu() -> u32 {
        0
    }

    /// Where the calling thread says which reader-writer locks it reads; `None` where threads cannot, or no
    /// longer: then locks count their readers.
    #[inline(always)]
    fn row() -> Option<&'static Row<Self>> {
        None
    }

    /// The rows of all threads that have had one.
    #[inline]
    fn rows() -> &'static [Row<Self>] {
        &[]
    }

    /// What writers say to visible readers of the lock at `address`; `None` where there are none.
    #[inline(always)]
    fn bias(_address: usize) -> Option<&'static Bias<Self>> {
        None
    }

    /// The calling thread is about to park for the lock at `address`: for what records contention. May be
    /// called more than once in a wait.
    #[inline]
    fn parks(_address: usize) {}

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
