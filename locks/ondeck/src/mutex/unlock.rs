//! Unlocking: the store, and, if a waiting thread has placed a request, the wake or the offer.

use super::{RawMutex, roles};
use crate::parking::{QUIET, Request};
use crate::platform::{AtomicInt, Host, Ordering};
use crate::spin::{Waits, wait_for};

impl<P: Host> RawMutex<P> {
    /// Unlocks.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock(&self) {
        let mode = P::unlock_mode(self.address());
        // spec: Mutex!ReadModeBefore
        // Relaxed: an older value costs an overdue heir one more turn of the owner, and nothing
        // else.
        let asks = mode.load(Ordering::Relaxed);
        if asks != QUIET && is_of_this(asks, self.address()) {
            return self.unlock_slow();
        }
        let byte = self.byte();
        // spec: Mutex!Release
        self.locked.store(0, Ordering::Release);
        // A thread that relies on the load below makes a heavy fence: see `heir.rs`.
        P::presumed_light_fence();
        // spec: Mutex!ReadModeAfter
        let asks = mode.load(Ordering::Relaxed);
        if asks != QUIET && is_of_this(asks, byte.addr()) {
            look::<P>(byte);
        }
    }

    /// Unlocks after the caller has read a request to this mutex.
    #[cold]
    #[inline(never)]
    pub(super) fn unlock_slow(&self) {
        let byte = self.byte();
        // spec: Mutex!ReadHand
        match asked::<P>(byte.addr()) {
            Some(Request::Offer) if offer::<P>(byte, false) => return,
            Some(Request::Debt) => settle::<P>(byte.addr()),
            _ => {}
        }
        // spec: Mutex!Release
        self.locked.store(0, Ordering::Release);
        P::presumed_light_fence();
        look::<P>(byte);
    }

    /// Unlocks by an offer to the thread that has waited longest, if there is one.
    ///
    /// That thread may be asleep, so the lock rests until it runs: for some microseconds in which
    /// [`unlock`](Self::unlock) would have let other threads acquire it. If it does not run for a
    /// turn, another waiting thread takes the lock.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock_fair(&self) {
        // spec: Mutex!HandFair
        if !self.may_be_awaited() || !offer::<P>(self.byte(), true) {
            // SAFETY: as the caller promises.
            unsafe { self.unlock() };
        }
    }

    /// Gives the thread that has waited longest, if there is one, a turn with the lock, and then
    /// locks again: [`unlock_fair`](Self::unlock_fair) and [`lock`](Self::lock), or only a load if
    /// no thread waits.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn bump(&self) {
        // spec: Mutex!HandFair
        if self.may_be_awaited() && offer::<P>(self.byte(), true) {
            self.lock();
        }
    }

    /// Returns, to the owner, whether a thread may wait. A waiter that the owner does not see yet
    /// is about to poll.
    #[inline]
    pub(crate) fn may_be_awaited(&self) -> bool {
        P::bucket(self.address()).has_queues()
    }
}

/// Returns whether a mode other than quiet names the lock at `address`. It is a separate call, so
/// that nothing of it is computed before the mode is known.
#[cold]
#[inline(never)]
fn is_of_this(mode: usize, address: usize) -> bool {
    Request::read(mode, address).is_some()
}

/// Returns the request to unlocks of the lock at `address`.
fn asked<P: Host>(address: usize) -> Option<Request> {
    Request::read(P::unlock_mode(address).load(Ordering::Relaxed), address)
}

/// Serves the request after the lock at `byte` was unlocked, if the request is to this lock and not
/// to another lock of its bucket.
///
/// From here on the mutex may be gone (4): `byte` is an address to compare.
#[cold]
#[inline(never)]
pub(super) fn look<P: Host>(byte: *const P::AtomicU8) {
    let address = byte.addr();
    // spec: Mutex!Look
    if asked::<P>(address).is_none() {
        return;
    }
    // spec: Mutex!Serve
    let guard = P::bucket(address).lock();
    if let Some(word) = roles::serve(&guard, address, P::ticks() as usize) {
        drop(guard);
        wake::<P>(word);
    }
}

/// Waits for the displaced owner, if the lock is captured and the caller owns it with a debt: the
/// displaced owner comes at once, and settles the debt before it sleeps. If the lock were free
/// meanwhile, that thread would take the caller's turn.
///
/// It waits for a long pause at most. A debt that is left is served as usual.
#[cold]
fn settle<P: Host>(address: usize) {
    let start = P::ticks() as usize;
    if !P::bucket(address).is_captured(address, start) {
        return;
    }
    let (most, mut now) = (Waits::now::<P>().long, start);
    while now.wrapping_sub(start) < most && asked::<P>(address) == Some(Request::Debt) {
        now = wait_for::<P>(now, P::transfer_ticks());
    }
}

/// Wakes a thread that waits for the lock.
fn wake<P: Host>(word: roles::Wake<P>) {
    // spec: Mutex!FutexWake
    // By address: the thread may have left, and its node may be gone.
    P::futex_wake(word, 1);
}

/// Offers the lock at `byte`, which the caller owns, to the heir that requests it, or to the oldest
/// waiter if `unasked`. Returns false if there is no such thread: then the caller still owns the
/// lock.
#[cold]
#[inline(never)]
fn offer<P: Host>(byte: *const P::AtomicU8, unasked: bool) -> bool {
    let address = byte.addr();
    // spec: Mutex!HandOver
    let guard = P::bucket(address).lock();
    let word = roles::offer(&guard, address, unasked, P::ticks() as usize);
    drop(guard);
    if let Some(word) = word {
        wake::<P>(word);
        if let Some(history) = P::bucket(address).history(address) {
            history.note_offered(P::ticks() as usize);
        }
    }
    word.is_some()
}
