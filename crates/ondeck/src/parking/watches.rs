//! Whether it is worth it that a waiter of a condition variable reads its own node for a while before it
//! sleeps: time spent so in vain decays.

use crate::platform::{AtomicInt, Host, Ordering};

/// How the last waiters of a bucket's condition variables fared.
///
/// ```text
///  vain   how many watches in a row have been in vain. Up by one, or to 0 at a success, by waiters,
///         without a lock: one lost now and then does not matter.
/// ```
#[derive(Debug)]
pub(crate) struct Watches<P: Host> {
    vain: P::AtomicU32,
}

/// So many watches in vain are put up with: a waiter may be the last before a pause.
const PATIENCE: u32 = 8;

/// At most one of so many waiters watches. Where threads wait often, one of them soon tries again: 16
/// waits that sleep, of some 30 µs each, are half a millisecond.
const RAREST: u32 = 16;

impl<P: Host> Watches<P> {
    pub(super) fn new() -> Self {
        Self { vain: AtomicInt::new(0) }
    }

    /// Whether the caller should watch.
    pub(crate) fn is_worth_it(&self) -> bool {
        let vain = self.vain.load(Ordering::Relaxed);
        vain < PATIENCE || P::once_in((vain / PATIENCE).next_power_of_two().clamp(2, RAREST))
    }

    /// A watch has ended: with a notification, or in vain.
    pub(crate) fn note(&self, notified: bool) {
        let vain = self.vain.load(Ordering::Relaxed);
        let next = if notified { 0 } else { vain.saturating_add(1) };
        if next != vain {
            self.vain.store(next, Ordering::Relaxed);
        }
    }
}

impl Watches<crate::platform::Linux> {
    /// For the static table: all zeros.
    #[allow(clippy::declare_interior_mutable_const, reason = "a template to fill an array with")]
    pub(super) const EMPTY: Self = Self { vain: core::sync::atomic::AtomicU32::new(0) };
}
