//! A mutex for a lock that one thread uses almost always: that thread makes no atomic read-modify-write.
//!
//! ```text
//! owner     0                 not biased: the inner mutex is the lock
//!           row               biased to the thread that has this row of `parking/visible.rs`
//!           row + REVOKED     no longer: its thread may be inside, and does not come in by its slot any more
//! inner     the one-byte mutex. Only the thread that has it changes `owner`
//! history   which thread had the lock last, how often in a row, and what the last biases were worth
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
//!   owner is still its row? ── yes ──► inside   waits until the slot has not the address
//!        │ no                                   owner := 0 ──► inside
//!        └──► slot := 0, locks inner
//!
//!   unlock: slot := 0; light fence              before it sleeps: awaited := 1; heavy fence; looks again
//!   awaited? ── yes ──► wakes
//! ```
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the way of the thread that the lock is biased to, and what each acquisition decides |
//! | `revoke.rs` | the way of another thread: the revocation, and the wait for the owner |
//! | `history.rs` | when a lock is biased, and when again |
//! | `api.rs` | what programs use: [`BiasedMutex`] and its guards |
//!
//! # Invariants
//!
//! 1. *Exclusion.* A thread is inside by its slot, or it has `inner` and `owner` is 0. While `owner` is a row,
//!    a thread that has `inner` is not inside yet.
//! 2. *Only the thread of a row makes the lock biased to it,* inside, and is inside by its slot from then on. So
//!    an owner that locks the mutex again finds its slot taken or `inner` locked: it waits for ever, as with
//!    the other mutex, and is never inside twice.
//! 3. *No slot is written by another thread.* Only its row's thread puts an address there, if it is 0, and only
//!    the thread that is inside by it empties it. An owner that comes late, finds that the bias is gone, and
//!    empties its slot does not empty that of the next owner.
//! 4. *Nothing is touched after the unlock.* A slot and its futex are static memory. Emptying the slot is the
//!    last thing that an unlock does for the mutex; `inner` keeps the same promise.
//! 5. *No wake is lost.* A thread sleeps only after a heavy fence between its mark and its last look. So the
//!    unlock sees the mark, or the look sees the slot. Only the thread that clears the mark wakes, and it
//!    wakes all: a thread whose mark was cleared for another one marks anew.
//!
//! # Threads that end, and forgotten guards
//!
//! A row is a thread's until the thread ends; then another thread may get it, and the locks that are biased to
//! it. That thread is as good as the first: it enters by the same slot. If the first was inside, because its
//! guard was forgotten or is dropped by a later destructor, the slot is not 0, and the new thread waits, as
//! any other.
//!
//! A guard knows its slot, so it needs no row to be dropped. It cannot be sent to another thread.
//!
//! A forgotten guard leaves the mutex locked where it is. If it is moved, which no reference into its data allows, it is
//! unlocked if the guard was of its bias: a slot has an address. If the mutex's memory becomes another biased
//! mutex's, that one is not biased to the same thread: a lock is biased only by a thread whose slot is empty. (A mutex
//! that was biased to the same thread elsewhere and is then moved there is locked for ever.)
//!
//! In the child of a fork the only thread has the row that it had. A lock that another thread of the parent was
//! inside of stays locked; so does one that the thread which forked was inside of by its slot, while another thread
//! waited for that with `inner`.
//!
//! # Where membarrier is refused
//!
//! No lock becomes biased where the kernel refuses membarrier(2). If it refuses it later, locks are biased
//! already, and their owners have no fence. A thread that revokes such a bias then waits for
//! 50 ms, a thousand times as long as any store buffer takes to drain, before it looks at the slot, as writers
//! of the reader-writer lock do (`rwlock/bias.rs`), and sleeps in bounded slices.
//!
//! # Memory ordering
//!
//! The store of the address and the load of `owner` behind it are ordered against the store of `REVOKED` and the
//! load of the slot by the pair of fences: Dekker's pattern. So are, at the unlock, the store of 0 and the load
//! of `awaited` against the store of `awaited` and the load of the slot.
//!
//! What the lock guards is ordered by the slot (`Release` when it is emptied, `Acquire` by the thread that
//! revokes) and by `inner`. The owner's first loads are `Acquire` for a thread that got the row of another.
//!
//! # Sources
//!
//! Kiyokuni Kawachiya, Akira Koseki and Tamiya Onodera, "Lock Reservation: Java Locks Can Mostly Do Without Atomic
//! Operations" (OOPSLA 2002); Dave Dice, Mark Moir and William Scherer, "Quickly Reacquirable Locks" (2003); Dave
//! Dice, Hui Huang and Mingyao Yang, "Asymmetric Dekker Synchronization"; Nalini Vasudevan, Kedar Namjoshi and
//! Stephen Edwards, "Simple and Fast Biased Locks" (PACT 2010). That a bias has to pay for its revocation is from
//! Kenneth Russell and David Detlefs, "Eliminating Synchronization-Related Atomic Operations with Biased Locking
//! and Bulk Rebiasing" (OOPSLA 2006). Here a row's slot takes the place of a flag in the lock: the lock may be
//! biased again, to another thread, as soon as it was revoked (3).

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

/// Of `owner`: the lock is not biased.
const NOBODY: usize = 0;
/// Of `owner`: the thread of the row does not come in by its slot any more. Rows are aligned.
const REVOKED: usize = 1;

/// A mutex without data that is biased to the thread that uses it almost always; see the [module](self) for its
/// protocol.
pub struct RawBiasedMutex<P: Host> {
    owner: P::AtomicUsize,
    history: History<P>,
    inner: RawMutex<P>,
}

/// A lock of the calling thread: how it came in. For [`RawBiasedMutex::unlock`].
#[must_use = "without it the mutex stays locked"]
pub struct Held<P: Host> {
    /// `None`: it has `inner`.
    slot: Option<&'static Slot<P>>,
    /// A slot is emptied by the thread that filled it.
    only_here: PhantomData<*mut ()>,
}

// SAFETY: a shared reference to it gives nothing.
unsafe impl<P: Host> Sync for Held<P> {}

impl<P: Host> Held<P> {
    #[inline(always)]
    fn by(slot: Option<&'static Slot<P>>) -> Self {
        Self { slot, only_here: PhantomData }
    }

    /// Whether the thread came in by its slot, without an atomic read-modify-write.
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
    /// An unlocked mutex that is not biased.
    pub fn new() -> Self {
        Self { owner: AtomicInt::new(NOBODY), history: History::new(), inner: RawMutex::new() }
    }

    #[inline(always)]
    fn address(&self) -> usize {
        (&raw const self.owner).addr()
    }

    /// Waits until the lock is the calling thread's.
    #[inline]
    pub fn lock(&self) -> Held<P> {
        match self.try_biased() {
            Some(slot) => Held::by(Some(slot)),
            None => self.lock_inner(),
        }
    }

    /// Acquires the lock if it is free.
    ///
    /// If the lock is biased to another thread, that is no longer so: a heavy fence.
    ///
    /// An attempt fails also while another thread has `inner` and does not get the lock in the end, because that
    /// thread's own attempt fails or its deadline passes. So both may fail if one is of the owner, which fills its
    /// slot and then finds the bias revoked, and the other one has revoked it and sees that slot.
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
        // Acquire: pairs with the store of a thread that had this row before.
        if self.owner.load(Ordering::Acquire) != row.address() {
            return None;
        }
        let slot = row.place(self.address());
        // Acquire: pairs with the unlock of such a thread.
        if slot.lock.load(Ordering::Acquire) != 0 {
            return None;
        }
        // spec: Biased!Publish
        // Release: a thread that revokes the bias of the lock that this slot had before may read this store
        // instead of the 0.
        slot.lock.store(self.address(), Ordering::Release);
        // step: light fence of the owner
        P::presumed_light_fence();
        // spec: Biased!LookAgain
        // Relaxed: a thread that has revoked the bias has left nothing that this one reads before it has `inner`.
        if self.owner.load(Ordering::Relaxed) == row.address() {
            return Some(slot);
        }
        leave(slot);
        None
    }

    /// Not inlined, so that the owner's way is.
    #[inline(never)]
    fn lock_inner(&self) -> Held<P> {
        self.inner.lock();
        // Relaxed: it is changed by threads that have `inner`.
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

    /// The calling thread has `inner`, and is inside if no bias keeps it out, or `revoke` says that none does any
    /// more. Else it has not `inner` any more.
    #[inline]
    fn settle(&self, revoke: impl FnOnce(usize) -> bool) -> Option<Held<P>> {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == NOBODY || revoke(owner) {
            return Some(self.enter());
        }
        self.unlock_inner();
        None
    }

    /// The calling thread has `inner`, and `owner` is 0: it is inside.
    #[inline]
    fn enter(&self) -> Held<P> {
        match P::row() {
            Some(row) if self.history.note(row.address()) => Held::by(self.make_biased()),
            _ => Held::by(None),
        }
    }

    /// The calling thread is inside, and has had the lock for many times in a row. Returns its slot if it has the
    /// lock by it from now on, and `inner` no more.
    #[cold]
    #[inline(never)]
    fn make_biased(&self) -> Option<&'static Slot<P>> {
        let row = P::row()?;
        let slot = row.place(self.address());
        // A slot that is taken may be so whenever this lock is wanted: by a lock around it, or for ever by a
        // forgotten guard.
        if slot.lock.load(Ordering::Acquire) != 0 {
            return None;
        }
        // Where heavy fences are system calls, the whole process has few of them.
        if P::heavy_fences_are_refused() || !P::fences_are_asymmetric() || !P::may_relax() {
            return None;
        }
        self.history.begins(row.address());
        // spec: Biased!Bias
        // Release: see `try_biased`.
        slot.lock.store(self.address(), Ordering::Release);
        // Release: for a thread that gets this row, and finds the lock biased to it.
        self.owner.store(row.address(), Ordering::Release);
        self.unlock_inner();
        Some(slot)
    }

    /// Unlocks.
    ///
    /// # Safety
    ///
    /// `held` is what the acquisition of this lock returned.
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "what it stands for ends here")]
    pub unsafe fn unlock(&self, held: Held<P>) {
        match held.slot {
            Some(slot) => leave(slot),
            None => self.unlock_inner(),
        }
    }

    /// Unlocks. A thread that waits, and is not the lock's poller, is handed the lock.
    ///
    /// # Safety
    ///
    /// As for [`unlock`](Self::unlock).
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "what it stands for ends here")]
    pub unsafe fn unlock_fair(&self, held: Held<P>) {
        match held.slot {
            // A thread that waits has `inner`, and is the next.
            Some(slot) => leave(slot),
            // SAFETY: the calling thread has `inner`.
            None => unsafe { self.inner.unlock_fair() },
        }
    }

    #[inline(never)]
    fn unlock_inner(&self) {
        // SAFETY: it is called by threads that have `inner`.
        unsafe { self.inner.unlock() };
    }

    /// Whether the lock is biased to a thread.
    pub fn is_biased(&self) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner != NOBODY && owner & REVOKED == 0
    }

    /// Whether a thread has the lock, or tries to, for assertions and tests.
    pub fn is_locked(&self) -> bool {
        let row = self.owner.load(Ordering::Relaxed) & !REVOKED;
        self.inner.is_locked() || self.place_in(row).is_some_and(|slot| self.is_inside(slot))
    }
}

/// The calling thread leaves: empties the slot by which it is inside, or by which it has not come in. The lock may
/// be gone.
#[inline(always)]
fn leave<P: Host>(slot: &Slot<P>) {
    // spec: Biased!Leave
    // Release: a thread that reads this sees what the owner did. The last thing done for the lock (4).
    slot.lock.store(0, Ordering::Release);
    // step: light fence of the unlock
    P::presumed_light_fence();
    // spec: Biased!LookForSleepers
    // Relaxed: behind a light fence, with a heavy fence of the thread that sleeps.
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
