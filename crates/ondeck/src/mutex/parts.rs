//! The parts of the policy that are not needed for correctness. A build with the feature `ablation` can leave each out, so
//! that the example `ablate` can print what it is worth; in any other build they are constants.

/// A part of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// A thread that finds the lock taken tries again for a moment before it waits in the table.
    Brief,
    /// The displaced owner of a captured lock naps.
    Nap,
    /// It pauses instead where owners wait for conditions.
    Pause,
    /// A heir that was woken in vain asks to be handed the lock.
    Handoff,
    /// The heir wakes the oldest parked thread every half millisecond.
    Rotation,
    /// It does not while a woken thread has yet to run.
    Queued,
    /// A thread that last ran on another CPU is preferred.
    Elsewhere,
    /// Of those, the nearest to the waker is preferred: of its last-level cache, or else of its NUMA node.
    Home,
    /// A woken thread takes the role from the heir.
    Takeover,
    /// A woken thread that finds the lock taken does not poll on the CPU of the thread that woke it.
    Aside,
    /// A notification leaves a waiter that last ran on its CPU to the owner of the mutex.
    Lend,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 11] = [
        Self::Brief,
        Self::Nap,
        Self::Pause,
        Self::Handoff,
        Self::Rotation,
        Self::Queued,
        Self::Elsewhere,
        Self::Home,
        Self::Takeover,
        Self::Aside,
        Self::Lend,
    ];

    /// Whether locks do so.
    #[cfg(not(feature = "ablation"))]
    #[allow(clippy::unused_self, reason = "a constant unless parts can be left out")]
    #[inline(always)]
    pub(crate) fn is_in(self) -> bool {
        true
    }

    /// Whether locks do so.
    #[cfg(feature = "ablation")]
    #[inline]
    pub(crate) fn is_in(self) -> bool {
        WITHOUT.load(core::sync::atomic::Ordering::Relaxed) & 1 << self as u32 == 0
    }

    /// Leaves out these parts, and no others, from now on.
    #[cfg(feature = "ablation")]
    pub fn leave_out(parts: &[Self]) {
        let without = parts.iter().fold(0, |bits, &part| bits | 1 << part as u32);
        WITHOUT.store(without, core::sync::atomic::Ordering::Relaxed);
    }
}

/// A bit for each part that is left out. Relaxed: set between rounds of a measurement.
#[cfg(feature = "ablation")]
static WITHOUT: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
