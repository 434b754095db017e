//! Locks of this crate within another package's, such as the replacements of parking_lot in
//! `drop-in/`: their operations are observed as those of the locks themselves are.

pub use super::observer::Access;
use super::observer::{Guards, Kind, Observed, Place};

/// A lock whose guards are those of another package. If they may move to another thread, the lock
/// is not observed: observers know a lock by the thread that holds it.
pub struct Wrapped<'a, L, const MAY_MOVE: bool>(pub(crate) &'a L);

impl<'a, L: Observed, const MAY_MOVE: bool> Wrapped<'a, L, MAY_MOVE> {
    /// The operations of this lock.
    #[inline(always)]
    pub fn of(lock: &'a L) -> Self {
        Self(lock)
    }

    /// Acquires the lock by `block`, or before that by `attempt` if the lock is observed.
    #[inline(always)]
    #[track_caller]
    pub fn lock(self, access: Access, attempt: impl FnOnce() -> bool, block: impl FnOnce()) {
        super::lock(&self, access, || attempt().then_some(()), block);
    }

    /// Acquires the lock by `attempt`, or else by `block`, which gives up at a deadline. Returns
    /// whether the caller has it.
    #[inline(always)]
    #[track_caller]
    pub fn lock_until(
        self,
        access: Access,
        attempt: impl FnOnce() -> bool,
        block: impl FnOnce() -> bool,
    ) -> bool {
        let attempt = || attempt().then_some(());
        super::lock_until(&self, access, attempt, || block().then_some(())).is_some()
    }

    /// Acquires the lock by `attempt`, which does not wait. Returns whether the caller has it.
    #[inline(always)]
    pub fn try_lock(self, access: Access, attempt: impl FnOnce() -> bool) -> bool {
        super::try_lock(&self, access, || attempt().then_some(())).is_some()
    }

    /// Unlocks the lock by `unlock`.
    #[inline(always)]
    #[track_caller]
    pub fn unlock(self, access: Access, unlock: impl FnOnce()) {
        super::unlock(&self, access, unlock);
    }

    /// Lets another thread have the lock for a turn, by `bump`.
    #[inline(always)]
    #[track_caller]
    pub fn bump(self, access: Access, bump: impl FnOnce()) {
        super::bump(&self, access, bump);
    }

    /// Reports that the calling thread, which holds the lock in one way, is about to hold it in
    /// another.
    #[inline(always)]
    pub fn changes(self, from: Access, to: Access) {
        super::changes(&self, from, to);
    }
}

impl<L: Observed, const MAY_MOVE: bool> Observed for Wrapped<'_, L, MAY_MOVE> {
    type Platform = L::Platform;
    const KIND: Kind = L::KIND;
    const GUARDS: Guards = if MAY_MOVE { Guards::Movable } else { Guards::Wrapped };

    fn name(&self) -> usize {
        self.0.name()
    }

    fn place(&self) -> &Place {
        self.0.place()
    }

    fn is_held(&self) -> bool {
        self.0.is_held()
    }

    #[inline]
    fn may_be_awaited(&self) -> bool {
        self.0.may_be_awaited()
    }
}
