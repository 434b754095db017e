//! Disturbances by a test: threads lose their CPU or stand still at the worst moments, stores are
//! late.

use fastrand::Rng;

use crate::time::Time;

/// A disturbance of a thread before an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whim {
    /// It stands still and keeps its CPU, as if the hypervisor had taken the CPU.
    Stall(Time),
    /// It loses its CPU to a ready thread, if there is one.
    Preempt,
}

/// The amount of unrest. A field that is 0 disables its disturbance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unrest {
    /// The seed of its random numbers.
    pub seed: u64,
    /// One access in this number is disturbed: by a stall, or by the loss of the CPU.
    pub one_in: u32,
    /// The longest stall.
    pub longest_stall: Time,
    /// The longest delay of a store.
    pub latest_store: Time,
}

impl Unrest {
    /// No unrest.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether accesses are disturbed.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.one_in != 0
    }

    /// Draws the disturbance before an access.
    pub(super) fn whim(&self, rng: &mut Rng) -> Option<Whim> {
        if self.one_in == 0 || rng.u32(..self.one_in) != 0 {
            return None;
        }
        Some(if rng.bool() {
            Whim::Preempt
        } else {
            // Short stalls are more frequent, so that all lengths up to the longest occur.
            let bits = rng.u32(..u64::BITS - self.longest_stall.max(1).leading_zeros());
            Whim::Stall(self.longest_stall >> bits)
        })
    }

    /// Whether stores are late.
    #[inline]
    pub(super) fn delays_stores(&self) -> bool {
        self.latest_store != 0
    }

    /// Draws the delay of the next store.
    #[inline]
    pub(super) fn store_delay(&self, rng: &mut Rng) -> Time {
        if self.latest_store == 0 { 0 } else { rng.u64(..=self.latest_store) }
    }
}
