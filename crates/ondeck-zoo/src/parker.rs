//! A place for one thread to sleep, from which another wakes it and no third: what locks that keep
//! their own list of sleepers put into its nodes.
//!
//! ```text
//! woken: 0 the thread sleeps or is about to · 1 it was chosen; set once by the waker, cleared by the
//!        thread itself before it can be found again
//! ```
//!
//! The waker's store is `Release` and the sleeper's load `Acquire`: what the waker did to the node
//! before is seen by the thread when it runs.

use ondeck::platform::{AtomicInt, Ordering, Platform};

/// Lies in the memory of the thread that sleeps on it.
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
    /// To be called by its thread before anybody can find it.
    pub(crate) fn prepare(&self) {
        // Relaxed: whatever publishes the node publishes this.
        self.woken.store(0, Ordering::Relaxed);
    }

    /// Sleeps until another thread calls [`unpark`](Self::unpark); not at all if it has already.
    pub(crate) fn park(&self) {
        while self.woken.load(Ordering::Acquire) == 0 {
            // Every outcome means the same: look again.
            let _ = P::futex_wait(&self.woken, 0, None);
        }
    }

    /// Wakes the thread, which may leave, and take the parker with it, at once.
    ///
    /// # Safety
    ///
    /// The thread has called [`prepare`](Self::prepare) since it was last woken, and nobody else
    /// wakes it: it stays until this does.
    pub(crate) unsafe fn unpark(parker: *const Self) {
        // SAFETY: the thread is there until the store below.
        let address = unsafe { &raw const (*parker).woken };
        // SAFETY: as above; after the store only the address is used.
        unsafe { &*address }.store(1, Ordering::Release);
        P::futex_wake(address, 1);
    }
}
