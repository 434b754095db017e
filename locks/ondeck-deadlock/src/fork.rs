//! After a fork the child has one thread, but the table of all threads.
//!
//! The forking thread holds the table's lock during the fork, so the copy is consistent. In the
//! child the other threads are forgotten: they hold their locks forever and wait for nothing.

use std::cell::UnsafeCell;
use std::sync::{MutexGuard, Once};

use crate::table::{self, Table};
use crate::thread;

/// The guard of the table's lock, kept here while its holder forks.
struct AtFork(UnsafeCell<Option<MutexGuard<'static, Table>>>);

// SAFETY: only the thread that holds the table's lock reads and writes it.
unsafe impl Sync for AtFork {}

static AT_FORK: AtFork = AtFork(UnsafeCell::new(None));

/// Registers the handlers that the C library calls at each fork.
pub(crate) fn prepare() {
    static DONE: Once = Once::new();
    // SAFETY: the handlers are functions of this crate, which is never unloaded while its locks are
    // in use.
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
    // SAFETY: this thread, or its copy in the child, has held the table's lock since `before`.
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
