//! The condition variable.

use core::ops::DerefMut;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::time::Instant;

use lock_api::{GuardNoSend, RawMutex as _};

use super::mutex::RawMutex;
use super::{
    Made, MutexGuard, ReentrantMutexGuard, RwLockReadGuard, RwLockWriteGuard, checker, std,
};

/// The counts are relaxed, because the threads of a model take turns.
pub struct Condvar {
    object: Made<checker::Condvar>,
    /// The number of threads that wait and have not been notified. A thread that is about to wait
    /// counts: only a notifier without the mutex could see the difference.
    waiting: AtomicUsize,
    /// The number of threads that wait with another lock than a mutex. They hold the gate from
    /// before they unlock it until they wait, so that no notification comes in between.
    others: AtomicUsize,
    gate: RawMutex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(());

impl WaitTimeoutResult {
    pub const fn timed_out(self) -> bool {
        false
    }
}

impl Condvar {
    pub const fn new() -> Self {
        Self {
            object: Made::new(),
            waiting: AtomicUsize::new(0),
            others: AtomicUsize::new(0),
            gate: RawMutex::new(),
        }
    }

    fn pass_the_gate(&self) {
        if self.others.load(Ordering::Relaxed) != 0 {
            let guard = self.gate.lock();
            // SAFETY: it was just locked.
            unsafe { self.gate.unlock(guard) };
        }
    }

    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.pass_the_gate();
        let waiting = self.waiting.load(Ordering::Relaxed);
        self.waiting.store(waiting.saturating_sub(1), Ordering::Relaxed);
        self.object.get().notify_one();
        waiting != 0
    }

    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.pass_the_gate();
        let waiting = self.waiting.swap(0, Ordering::Relaxed);
        self.object.get().notify_all();
        waiting
    }

    #[track_caller]
    pub fn wait<G: Waitable>(&self, guard: &mut G) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        guard.wait_at(self);
    }

    #[track_caller]
    pub fn wait_while<G: Waitable + DerefMut>(
        &self,
        guard: &mut G,
        mut condition: impl FnMut(&mut G::Target) -> bool,
    ) {
        while condition(&mut *guard) {
            self.wait(guard);
        }
    }

    #[track_caller]
    pub fn wait_until<G: Waitable>(&self, guard: &mut G, _: Instant) -> WaitTimeoutResult {
        self.wait(guard);
        WaitTimeoutResult(())
    }

    #[track_caller]
    pub fn wait_for<G: Waitable>(&self, guard: &mut G, _: Duration) -> WaitTimeoutResult {
        self.wait(guard);
        WaitTimeoutResult(())
    }

    #[track_caller]
    pub fn wait_while_until<G: Waitable + DerefMut>(
        &self,
        guard: &mut G,
        condition: impl FnMut(&mut G::Target) -> bool,
        _: Instant,
    ) -> WaitTimeoutResult {
        self.wait_while(guard, condition);
        WaitTimeoutResult(())
    }

    #[track_caller]
    pub fn wait_while_for<G: Waitable + DerefMut>(
        &self,
        guard: &mut G,
        condition: impl FnMut(&mut G::Target) -> bool,
        _: Duration,
    ) -> WaitTimeoutResult {
        self.wait_while(guard, condition);
        WaitTimeoutResult(())
    }

    /// Waits with a lock that `unlocked` unlocks while a closure runs.
    fn wait_with(&self, unlocked: impl FnOnce(&dyn Fn())) {
        self.others.fetch_add(1, Ordering::Relaxed);
        self.gate.lock();
        unlocked(&|| {
            // SAFETY: it was locked above.
            unsafe {
                self.gate.wait(self.object.get());
                self.gate.unlock(GuardNoSend::new());
            }
            self.others.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Condvar {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Condvar { .. }")
    }
}

pub trait Waitable: sealed::Guard {}

impl<G: sealed::Guard> Waitable for G {}

mod sealed {
    use super::Condvar;

    pub trait Guard {
        #[track_caller]
        fn wait_at(&mut self, condvar: &Condvar);
    }
}

impl<T: ?Sized> sealed::Guard for MutexGuard<'_, T> {
    #[track_caller]
    fn wait_at(&mut self, condvar: &Condvar) {
        // SAFETY: the guard, which nothing else uses now, holds the mutex, and does again after the
        // wait.
        unsafe { Self::mutex(self).raw().wait(condvar.object.get()) };
    }
}

macro_rules! waits_unlocked {
    ($($Guard:ident)*) => {$(
        impl<T: ?Sized> sealed::Guard for $Guard<'_, T> {
            fn wait_at(&mut self, condvar: &Condvar) {
                condvar.wait_with(|wait| Self::unlocked(self, wait));
            }
        }
    )*};
}
waits_unlocked!(ReentrantMutexGuard RwLockReadGuard RwLockWriteGuard);
