//! A futex for one thread to sleep on and one other to wake it: part of the nodes of locks that
//! keep their own list of waiters.
//!
//! ```text
//! woken (u32), the futex: 0 the thread sleeps or is about to · 1 it was chosen
//!
//! change   made by      operation
//! 1 → 0    its thread   store, before another thread can find the node
//! 0 → 1    the waker    store, once; then it wakes the thread
//! ```
//!
//! # Memory ordering
//!
//! The waker's store is `Release` and the thread's load `Acquire`: when the thread runs it sees
//! what the waker did to the node before.

use ondeck::platform::{AtomicInt, Ordering, Platform};

/// The futex, in memory of the thread that sleeps on it.
#[derive(Debug)]
pub(crate) struct Parker<P: Platform> {
    woken: P::AtomicU32,
}

impl<P: Platform> Default for Parker<P> {
    fn default() -> Self {
        Self { woken: AtomicInt::new(0) }
    }
}

impl<P: Platform> Parker<P> {
    /// Called by its thread before another can find the node.
    pub(crate) fn prepare(&self) {
        // Relaxed: whatever publishes the node publishes this.
        self.woken.store(0, Ordering::Relaxed);
    }

    /// Sleeps until another thread calls [`unpark`](Self::unpark); not at all if one has already.
    pub(crate) fn park(&self) {
        while self.woken.load(Ordering::Acquire) == 0 {
            // Every outcome means the same: read the word again.
            let _ = P::futex_wait(&self.woken, 0, None);
        }
    }

    /// Wakes the thread, which may end, and the parker with it, at once.
    ///
    /// # Safety
    ///
    /// The thread has called [`prepare`](Self::prepare) since it was last woken, and no other
    /// thread wakes it, so that it sleeps until this call.
    pub(crate) unsafe fn unpark(parker: *const Self) {
        // SAFETY: as the caller says.
        let address = unsafe { Self::choose(parker) };
        P::futex_wake(address, 1);
    }

    /// Tells the thread that it was chosen, and returns the address that it is to be woken at. For a
    /// waker that holds a lock, and wakes without it.
    ///
    /// # Safety
    ///
    /// As for [`unpark`](Self::unpark).
    pub(crate) unsafe fn choose(parker: *const Self) -> *const P::AtomicU32 {
        // SAFETY: the thread is there until the store below.
        let address = unsafe { &raw const (*parker).woken };
        // SAFETY: as above; after the store only the address is used.
        unsafe { &*address }.store(1, Ordering::Release);
        address
    }
}
