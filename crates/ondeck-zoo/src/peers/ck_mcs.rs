//! Concurrency Kit's MCS lock.
//!
//! Source: Concurrency Kit, `include/spinlock/mcs.h`; Debian's 0.7.1.
//!
//! Teaches: the queue of `locks/mcs.rs` written with fences instead of ordered operations. Apart
//! from the calls the two should measure alike.
//!
//! It is called through C functions, `cpp/shim.c`, although C programs get all of it inlined. So a
//! pair costs two calls more here than there. Compiling the shim for link-time optimization across
//! languages (clang, with `-C linker-plugin-lto`) would remove them.
//!
//! After the unlock: nothing is touched. The lock is the queue's tail. If the compare-exchange that
//! would free it fails, the rest of the unlock touches the nodes only.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;

use ondeck::platform::Native;

use crate::{Fairness, LockInfo, Origin, RawLock};

/// `ck_spinlock_mcs_t`.
// SAFETY, as a lock: see `locks/mcs.rs`.
#[derive(Debug)]
pub struct CkMcs {
    tail: UnsafeCell<*mut CkNode>,
}

/// `ck_spinlock_mcs_context_t`, on its own cache line because its thread polls it.
///
/// The C functions set all of it at every acquisition.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct CkNode(UnsafeCell<MaybeUninit<[usize; 2]>>);

impl Default for CkNode {
    fn default() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

impl CkNode {
    fn pointer(&self) -> *mut Self {
        ptr::from_ref(self).cast_mut()
    }
}

unsafe extern "C" {
    fn ondeck_zoo_ck_mcs_init(tail: *mut *mut CkNode);
    fn ondeck_zoo_ck_mcs_lock(tail: *mut *mut CkNode, node: *mut CkNode);
    fn ondeck_zoo_ck_mcs_try_lock(tail: *mut *mut CkNode, node: *mut CkNode) -> bool;
    fn ondeck_zoo_ck_mcs_unlock(tail: *mut *mut CkNode, node: *mut CkNode);
}

// SAFETY: the lock is made to be used from many threads, and is reached only by its own functions.
unsafe impl Send for CkMcs {}
// SAFETY: as for `Send`.
unsafe impl Sync for CkMcs {}

raw_lock! {
    unsafe impl RawLock<Native> for CkMcs {
        INFO: LockInfo {
            name: "ck_mcs",
            origin: Origin::Peer,
            fairness: Fairness::Fifo,
            source: "Concurrency Kit 0.7.1, ck_spinlock_mcs, by call through a C function",
            teaches: "MCS with fences instead of ordered operations measures like MCS",
            ..LockInfo::USUAL
        },
        Context: CkNode,
        new: {
            let lock = Self { tail: UnsafeCell::new(ptr::null_mut()) };
            // SAFETY: the storage is the pointer that the function sets.
            unsafe { ondeck_zoo_ck_mcs_init(lock.tail.get()) };
            lock
        },
        // SAFETY: the node stays in place until the unlock, and is written through its cell only.
        lock: |this, node| unsafe { ondeck_zoo_ck_mcs_lock(this.tail.get(), node.pointer()) },
        // SAFETY: as in `lock`.
        try_lock: |this, node| unsafe { ondeck_zoo_ck_mcs_try_lock(this.tail.get(), node.pointer()) },
        // SAFETY: this thread holds the lock by this node.
        unlock: |this, node| unsafe { ondeck_zoo_ck_mcs_unlock(this.tail.get(), node.pointer()) },
        is_idle: |this| this.tail.get_mut().is_null(),
    }
}
