//! What the unlocks of a lock read in its record before they look any further: whether they need a fence, whether one
//! of them is to hand the lock over, whether a parked thread is urgent. And how many of them have looked.

use super::Record;
use crate::platform::{AtomicInt, Host, Ordering};

/// How an unlock and a thread that parks make sure that one of them sees the other: see
/// [`Guard::publish`](crate::parking::Guard::publish).
pub(in crate::parking) mod fence {
    /// An unlock has a full fence. Some may be on their way that did not look here at all.
    pub(crate) const NOT_YET: u32 = 0;
    /// An unlock has a full fence, and so has a thread that parks.
    pub(crate) const FENCED: u32 = 1;
    /// An unlock has none, a thread that parks has a heavy one.
    pub(crate) const LIGHT: u32 = 2;
    pub(in crate::parking) const KIND: u32 = 3;
    pub(in crate::parking::record) const REQUEST: u32 = 4;
    pub(in crate::parking::record) const URGENT: u32 = 8;
    pub(in crate::parking::record) const ONE_GENERATION: u32 = 16;
}

impl<P: Host> Record<P> {
    /// Whether an owner is asked to hand the lock over.
    #[inline]
    pub(crate) fn is_requested(&self) -> bool {
        self.unlocking.load(Ordering::Relaxed) & fence::REQUEST != 0
    }

    /// Asks the next owner that unlocks to hand the lock over, or takes that back. Under the bucket's lock, and
    /// followed by [`set_mode`](crate::parking::Guard::set_mode): unlocks look here only if the unlock mode says
    /// so. An owner that does not see it yet passes the oldest by once more.
    pub(crate) fn request(&self, wanted: bool) {
        self.set_flag(fence::REQUEST, wanted);
    }

    /// Whether a thread of a real-time scheduling class is parked. A hint without the bucket's lock.
    #[inline]
    pub(crate) fn is_urgent(&self) -> bool {
        self.unlocking.load(Ordering::Relaxed) & fence::URGENT != 0
    }

    pub(super) fn set_flag(&self, flag: u32, set: bool) {
        let before = self.fence();
        let after = if set { before | flag } else { before & !flag };
        if after != before {
            // A heavy fence that was made in between is forgotten: another is made in its place.
            self.set_fence(after);
        }
    }

    /// Whether an unlock needs no fence of its own before it looks at this record.
    #[inline]
    pub(crate) fn is_light(&self) -> bool {
        // Acquire: an unlock that leaves out its fence because of this sees all that parked before.
        self.unlocking.load(Ordering::Acquire) & fence::KIND == fence::LIGHT
    }

    /// Whether an unlock needs no fence, and no parked thread is urgent.
    #[inline]
    pub(crate) fn is_light_and_calm(&self) -> bool {
        const FLAGS: u32 = fence::KIND | fence::URGENT;
        // Acquire: see `is_light`.
        self.unlocking.load(Ordering::Acquire) & FLAGS == fence::LIGHT
    }

    /// How fences are paired now, with the generation of that.
    pub(in crate::parking) fn fence(&self) -> u32 {
        self.unlocking.load(Ordering::Relaxed)
    }

    /// Pairs fences so from now on. Under the bucket's lock.
    ///
    /// Release: pairs with [`is_light`](Self::is_light).
    pub(in crate::parking) fn set_fence(&self, fence: u32) {
        self.unlocking.store(fence, Ordering::Release);
    }

    /// The heavy fence of a thread that has seen `NOT_YET` in `seen` has been made: from now on a
    /// full one is enough, unless a thread has stepped back since.
    pub(crate) fn heavy_fence_made(&self, seen: u32) {
        const FLAGS: u32 = fence::REQUEST | fence::URGENT;
        // Relaxed: the heavy fence is behind us.
        let now = self.unlocking.load(Ordering::Relaxed);
        if now & !FLAGS == seen & !FLAGS {
            let fenced = now & !fence::KIND | fence::FENCED;
            // If it fails, the next thread that parks makes another heavy fence.
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.unlocking.compare_exchange(now, fenced, order, failed);
        }
    }

    /// From now on an unlock looks here and has a full fence. A thread that parks needs a heavy fence,
    /// because some are on their way that do neither.
    pub(in crate::parking) fn step_back(&self) {
        let generation = self.fence() & !fence::KIND;
        self.set_fence(generation.wrapping_add(fence::ONE_GENERATION) | fence::NOT_YET);
    }

    /// Counts unlocks that looked here; says how many there were since a thread parked.
    pub(crate) fn count_releases(&self, count: u32) -> u32 {
        // Not a read-modify-write: a count lost now and then only delays what is counted for.
        let releases = self.releases.load(Ordering::Relaxed).wrapping_add(count);
        self.releases.store(releases, Ordering::Relaxed);
        releases
    }

    /// The number of unlocks that looked here since a thread parked; counts anew from 0.
    pub(in crate::parking) fn take_releases(&self) -> u32 {
        let releases = self.releases.load(Ordering::Relaxed);
        self.releases.store(0, Ordering::Relaxed);
        releases
    }
}
