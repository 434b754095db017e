//! The parts of the policy that correctness does not need. A build with the feature `ablation` can leave each one out, so
//! that the example `ablate` can print its gain. In any other build they are constants.

/// A part of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// A thread that finds the lock taken tries again for a moment before it waits in the table.
    Brief,
    /// The displaced owner of a captured lock naps before it polls.
    Nap,
    /// The displaced owner pauses instead where owners wait for conditions.
    Pause,
    /// An heir that was woken and found the lock taken again asks for a handoff.
    Handoff,
    /// The heir wakes the oldest parked thread every half millisecond.
    Rotation,
    /// The heir wakes no further thread while a woken thread has yet to run.
    Queued,
    /// A wake prefers a thread that last ran on another CPU.
    Elsewhere,
    /// Of those, a wake prefers the nearest to the waker: on its last-level cache, or else on its NUMA node.
    Home,
    /// A woken thread takes the role from the heir.
    Takeover,
    /// A woken thread that finds the lock taken does not poll on the CPU of the thread that woke it.
    Aside,
    /// A notification leaves a waiter that last ran on the notifier's CPU to the owner of the mutex.
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

    /// Returns whether locks include this part.
    #[cfg(not(feature = "ablation"))]
    #[allow(clippy::unused_self, reason = "a constant unless parts can be left out")]
    #[inline(always)]
    pub(crate) fn is_in(self) -> bool {
        true
    }

    /// Returns whether locks include this part.
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
