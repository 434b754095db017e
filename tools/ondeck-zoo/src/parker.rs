//! A futex on which one thread sleeps and which another wakes: part of the nodes of locks that keep
//! their own list of waiters.
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
//! The waker's store is `Release` and the thread's load `Acquire`: the thread sees what the waker
//! did to the node before.

use ondeck::platform::{AtomicInt, Ordering, Platform};

/// The futex, in memory of the sleeping thread.
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
        // Relaxed: the operation that publishes the node publishes this.
        self.woken.store(0, Ordering::Relaxed);
    }

    /// Sleeps until another thread calls [`unpark`](Self::unpark); returns at once if one already
    /// has.
    pub(crate) fn park(&self) {
        while self.woken.load(Ordering::Acquire) == 0 {
            // Every result means the same: reread the word.
            let _ = P::futex_wait(&self.woken, 0, None);
        }
    }

    /// Wakes the thread. The thread may end at once, and the parker with it.
    ///
    /// # Safety
    ///
    /// The thread has called [`prepare`](Self::prepare) since it was last woken, and no other
    /// thread wakes it, so that it sleeps until this call.
    pub(crate) unsafe fn unpark(parker: *const Self) {
        // SAFETY: the thread waits, and keeps its parker, until the store below.
        let address = unsafe { &raw const (*parker).woken };
        // SAFETY: as above; after the store only the address is used.
        unsafe { &*address }.store(1, Ordering::Release);
        P::futex_wake(address, 1);
    }
}
