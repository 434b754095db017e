//! Readers: the count goes up if there is no writer, and down again.

use super::{ASLEEP, ONE, READERS, RawRwLock, Shared, Want};
use crate::parking::{Kind, status};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

impl<P: Host> RawRwLock<P> {
    /// Waits until the calling thread has a read lock.
    ///
    /// A thread that holds one already may wait for ever, because a writer that waits keeps readers out:
    /// see [`lock_shared_recursive`](Self::lock_shared_recursive).
    #[inline]
    pub fn lock_shared(&self) -> Shared<P> {
        self.try_lock_shared().unwrap_or_else(|| self.wait_shared(Want::Read))
    }

    /// Takes a read lock if there is no writer.
    #[inline]
    pub fn try_lock_shared(&self) -> Option<Shared<P>> {
        self.attempt(Want::Read, 0).then(Shared::counted)
    }

    /// As [`lock_shared`](Self::lock_shared), but gives up at the deadline.
    #[inline]
    pub fn try_lock_shared_until(&self, deadline: Timestamp) -> Option<Shared<P>> {
        self.try_lock_shared()
            .or_else(|| self.wait(Want::Read, Some(deadline)).then(Shared::counted))
    }

    /// As [`lock_shared`](Self::lock_shared), but never waits for a writer that waits itself: for a thread
    /// that may have a read lock already.
    #[inline]
    pub fn lock_shared_recursive(&self) -> Shared<P> {
        self.try_lock_shared_recursive().unwrap_or_else(|| self.wait_shared(Want::Recursive))
    }

    /// Takes a read lock if no writer owns the lock.
    #[inline]
    pub fn try_lock_shared_recursive(&self) -> Option<Shared<P>> {
        self.attempt(Want::Recursive, 0).then(Shared::counted)
    }

    /// As [`lock_shared_recursive`](Self::lock_shared_recursive), but gives up at the deadline.
    #[inline]
    pub fn try_lock_shared_recursive_until(&self, deadline: Timestamp) -> Option<Shared<P>> {
        self.try_lock_shared_recursive()
            .or_else(|| self.wait(Want::Recursive, Some(deadline)).then(Shared::counted))
    }

    fn wait_shared(&self, want: Want) -> Shared<P> {
        let holds = self.wait(want, None);
        debug_assert!(holds, "without a deadline a wait ends with the lock");
        Shared::counted()
    }

    /// Gives a read lock up.
    ///
    /// # Safety
    ///
    /// `held` is what the acquisition of this lock returned.
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "what it stands for ends here")]
    pub unsafe fn unlock_shared(&self, held: Shared<P>) {
        let Shared { .. } = held;
        let address = self.address();
        // spec: RwLock!ReaderLeaves
        // Release: a writer sees what readers did before it. The last access (4).
        let before = self.state.fetch_sub(ONE, Ordering::Release);
        if before & (READERS | ASLEEP) == ONE | ASLEEP {
            wake_drainer::<P>(address);
        }
    }

    /// Gives a read lock up for a moment if a writer waits, and gets one back.
    ///
    /// # Safety
    ///
    /// As for [`unlock_shared`](Self::unlock_shared).
    pub unsafe fn bump_shared(&self, held: &mut Shared<P>) {
        if self.state.load(Ordering::Relaxed) & super::WRITER == 0 {
            return;
        }
        let held_before = core::mem::replace(held, Shared::counted());
        // SAFETY: as the caller promises.
        unsafe { self.unlock_shared(held_before) };
        *held = self.lock_shared();
    }
}

/// The last reader has left the lock at `address`: has the writer look that waits for that.
///
/// The lock may be gone (4). If there is another one at its address, its writer looks once more than it
/// had to.
#[cold]
#[inline(never)]
pub(super) fn wake_drainer<P: Host>(address: usize) {
    // spec: RwLock!WakeDrainer
    let guard = P::bucket(address).lock();
    let Some(node) = guard.oldest(Kind::Readers, address) else { return };
    // SAFETY: it is linked.
    unsafe { guard.unlink(Kind::Readers, node) };
    let word = node.tell(status::DONE);
    drop(guard);
    P::futex_wake(word, 1);
}
