//! Semaphores: a limited number of threads at once.

use std::sync::{Condvar, Mutex, PoisonError};

use ondeck::platform::{Host, Native, Platform};

use super::PEER;
use crate::{LockInfo, Origin, Waiting};

/// A counting semaphore.
pub trait RawSemaphore<P: Platform>: Sized + Send + Sync + 'static {
    /// The facts of this semaphore.
    const INFO: LockInfo;

    /// A semaphore with this number of permits.
    fn new(permits: u32) -> Self;

    /// Takes a permit; waits until one is available.
    fn acquire(&self);

    /// Returns a permit, or adds one.
    fn release(&self);
}

/// An operation on every type of semaphore; see [`Visitor`](crate::Visitor).
pub trait SemaphoreVisitor<P: Platform> {
    /// Called once for each.
    fn visit<S: RawSemaphore<P>>(&mut self);
}

/// This project's semaphore.
impl<P: Host> RawSemaphore<P> for ondeck::Semaphore<P> {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_semaphore",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        touches_after_release: false,
        source: "this project, ondeck::Semaphore",
        teaches: "Threads compete for permits, and one that has waited for a millisecond is granted its own",
        ..PEER
    };

    fn new(permits: u32) -> Self {
        Self::on_platform(permits)
    }

    #[inline]
    fn acquire(&self) {
        self.acquire();
    }

    #[inline]
    fn release(&self) {
        self.release(1);
    }
}

/// A count guarded by `std::sync::Mutex`, with `std::sync::Condvar`: the usual substitute where a
/// program's library has no semaphore.
#[derive(Debug)]
pub struct CondvarSemaphore {
    permits: Mutex<u32>,
    more: Condvar,
}

impl RawSemaphore<Native> for CondvarSemaphore {
    const INFO: LockInfo = LockInfo {
        name: "condvar_semaphore",
        origin: Origin::Literature,
        waiting: Waiting::SpinsThenSleeps,
        source: "C.A.R. Hoare, Monitors: An Operating System Structuring Concept (1974), over std's mutex",
        teaches: "What a semaphore of its own has to be better than: a lock and a notification for each release",
        ..PEER
    };

    fn new(permits: u32) -> Self {
        Self { permits: Mutex::new(permits), more: Condvar::new() }
    }

    #[inline]
    fn acquire(&self) {
        let mut permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        while *permits == 0 {
            permits = self.more.wait(permits).unwrap_or_else(PoisonError::into_inner);
        }
        *permits -= 1;
    }

    #[inline]
    fn release(&self) {
        *self.permits.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.more.notify_one();
    }
}
