//! The `spin` crate's mutex.
//!
//! Source: the crate `spin` 0.12, `mutex/spin.rs`.
//!
//! Teaches: the ready-made spinlock of Rust programs. It tests, then compare-exchanges, with one
//! PAUSE between polls, and never calls the kernel.
//!
//! After the unlock: nothing is touched. An unlock is one store.

use std::mem;

use ondeck::platform::Native;

use crate::{LockInfo, Origin, RawLock};

/// `spin::Mutex<()>` with its default strategy for waiting.
// SAFETY, as a lock: the guard that `lock` forgets would have excluded all other threads until it
// was dropped, and `force_unlock` does the same as its drop.
#[derive(Debug, Default)]
pub struct SpinMutex {
    mutex: spin::Mutex<()>,
}

raw_lock! {
    unsafe impl RawLock<Native> for SpinMutex {
        INFO: LockInfo {
            name: "spin",
            origin: Origin::Peer,
            source: "The crate spin 0.12, its default mutex",
            teaches: "The spinlock from the shelf: one PAUSE between polls, never the kernel",
            ..LockInfo::USUAL
        },
        new: Self::default(),
        lock: |this, ()| mem::forget(this.mutex.lock()),
        try_lock: |this, ()| this.mutex.try_lock().map(mem::forget).is_some(),
        // SAFETY: the calling thread holds the lock, and its guard was forgotten.
        unlock: |this, ()| unsafe { this.mutex.force_unlock() },
        is_idle: |this| !this.mutex.is_locked(),
    }
}
