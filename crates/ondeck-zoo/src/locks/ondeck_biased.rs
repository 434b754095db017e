//! This project's biased mutex, as a lock of the zoo.
//!
//! Source: `ondeck::biased`, which draws and argues its protocol.
//!
//! Teaches: the thread that has a lock almost always needs no atomic read-modify-write. The others pay for it, by a
//! fence of all CPUs when they come.

use std::fmt;

use ondeck::biased::{Held, RawBiasedMutex};
use ondeck::platform::Host;

use crate::{CondvarKind, Fairness, Kept, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// The mutex of [`ondeck::biased`].
#[derive(Debug)]
pub struct OndeckBiased<P: Host>(RawBiasedMutex<P>);

/// How a thread came in: by its bias or not.
pub struct BiasedContext<P: Host>(Kept<Held<P>>);

impl<P: Host> Default for BiasedContext<P> {
    fn default() -> Self {
        Self(Kept::default())
    }
}

impl<P: Host> fmt::Debug for BiasedContext<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BiasedContext")
    }
}

// SAFETY: `RawBiasedMutex` excludes; see its own argument.
unsafe impl<P: Host> RawLock<P> for OndeckBiased<P> {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_biased",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "this project, ondeck::biased",
        teaches: "The thread that has a lock almost always needs no atomic read-modify-write; others pay for it",
    };

    type Context = BiasedContext<P>;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self(RawBiasedMutex::new())
    }

    #[inline]
    unsafe fn lock(&self, context: &BiasedContext<P>) {
        context.0.keep(self.0.lock());
    }

    #[inline]
    unsafe fn try_lock(&self, context: &BiasedContext<P>) -> bool {
        self.0.try_lock().map(|held| context.0.keep(held)).is_some()
    }

    #[inline]
    unsafe fn unlock(&self, context: &BiasedContext<P>) {
        // SAFETY: the caller acquired the lock with this context.
        unsafe { self.0.unlock(context.0.take()) };
    }

    fn is_idle(&mut self) -> bool {
        !self.0.is_locked()
    }
}
