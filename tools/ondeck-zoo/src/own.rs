//! This project's locks in the form that programs use, on the real machine only: the fair one, and
//! those whose C library or kernel names threads. The others are in [`locks`](crate::locks). The
//! modules of [`ondeck`] draw and argue their protocols.

use std::fmt;

use ondeck::fair::RawFairMutex;
use ondeck::lock_api::RawReentrantMutex;
use ondeck::mutex::RawMutex;
use ondeck::platform::Native;
use ondeck::reentrant::RawThreadId;

use crate::{Fairness, LockInfo, Origin, RawLock, Visitor, Waiting};

/// Shows these locks to `visitor`.
pub fn for_each_own(visitor: &mut impl Visitor<Native>) {
    visitor.visit::<OndeckFair>();
    visitor.visit::<OndeckReentrant>();
    #[cfg(all(
        any(target_os = "linux", target_os = "android"),
        not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
    ))]
    visitor.visit::<pi::OndeckPi>();
    #[cfg(all(
        any(target_os = "linux", target_os = "android"),
        target_pointer_width = "64",
        not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
    ))]
    visitor.visit::<ipc::OndeckIpc>();
}

#[cfg(all(
    any(target_os = "linux", target_os = "android"),
    not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
))]
const NO_OWNER_ENDS: &str = "no thread ends while it holds a lock of the zoo";

/// The facts that most of them share.
const OWN: LockInfo =
    LockInfo { origin: Origin::Own, waiting: Waiting::SpinsThenSleeps, ..LockInfo::USUAL };

/// The mutex of [`ondeck::fair`].
///
/// Teaches: the order of arrival costs a wake for each contended pair, even if the queue is in a
/// parking table.
// SAFETY, as a lock: `RawFairMutex` excludes; see its own argument.
#[derive(Debug)]
pub struct OndeckFair(RawFairMutex<Native>);

raw_lock! {
    unsafe impl RawLock<Native> for OndeckFair {
        INFO: LockInfo {
            name: "ondeck_fair",
            fairness: Fairness::Fifo,
            source: "this project, ondeck::FairMutex",
            teaches: "The order of arrival costs a wake for each contended pair",
            ..OWN
        },
        new: Self(RawFairMutex::new()),
        lock: |this, ()| this.0.lock(),
        try_lock: |this, ()| this.0.try_lock(),
        // SAFETY: the caller holds the lock.
        unlock: |this, ()| unsafe { this.0.unlock() },
        is_idle: |this| !this.0.is_locked(),
    }
}

/// The mutex of [`ondeck::reentrant`], measured without nested locks by its owner.
///
/// Teaches: the owner's name and a count are plain accesses beside the one read-modify-write of a
/// mutex.
// SAFETY, as a lock: `RawReentrantMutex` excludes other threads.
pub struct OndeckReentrant(RawReentrantMutex<RawMutex<Native>, RawThreadId>);

impl fmt::Debug for OndeckReentrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OndeckReentrant")
    }
}

raw_lock! {
    unsafe impl RawLock<Native> for OndeckReentrant {
        INFO: LockInfo {
            name: "ondeck_reentrant",
            fairness: Fairness::Bounded,
            source: "this project, ondeck::ReentrantMutex",
            teaches: "Knowing the owner and counting costs plain accesses only",
            ..OWN
        },
        IS_REENTRANT: true,
        new: Self(RawReentrantMutex::INIT),
        lock: |this, ()| this.0.lock(),
        try_lock: |this, ()| this.0.try_lock(),
        // SAFETY: the caller holds the lock.
        unlock: |this, ()| unsafe { this.0.unlock() },
        is_idle: |this| !this.0.is_locked(),
    }
}

#[cfg(all(
    any(target_os = "linux", target_os = "android"),
    not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
))]
mod pi {
    use ondeck::pi::RawPiMutex;

    use super::{Fairness, LockInfo, NO_OWNER_ENDS, Native, OWN, RawLock, Waiting};

    /// The mutex of [`ondeck::pi`].
    ///
    /// Teaches: the kernel's protocol needs no more than the owner's number in the word and, for an
    /// owner that ended, one word beside it.
    // SAFETY, as a lock: `RawPiMutex` excludes; see its own argument.
    #[derive(Debug)]
    pub struct OndeckPi(RawPiMutex);

    raw_lock! {
        unsafe impl RawLock<Native> for OndeckPi {
            INFO: LockInfo {
                name: "ondeck_pi",
                waiting: Waiting::Sleeps,
                fairness: Fairness::Priority,
                source: "this project, ondeck::PiMutex",
                teaches: "An uncontended pair with priority inheritance is two compare-exchanges and no call",
                ..OWN
            },
            new: Self(RawPiMutex::new()),
            lock: |this, ()| this.0.lock().expect(NO_OWNER_ENDS),
            try_lock: |this, ()| this.0.try_lock(),
            // SAFETY: the caller holds the lock.
            unlock: |this, ()| unsafe { this.0.unlock() },
            is_idle: |this| !this.0.is_locked(),
        }
    }
}

#[cfg(all(
    any(target_os = "linux", target_os = "android"),
    target_pointer_width = "64",
    not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
))]
mod ipc {
    use ondeck::ipc::{Mutex, MutexGuard};

    use super::{LockInfo, NO_OWNER_ENDS, Native, OWN, RawLock};
    use crate::Kept;

    /// The mutex of [`ondeck::ipc`], for memory that processes share, measured within one process.
    ///
    /// Teaches: a lock that survives the death of its owner costs an entry in a list of the owner's
    /// thread.
    // SAFETY, as a lock: `ipc::Mutex` excludes; see its own argument.
    #[derive(Debug)]
    pub struct OndeckIpc(Mutex<()>);

    keeps!(keep MutexGuard);

    raw_lock! {
        unsafe impl RawLock<Native> for OndeckIpc {
            INFO: LockInfo {
                name: "ondeck_ipc",
                source: "this project, ondeck::ipc::Mutex",
                teaches: "Surviving the death of an owner costs a place in the list of its thread",
                ..OWN
            },
            Context: Kept<MutexGuard<'static, ()>>,
            // SAFETY: a lock of the zoo is neither moved nor freed while a thread owns it, and
            // guards nothing.
            new: Self(unsafe { Mutex::new(()) }),
            lock: |this, context| keep(context, this.0.lock().expect(NO_OWNER_ENDS)),
            try_lock: |this, context| {
                this.0.try_lock().is_some_and(|found| found.map(|guard| keep(context, guard)).is_ok())
            },
            // SAFETY: the caller acquired the lock with this context.
            unlock: |_, context| drop(unsafe { context.take() }),
            is_idle: |this| !this.0.is_locked(),
        }
    }
}
