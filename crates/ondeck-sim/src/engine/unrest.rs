//! Disturbances by a test: threads lose their CPU or stand still at the worst moments, stores and wakes are late.

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

/// The amount of unrest. A field that is 0 or empty disables its disturbance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unrest {
    /// The seed of its random numbers.
    pub seed: u64,
    /// One access in this number is disturbed: by a stall, or by the loss of the CPU.
    pub one_in: u32,
    /// The same for accesses right after a write of the same thread: there the thread has just acquired or
    /// freed something, has published that it waits, or is about to recheck.
    pub behind_writes: u32,
    /// The longest stall.
    pub longest_stall: Time,
    /// The longest delay of a store.
    pub latest_store: Time,
    /// One wake in this number takes longer.
    pub late_wakes: u32,
    /// The delay of such a wake: for example, a slice.
    pub late_wake: Time,
    /// No deadline of a wait in the kernel passes, except those of [`Sim::sleep`](super::Sim::sleep). Then a lost
    /// wake shows as an endless wait, even if the thread would have rechecked after a while.
    pub no_deadlines: bool,
    /// Accesses, by their number in the run, before which the thread stands still for long. They are the
    /// priority changes of Burckhardt and others, "A Randomized Scheduler with Probabilistic Guarantees of
    /// Finding Bugs" (2010).
    pub changes: Vec<u64>,
    /// How long the thread stands still there.
    pub change: Time,
}

impl Unrest {
    /// No unrest.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether accesses are disturbed.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.one_in != 0 || self.behind_writes != 0 || !self.changes.is_empty()
    }

    /// Draws the disturbance before the access with that number.
    pub(super) fn whim(&self, rng: &mut Rng, access: u64, behind_a_write: bool) -> Option<Whim> {
        if self.changes.contains(&access) {
            return Some(Whim::Stall(self.change));
        }
        let happens = |rng: &mut Rng, one_in| one_in != 0 && rng.u32(..one_in) == 0;
        let stops = happens(rng, self.one_in) || behind_a_write && happens(rng, self.behind_writes);
        if !stops {
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

    /// Draws the delay of the next woken thread.
    #[inline]
    pub(super) fn wake_delay(&self, rng: &mut Rng) -> Time {
        if self.late_wakes == 0 || rng.u32(..self.late_wakes) != 0 { 0 } else { self.late_wake }
    }
}
