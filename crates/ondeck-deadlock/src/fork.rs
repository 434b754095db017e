//! The child of a fork has one thread, and the table of all.
//!
//! The thread that forks holds the table's lock meanwhile, so that the copy is whole. In the child the other
//! threads are forgotten: they hold what they held, but for ever, and wait for nothing.

use std::cell::UnsafeCell;
use std::sync::{MutexGuard, Once};

use crate::table::{self, Table};
use crate::thread;

/// The lock of the table while its holder forks.
struct AtFork(UnsafeCell<Option<MutexGuard<'static, Table>>>);

// SAFETY: it is written and read by the thread that holds the table's lock.
unsafe impl Sync for AtFork {}

static AT_FORK: AtFork = AtFork(UnsafeCell::new(None));

/// Has the handlers called at each fork that the C library makes.
pub(crate) fn prepare() {
    static DONE: Once = Once::new();
    // SAFETY: the handlers are functions of this crate, which is never unloaded while its locks are in use.
    DONE.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child));
    });
}

extern "C" fn before() {
    let guard = table::lock();
    // SAFETY: this thread holds the table's lock.
    unsafe { *AT_FORK.0.get() = Some(guard) };
}

fn take() -> Option<MutexGuard<'static, Table>> {
    // SAFETY: this thread, or in the child its copy, holds the table's lock since `before`.
    unsafe { (*AT_FORK.0.get()).take() }
}

extern "C" fn in_parent() {
    drop(take());
}

extern "C" fn in_child() {
    if let Some(mut table) = take() {
        table.keep_only(thread::number());
    }
}
