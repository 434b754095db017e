//! This project's own reader-writer lock, as a lock of the zoo.
//!
//! Source: `ondeck::rwlock`, which draws and argues its protocol.
//!
//! Teaches: a writer that first sets its bit and then waits for the present readers bounds its
//! wait, and four bytes suffice for it.

use ondeck::platform::Host;
use ondeck::rwlock::{RawRwLock as Raw, Shared};

use crate::kept::Kept;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// The four-byte lock of [`ondeck::rwlock`].
// SAFETY, as a lock: its writers exclude; see its own argument.
#[derive(Debug)]
pub struct OndeckRwLock<P: Host>(Raw<P>);

raw_rwlock! {
    unsafe impl [P: Host] RawRwLock<P> for OndeckRwLock<P> {
        INFO: LockInfo {
            name: "ondeck_rwlock",
            origin: Origin::Own,
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            condvar: CondvarKind::Without,
            source: "this project, ondeck::rwlock",
            teaches: "A writer waits for the readers of one moment only, and four bytes suffice for that",
            ..LockInfo::USUAL
        },
        Read: Kept<Shared<P>>,
        new: Self(Raw::new()),
        read: |this, context| context.keep(this.0.lock_shared()),
        try_read: |this, context| this.0.try_lock_shared().map(|held| context.keep(held)).is_some(),
        // SAFETY: this thread acquired the lock with this context, which has kept the result.
        unlock_read: |this, context| unsafe { this.0.unlock_shared(context.take()) },
        write: |this, ()| this.0.lock_exclusive(),
        try_write: |this, ()| this.0.try_lock_exclusive(),
        // SAFETY: the calling thread is the writer.
        unlock_write: |this, ()| unsafe { this.0.unlock_exclusive() },
        is_idle: |this| !this.0.is_locked(),
    }
}
