//! Fences in asymmetric pairs: one thread pays for both.

use super::{Ordering, Platform};

/// A machine with asymmetric pairs of fences: a light one, which many threads make, and a heavy
/// one, which few do.
///
/// The defaults are right on every machine: full fences that are never relaxed.
///
/// # Safety
///
/// Locks rely on it for the memory safety of the data that they protect.
///
/// * [`light_fence`](Self::light_fence) and [`heavy_fence`](Self::heavy_fence) order as documented.
/// * While [`fences_are_asymmetric`](Self::fences_are_asymmetric) is true,
///   [`presumed_light_fence`](Self::presumed_light_fence) orders as
///   [`light_fence`](Self::light_fence) does. [`may_relax`](Self::may_relax) is true only while it
///   is.
/// * As with [`Platform`], nothing unwinds.
pub unsafe trait Fences: Platform {
    /// The cheap half of an asymmetric pair of fences.
    ///
    /// Together with a [`heavy_fence`](Self::heavy_fence) of another thread it orders like two
    /// `SeqCst` fences; two light fences together order nothing. Where the system has a heavy
    /// fence, membarrier(2) on Linux, it only keeps the compiler in order; elsewhere it is a full
    /// fence.
    fn light_fence();

    /// The costly half of an asymmetric pair of fences: see [`light_fence`](Self::light_fence).
    ///
    /// On Linux it is a system call that interrupts every CPU which is running a thread of this
    /// process, for some microseconds. Never call it on a fast path. If a filter refuses that call
    /// later, see [`heavy_fences_are_refused`](Self::heavy_fences_are_refused): a pair then orders
    /// only if the light fence began after the refusal.
    fn heavy_fence();

    /// Returns whether heavy fences carry the cost, so that light ones are free: membarrier(2) on
    /// Linux.
    ///
    /// The first call decides this, if nothing has before: until then a light fence is a full
    /// fence. Later the result can only change to false, when
    /// [heavy fences are refused](Self::heavy_fences_are_refused).
    #[inline]
    fn fences_are_asymmetric() -> bool {
        false
    }

    /// The light fence for the case that [`fences_are_asymmetric`](Self::fences_are_asymmetric). On
    /// Linux it only keeps the compiler in order, whether or not that holds.
    ///
    /// For code that reads a word right after it, and learns from that word whether this fence was
    /// enough.
    #[inline(always)]
    fn presumed_light_fence() {
        Self::fence(Ordering::SeqCst);
    }

    /// Returns whether the caller may now rely on heavy fences in one more place: true at a limited
    /// rate if [`fences_are_asymmetric`](Self::fences_are_asymmetric), never otherwise.
    ///
    /// To rely on them means a heavy fence later. The limit keeps a process from spending its time
    /// in them: [`Native`](crate::platform::Native) gives one permission in 32 times the cost of a
    /// heavy fence, and at most one in 20 µs.
    #[inline]
    fn may_relax() -> bool {
        false
    }

    /// Returns whether the machine has refused a heavy fence after it had granted them:
    /// [`fences_are_asymmetric`] was true before, and is false from then on. Once true, this stays
    /// true.
    ///
    /// From then on [`heavy_fence`] is a full fence of the caller alone, including the first call
    /// that was refused. An unlock of another thread that was under way, or that reads an older
    /// word of the table, may have had no fence at all. A thread that parks must not rely on being
    /// seen by such an unlock: it calls this after its heavy fence, and if the result is true it
    /// sleeps in bounded slices, and checks the lock again after each. That is sound because a
    /// store becomes visible to all CPUs in finite time. Unlocks make a full fence as soon as they
    /// read that they need one.
    ///
    /// [`fences_are_asymmetric`]: Self::fences_are_asymmetric
    /// [`heavy_fence`]: Self::heavy_fence
    #[inline]
    fn heavy_fences_are_refused() -> bool {
        false
    }

    /// Returns the average cost of a heavy fence to its caller, in [`ticks`](Platform::ticks); 0
    /// while that is not known.
    #[inline]
    fn heavy_cost_ticks() -> usize {
        0
    }
}
