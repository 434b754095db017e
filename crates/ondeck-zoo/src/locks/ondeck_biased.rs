//! This project's biased mutex, as a lock of the zoo.
//!
//! Source: `ondeck::biased`, which draws and argues its protocol.
//!
//! Teaches: the thread that acquires a lock nearly always needs no atomic read-modify-write. The others pay for it,
//! by a fence of all CPUs when they arrive.

use ondeck::biased::{Held, RawBiasedMutex};
use ondeck::platform::Host;

use crate::{Fairness, Kept, LockInfo, Origin, RawLock, Waiting};

/// The mutex of [`ondeck::biased`].
// SAFETY, as a lock: `RawBiasedMutex` excludes; see its own argument.
#[derive(Debug)]
pub struct OndeckBiased<P: Host>(RawBiasedMutex<P>);

raw_lock! {
    unsafe impl [P: Host] RawLock<P> for OndeckBiased<P> {
        INFO: LockInfo {
            name: "ondeck_biased",
            origin: Origin::Own,
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            source: "this project, ondeck::biased",
            teaches: "The thread that has a lock almost always needs no atomic read-modify-write; others pay for it",
            ..LockInfo::USUAL
        },
        // How a thread acquired: by its bias or not.
        Context: Kept<Held<P>>,
        new: Self(RawBiasedMutex::new()),
        lock: |this, context| context.keep(this.0.lock()),
        try_lock: |this, context| this.0.try_lock().map(|held| context.keep(held)).is_some(),
        // SAFETY: the caller acquired the lock with this context.
        unlock: |this, context| unsafe { this.0.unlock(context.take()) },
        is_idle: |this| !this.0.is_locked(),
    }
}
