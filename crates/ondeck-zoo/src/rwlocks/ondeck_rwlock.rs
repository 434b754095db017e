//! This project's own reader-writer lock, as a lock of the zoo.
//!
//! Source: `ondeck::rwlock`, which draws and argues its protocol.
//!
//! Teaches: a writer that takes its bit first and then waits for the readers of that moment bounds its wait,
//! and four bytes suffice for it.

use ondeck::platform::Host;
use ondeck::rwlock::{RawRwLock as Raw, Shared};

use crate::kept::Kept;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// The four-byte lock of [`ondeck::rwlock`].
#[derive(Debug)]
pub struct OndeckRwLock<P: Host>(Raw<P>);

// SAFETY: its writers exclude; see its own argument.
unsafe impl<P: Host> RawRwLock<P> for OndeckRwLock<P> {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_rwlock",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Without,
        source: "this project, ondeck::rwlock",
        teaches: "A writer waits for the readers of one moment only, and four bytes suffice for that",
    };

    type Read = Kept<Shared<P>>;
    type Write = ();

    fn new() -> Self {
        Self(Raw::new())
    }

    #[inline]
    unsafe fn read(&self, context: &Self::Read) {
        context.keep(self.0.lock_shared());
    }

    #[inline]
    unsafe fn try_read(&self, context: &Self::Read) -> bool {
        self.0.try_lock_shared().map(|held| context.keep(held)).is_some()
    }

    #[inline]
    unsafe fn unlock_read(&self, context: &Self::Read) {
        // SAFETY: this thread acquired the lock with this context, which has kept what that returned.
        unsafe { self.0.unlock_shared(context.take()) };
    }

    #[inline]
    unsafe fn write(&self, (): &()) {
        self.0.lock_exclusive();
    }

    #[inline]
    unsafe fn try_write(&self, (): &()) -> bool {
        self.0.try_lock_exclusive()
    }

    #[inline]
    unsafe fn unlock_write(&self, (): &()) {
        // SAFETY: the calling thread is the writer.
        unsafe { self.0.unlock_exclusive() };
    }

    fn is_idle(&mut self) -> bool {
        !self.0.is_locked()
    }
}
