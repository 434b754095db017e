//! This project's mutex for memory that processes share, as a lock of the zoo: measured within one process.
//!
//! Source: `ondeck::ipc`, which draws and argues its protocol.
//!
//! Teaches: a lock that survives the death of its owner costs its place in a list of the owner's thread.

use std::fmt;
use std::mem::transmute;

use ondeck::ipc::{Mutex, MutexGuard};
use ondeck::platform::Native;

use crate::{CondvarKind, Fairness, Kept, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// The mutex of [`ondeck::ipc`].
#[derive(Debug)]
pub struct OndeckIpc(Mutex<()>);

/// The guard, without which it cannot be unlocked.
#[derive(Default)]
pub struct IpcContext(Kept<MutexGuard<'static, ()>>);

impl fmt::Debug for IpcContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IpcContext")
    }
}

impl IpcContext {
    /// Keeps the guard until the unlock.
    #[inline]
    fn keep(&self, guard: MutexGuard<'_, ()>) {
        // SAFETY: only the lifetime differs. The guard is dropped by the unlock, and the lock lives until then.
        self.0.keep(unsafe { transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(guard) });
    }
}

// SAFETY: `ipc::Mutex` excludes; see its own argument.
unsafe impl RawLock<Native> for OndeckIpc {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_ipc",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "this project, ondeck::ipc::Mutex",
        teaches: "Surviving the death of an owner costs a place in the list of its thread",
    };

    type Context = IpcContext;
    type Condvar = SequenceCondvar<Native>;

    fn new() -> Self {
        // SAFETY: a lock of the zoo is neither moved nor freed while a thread owns it, and guards nothing.
        Self(unsafe { Mutex::new(()) })
    }

    #[inline]
    unsafe fn lock(&self, context: &IpcContext) {
        context.keep(self.0.lock().expect("no thread ends while it holds a lock of the zoo"));
    }

    #[inline]
    unsafe fn try_lock(&self, context: &IpcContext) -> bool {
        let found = self.0.try_lock();
        found.is_some_and(|guard| guard.map(|guard| context.keep(guard)).is_ok())
    }

    #[inline]
    unsafe fn unlock(&self, context: &IpcContext) {
        // SAFETY: the caller acquired the lock with this context.
        drop(unsafe { context.0.take() });
    }

    fn is_idle(&mut self) -> bool {
        !self.0.is_locked()
    }
}
