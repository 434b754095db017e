//! This project's mutex, with an owner that asks for a longer time slice.
//!
//! Source: `ondeck::mutex` for the lock; Thomas Gleixner, "rseq: Implement time slice extension mechanism" (Linux 7.0)
//! for the request.
//!
//! Teaches: where threads outnumber CPUs, an owner that loses its CPU inside its section keeps all others waiting for
//! the slices of the threads that run meanwhile. Few sections are longer than some microseconds, so a slice that is
//! extended by as much ends outside of them.
//!
//! The owner asks after it has locked, so that no waiter runs longer for it, and gives back after it has unlocked. If
//! the unlock has to wake a thread, and the time was granted, the system call of the wake costs the owner its CPU
//! before the wake is made. The lock is free by then; without the extension the thread would have lost its CPU inside
//! the section.

use std::cell::Cell;

use ondeck::platform::Host;

use super::OndeckMutex;
use crate::{CondvarKind, LockInfo, RawLock, SequenceCondvar};

/// The mutex of [`ondeck::mutex`], with [`Threads::extend_slice`](ondeck::platform::Threads::extend_slice).
#[derive(Debug)]
pub struct OndeckSliced<P: Host>(OndeckMutex<P>);

/// Whether the owner's request has to be given back.
#[derive(Debug, Default)]
pub struct SlicedContext {
    asks: Cell<bool>,
}

// SAFETY: the inner lock excludes, and nothing else is done to it.
unsafe impl<P: Host> RawLock<P> for OndeckSliced<P> {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_sliced",
        condvar: CondvarKind::Generic,
        source: "this project, ondeck::mutex; Gleixner, rseq: Implement time slice extension mechanism (2026)",
        teaches: "An owner whose time slice ends asks for some microseconds more, and unlocks in them",
        ..OndeckMutex::<P>::INFO
    };

    type Context = SlicedContext;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self(OndeckMutex::new())
    }

    #[inline]
    unsafe fn lock(&self, context: &SlicedContext) {
        // SAFETY: as the caller says.
        unsafe { self.0.lock(&()) };
        context.asks.set(P::extend_slice());
    }

    #[inline]
    unsafe fn try_lock(&self, context: &SlicedContext) -> bool {
        // SAFETY: as the caller says.
        let locked = unsafe { self.0.try_lock(&()) };
        if locked {
            context.asks.set(P::extend_slice());
        }
        locked
    }

    #[inline]
    unsafe fn unlock(&self, context: &SlicedContext) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock(&()) };
        if context.asks.get() {
            P::give_back_slice();
        }
    }

    fn is_idle(&mut self) -> bool {
        self.0.is_idle()
    }
}
