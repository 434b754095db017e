//! This project's own mutex, as a lock of the zoo.
//!
//! Source: `ondeck::mutex` and `ondeck::condvar`, which draw and argue their protocols.
//!
//! Teaches: the thread that parks can pay for the sleeping of a lock. The uncontended pair then
//! costs no more than a spinlock's.

use ondeck::condvar::RawCondvar as OwnCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::Host;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// The one-byte mutex of [`ondeck::mutex`].
// SAFETY, as a lock: `RawMutex` excludes; see its own argument.
#[derive(Debug)]
pub struct OndeckMutex<P: Host>(RawMutex<P>);

raw_lock! {
    unsafe impl [P: Host] RawLock<P> for OndeckMutex<P> {
        INFO: LockInfo {
            name: "ondeck",
            origin: Origin::Own,
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            condvar: CondvarKind::Own,
            source: "this project, ondeck::mutex",
            teaches: "A thread that parks pays for the fence: an uncontended pair costs what a spinlock's does",
            ..LockInfo::USUAL
        },
        Condvar: OndeckCondvar<P>,
        new: Self(RawMutex::new()),
        lock: |this, ()| this.0.lock(),
        try_lock: |this, ()| this.0.try_lock(),
        // SAFETY: the caller holds the lock.
        unlock: |this, ()| unsafe { this.0.unlock() },
        is_idle: |this| !this.0.is_locked(),
    }
}

/// The condition variable of [`ondeck::condvar`].
// SAFETY, as a condition variable: it acquires the mutex again before a wait returns; see its own
// argument on signals.
#[derive(Debug)]
pub struct OndeckCondvar<P: Host>(OwnCondvar<P>);

raw_condvar! {
    unsafe impl [P: Host] RawCondvar<P, OndeckMutex<P>> for OndeckCondvar<P> {
        new: Self(OwnCondvar::new()),
        // SAFETY: the caller holds the lock.
        wait: |this, lock, ()| unsafe { this.0.wait(&lock.0, None) },
        notify_one: |this| this.0.notify_one(),
        notify_all: |this| this.0.notify_all(),
    }
}
