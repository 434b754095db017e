//! Fences in asymmetric pairs: one thread pays for both.

use super::{Ordering, Platform};

/// A machine with asymmetric pairs of fences: a light one, which many threads make, and a heavy one, which few do.
///
/// The defaults are right on every machine: full fences that are never relaxed.
///
/// # Safety
///
/// Locks rely on it for the memory safety of what they guard.
///
/// * [`light_fence`](Self::light_fence) and [`heavy_fence`](Self::heavy_fence) order as they say.
/// * [`presumed_light_fence`](Self::presumed_light_fence) orders as [`light_fence`](Self::light_fence) does for as long
///   as [`fences_are_asymmetric`](Self::fences_are_asymmetric), and [`may_relax`](Self::may_relax) is true only where
///   that is.
/// * As with [`Platform`], nothing unwinds.
pub unsafe trait Fences: Platform {
    /// The cheap half of an asymmetric pair of fences.
    ///
    /// Together with a [`heavy_fence`](Self::heavy_fence) of another thread it orders like two
    /// `SeqCst` fences; two light fences together order nothing. Where the system has a heavy fence,
    /// membarrier(2) on Linux, it only keeps the compiler in order; elsewhere it is a full fence.
    fn light_fence();

    /// The costly half of an asymmetric pair of fences: see [`light_fence`](Self::light_fence).
    ///
    /// On Linux a system call that interrupts every CPU now running a thread of this process,
    /// some microseconds. Never call it on a fast path. Where a filter refuses that call later, see
    /// [`heavy_fences_are_refused`](Self::heavy_fences_are_refused): a pair then orders only if the light fence began after.
    fn heavy_fence();

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
    /// For code that reads a word right after it, which shows whether this fence was enough.
    #[inline(always)]
    fn presumed_light_fence() {
        Self::fence(Ordering::SeqCst);
    }

    /// Whether now is a time to rely on heavy fences in one more place: true at a limited rate where
    /// [`fences_are_asymmetric`](Self::fences_are_asymmetric), never elsewhere.
    ///
    /// Relying means a heavy fence later. The limit keeps a process from spending its time in them: on
    /// [`Native`](crate::platform::Native) a permission in 32 times what a heavy fence costs there, and in 20 µs.
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
    /// finite time. Unlocks make a full fence from the moment at which they read that they need one.
    ///
    /// [`fences_are_asymmetric`]: Self::fences_are_asymmetric
    /// [`heavy_fence`]: Self::heavy_fence
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
}
