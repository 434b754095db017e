//! A mutex for a lock that one thread uses almost always: that thread makes no atomic read-modify-write.
//!
//! ```text
//! owner     0                 not biased: the inner mutex is the lock
//!           row               biased to the thread that has this row of `parking/visible.rs`
//!           row + REVOKED     no longer biased: its thread may be inside, and no longer enters by its slot
//! inner     the one-byte mutex. Only the thread that has it changes `owner`
//! history   which thread had the lock last, its run, and whether the last biases have paid
//!
//! owner     0 ──► row                  by the thread of the row, which has `inner`, stores the mutex's
//!                                      address into its slot first, and then gives `inner` up
//!           row ──► row + REVOKED      by another thread, which has `inner`; a heavy fence follows
//!           row + REVOKED ──► 0        by a thread that has `inner` and has seen the slot without the address
//!           row ──► 0                  by the thread of the row, which has `inner`; its slot is another lock's
//! ```
//!
//! ```text
//! the thread of the row                       another thread
//!   owner is its row? slot empty?               locks inner
//!   slot := address                             owner := row + REVOKED
//!   light fence                                 heavy fence
//!   owner is still its row? ── yes ──► inside   waits until the slot no longer has the address
//!        │ no                                   owner := 0 ──► inside
//!        └──► slot := 0, locks inner
//!
//!   unlock: slot := 0; light fence              before it sleeps: awaited := 1; heavy fence; checks again
//!   awaited? ── yes ──► wakes
//! ```
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the path of the thread that the lock is biased to, and the decision of each acquisition |
//! | `revoke.rs` | the path of another thread: the revocation, and the wait for the owner |
//! | `history.rs` | when a lock is biased, and when again |
//! | `api.rs` | what programs use: [`BiasedMutex`] and its guards |
//!
//! # Invariants
//!
//! 1. *Exclusion.* A thread is inside by its slot, or it has `inner` and `owner` is 0. While `owner` is a row,
//!    a thread that has `inner` is not inside yet.
//! 2. *Only the thread of a row makes the lock biased to it,* from inside, and is inside by its slot from then on. So an
//!    owner that locks the mutex again finds its slot taken or `inner` locked: it waits for ever, as with the other mutex,
//!    and is never inside twice.
//! 3. *No slot is written by another thread.* Only its row's thread stores an address there, if it is 0, and only the thread
//!    that is inside by it empties it. If an owner comes late, finds the bias gone, and empties its slot, it does not empty
//!    the slot of the next owner.
//! 4. *Nothing is touched after the unlock.* A slot and its futex are static memory. The store that empties the slot is the
//!    last access of an unlock to the mutex; `inner` makes the same promise.
//! 5. *No wake is lost.* A thread sleeps only after a heavy fence between its mark and its last check. So the unlock sees
//!    the mark, or the check sees the slot. Only the thread that clears the mark wakes others, and it wakes all: a thread
//!    whose mark was cleared on behalf of another sets it again.
//!
//! # Threads that end, and forgotten guards
//!
//! A row belongs to a thread until the thread ends. Then another thread may get it, and with it the locks that are biased to
//! it. The new thread is a full substitute: it enters by the same slot. If the old thread was inside, because its guard was
//! forgotten or is dropped by a later destructor, the row stays that thread's for ever (`platform/native/readers.rs`).
//!
//! A guard knows its slot, so its drop needs no row. It cannot be sent to another thread.
//!
//! A forgotten guard leaves the mutex locked at its address. If the mutex is moved, which no reference into its data allows,
//! and the guard was by its bias, the mutex is unlocked: a slot has an address. If the mutex's memory becomes another biased
//! mutex's, that mutex does not become biased to the same thread: a lock is biased only by a thread with an empty slot. (A
//! mutex that was biased to the same thread elsewhere and is then moved there is locked for ever.)
//!
//! In the child of a fork, the only thread keeps its row. If another thread of the parent was inside a lock, the lock stays
//! locked. It also stays locked if the forking thread was inside by its slot while another thread waited for that with
//! `inner`.
//!
//! # Where membarrier is refused
//!
//! If the kernel refuses membarrier(2), no lock becomes biased. If it refuses it later, locks are already biased, and their
//! owners have no fence. A thread that revokes such a bias then waits for 50 ms, a thousand times as long as any store
//! buffer takes to drain, before it reads the slot, as writers of the reader-writer lock do (`rwlock/bias.rs`), and sleeps
//! in bounded slices.
//!
//! # Memory ordering
//!
//! The pair of fences orders the owner's store of the address and its load of `owner` against the other thread's store of
//! `REVOKED` and its load of the slot: Dekker's pattern. In the same way, it orders the unlock's store of 0 and its load of
//! `awaited` against the store of `awaited` and the load of the slot.
//!
//! The protected data is ordered by the slot (`Release` when it is emptied, `Acquire` by the thread that revokes) and by
//! `inner`. The owner's loads are `Relaxed`: only threads of its row store the values by which it enters, and what a thread
//! that had the row before did happened before ([`Host`]).
//!
//! Changes of `owner` and `awaited` by a thread that has `inner` are `Relaxed`: the heavy fence orders them against the
//! owner, and `inner` against all others. The owner clears `awaited` before it wakes the thread, which reads the slot again.
//!
//! # Sources
//!
//! Kiyokuni Kawachiya, Akira Koseki and Tamiya Onodera, "Lock Reservation: Java Locks Can Mostly Do Without Atomic
//! Operations" (OOPSLA 2002); Dave Dice, Mark Moir and William Scherer, "Quickly Reacquirable Locks" (2003); Dave
//! Dice, Hui Huang and Mingyao Yang, "Asymmetric Dekker Synchronization"; Nalini Vasudevan, Kedar Namjoshi and
//! Stephen Edwards, "Simple and Fast Biased Locks" (PACT 2010). The rule that a bias must pay for its revocation is from
//! Kenneth Russell and David Detlefs, "Eliminating Synchronization-Related Atomic Operations with Biased Locking and Bulk
//! Rebiasing" (OOPSLA 2006). Here a row's slot takes the place of a flag in the lock, so the lock may be biased again, to
//! another thread, as soon as it was revoked (3).

mod api;
mod history;
mod revoke;

use core::fmt;
use core::marker::PhantomData;

use crate::mutex::RawMutex;
use crate::parking::Slot;
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

#[cfg(feature = "arc_lock")]
pub use api::ArcBiasedMutexGuard;
pub use api::{BiasedMutex, BiasedMutexGuard, MappedBiasedMutexGuard};
use history::History;

/// Value of `owner`: the lock is not biased.
const NOBODY: usize = 0;
/// Flag in `owner`: the thread of the row no longer enters by its slot. Rows are aligned, so the bit is free.
const REVOKED: usize = 1;

/// A mutex without data, biased to the thread that uses it almost always; see the [module](self) for its protocol.
pub struct RawBiasedMutex<P: Host> {
    owner: P::AtomicUsize,
    history: History<P>,
    inner: RawMutex<P>,
}

/// A lock of the calling thread, with the way it entered. For [`RawBiasedMutex::unlock`].
#[must_use = "without it the mutex stays locked"]
pub struct Held<P: Host> {
    /// `None`: the thread has `inner`.
    slot: Option<&'static Slot<P>>,
    /// Only the thread that filled a slot empties it.
    only_here: PhantomData<*mut ()>,
}

// SAFETY: a shared reference to it gives access to nothing.
unsafe impl<P: Host> Sync for Held<P> {}

impl<P: Host> Held<P> {
    #[inline(always)]
    fn by(slot: Option<&'static Slot<P>>) -> Self {
        Self { slot, only_here: PhantomData }
    }

    /// Returns whether the thread entered by its slot, without an atomic read-modify-write.
    #[inline]
    pub fn is_by_bias(&self) -> bool {
        self.slot.is_some()
    }
}

impl<P: Host> fmt::Debug for Held<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("by_bias", &self.is_by_bias()).finish()
    }
}

impl<P: Host> RawBiasedMutex<P> {
    /// Creates an unlocked mutex that is not biased.
    pub fn new() -> Self {
        Self { owner: AtomicInt::new(NOBODY), history: History::new(), inner: RawMutex::new() }
    }

    #[inline(always)]
    fn address(&self) -> usize {
        (&raw const self.owner).addr()
    }

    /// Waits until the calling thread owns the lock.
    #[inline]
    pub fn lock(&self) -> Held<P> {
        match self.try_biased() {
            Some(slot) => Held::by(Some(slot)),
            None => self.lock_inner(),
        }
    }

    /// Acquires the lock if it is free.
    ///
    /// If the lock is biased to another thread, this revokes the bias by a heavy fence.
    ///
    /// An attempt also fails while another thread has `inner` without acquiring the lock, because that thread's own attempt
    /// fails or its deadline passes. So both may fail if one is the owner's: the owner fills its slot and then finds the
    /// bias revoked, and the other thread has revoked it and sees that slot.
    #[inline]
    pub fn try_lock(&self) -> Option<Held<P>> {
        match self.try_biased() {
            Some(slot) => Some(Held::by(Some(slot))),
            None => self.try_lock_inner(),
        }
    }

    /// As [`lock`](Self::lock), but gives up at the deadline.
    #[inline]
    pub fn try_lock_until(&self, deadline: Timestamp) -> Option<Held<P>> {
        match self.try_biased() {
            Some(slot) => Some(Held::by(Some(slot))),
            None => self.try_lock_inner_until(deadline),
        }
    }

    /// Enters by the calling thread's slot, if the lock is biased to that thread.
    #[inline(always)]
    fn try_biased(&self) -> Option<&'static Slot<P>> {
        let row = P::row()?;
        // spec: Biased!ReadOwner
        // Relaxed, like the next load: only threads of this row store what it compares with, one after the other.
        if self.owner.load(Ordering::Relaxed) != row.address() {
            return None;
        }
        let slot = row.place(self.address());
        if slot.lock.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // spec: Biased!Publish
        // Release: a thread that revokes the bias of another lock which used this slot before may read this store instead of
        // the 0.
        slot.lock.store(self.address(), Ordering::Release);
        // step: light fence of the owner
        P::presumed_light_fence();
        // spec: Biased!LookAgain
        // Relaxed: a thread that has revoked the bias has stored nothing that this one reads before it has `inner`.
        if self.owner.load(Ordering::Relaxed) == row.address() {
            return Some(slot);
        }
        leave(slot);
        None
    }

    /// Not inlined, so that the owner's fast path is.
    #[inline(never)]
    fn lock_inner(&self) -> Held<P> {
        self.inner.lock();
        // Relaxed: only threads that have `inner` change it.
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != NOBODY {
            let outside = self.revoke(owner, None);
            debug_assert!(outside, "without a deadline a wait ends with the lock");
        }
        self.enter()
    }

    #[inline(never)]
    fn try_lock_inner(&self) -> Option<Held<P>> {
        if self.inner.try_lock() { self.settle(|owner| self.revoke_at_once(owner)) } else { None }
    }

    #[inline(never)]
    fn try_lock_inner_until(&self, deadline: Timestamp) -> Option<Held<P>> {
        if !self.inner.try_lock_until(deadline) {
            return None;
        }
        self.settle(|owner| self.revoke(owner, Some(deadline)))
    }

    /// Enters on behalf of the calling thread, which has `inner`, if no bias keeps it out, or if `revoke` returns that none
    /// does any more. Otherwise unlocks `inner`.
    #[inline]
    fn settle(&self, revoke: impl FnOnce(usize) -> bool) -> Option<Held<P>> {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == NOBODY || revoke(owner) {
            return Some(self.enter());
        }
        self.unlock_inner();
        None
    }

    /// Enters on behalf of the calling thread, which has `inner` while `owner` is 0.
    #[inline]
    fn enter(&self) -> Held<P> {
        match P::row() {
            Some(row) if self.history.note(row.address()) => Held::by(self.make_biased()),
            _ => Held::by(None),
        }
    }

    /// Biases the lock to the calling thread, which is inside and has acquired the lock many times in a row. Returns its
    /// slot if it now has the lock by the slot, and no longer has `inner`.
    #[cold]
    #[inline(never)]
    fn make_biased(&self) -> Option<&'static Slot<P>> {
        let row = P::row()?;
        let slot = row.place(self.address());
        // A taken slot may be taken each time this lock is wanted: by a lock around it, or for ever by a forgotten guard.
        if slot.lock.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // Where heavy fences are system calls, they are rationed for the whole process.
        if P::heavy_fences_are_refused() || !P::fences_are_asymmetric() || !P::may_relax() {
            return None;
        }
        self.history.begins(row.address());
        // spec: Biased!Bias
        // Release: see `try_biased`.
        slot.lock.store(self.address(), Ordering::Release);
        // Relaxed: see `try_biased`. Other threads go by it only while they have `inner`.
        self.owner.store(row.address(), Ordering::Relaxed);
        self.unlock_inner();
        Some(slot)
    }

    /// Unlocks.
    ///
    /// # Safety
    ///
    /// `held` is the value that the acquisition of this lock returned.
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "what it stands for ends here")]
    pub unsafe fn unlock(&self, held: Held<P>) {
        match held.slot {
            Some(slot) => leave(slot),
            None => self.unlock_inner(),
        }
    }

    /// Unlocks by a handoff to a waiting thread, unless that is the lock's poller.
    ///
    /// # Safety
    ///
    /// As for [`unlock`](Self::unlock).
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "what it stands for ends here")]
    pub unsafe fn unlock_fair(&self, held: Held<P>) {
        match held.slot {
            // A waiting thread has `inner`, and is the next.
            Some(slot) => leave(slot),
            // SAFETY: the calling thread has `inner`.
            None => unsafe { self.inner.unlock_fair() },
        }
    }

    #[inline(never)]
    fn unlock_inner(&self) {
        // SAFETY: only threads that have `inner` call this.
        unsafe { self.inner.unlock() };
    }

    /// Returns whether the lock is biased to a thread.
    pub fn is_biased(&self) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner != NOBODY && owner & REVOKED == 0
    }

    /// Returns whether a thread has the lock, or tries to acquire it, for assertions and tests.
    pub fn is_locked(&self) -> bool {
        let row = self.owner.load(Ordering::Relaxed) & !REVOKED;
        self.inner.is_locked() || self.place_in(row).is_some_and(|slot| self.is_inside(slot))
    }
}

/// Empties the slot by which the calling thread is inside, or by which it failed to enter. The lock may be gone.
#[inline(always)]
fn leave<P: Host>(slot: &Slot<P>) {
    // spec: Biased!Leave
    // Release: a thread that reads this sees the owner's section. The last access for the lock (4).
    slot.lock.store(0, Ordering::Release);
    // step: light fence of the unlock
    P::presumed_light_fence();
    // spec: Biased!LookForSleepers
    // Relaxed: it comes after a light fence, which pairs with a heavy fence of the thread that sleeps.
    if slot.awaited.load(Ordering::Relaxed) != 0 {
        revoke::wake(slot);
    }
}

impl<P: Host> fmt::Debug for RawBiasedMutex<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = f.debug_struct("RawBiasedMutex");
        told.field("locked", &self.is_locked()).field("biased", &self.is_biased()).finish()
    }
}

impl<P: Host> Default for RawBiasedMutex<P> {
    fn default() -> Self {
        Self::new()
    }
}
