//! A mutex and a condition variable for memory that several processes share.
//!
//! The parking table belongs to one process, so these locks do not use it: their waiters sleep in
//! the kernel, on words of the shared memory (futexes without the private flag). Unlike other such
//! locks, they survive their owners: if a thread ends while it owns the [`Mutex`], because its
//! process was killed or for another reason, the next owner is notified, and may repair the data.
//!
//! # How the end of an owner is detected
//!
//! There are these ways:
//!
//! | way | why, or why not |
//! |---|---|
//! | waiters check now and then whether the owner lives | late; a number of a thread is used again; the processes that a process may inspect depend on namespaces and on `/proc` |
//! | futexes that inherit priorities | the kernel notices if a thread waits at that time; else it finds a number, which may already be another thread's |
//! | a list that the kernel walks when a thread ends | at once, and exact: the list belongs to the thread |
//!
//! These locks use the list, as the C library's robust mutexes do. It is the same list, because a
//! thread has only one ([`owner_death_is_told`] returns whether it is there). The kernel also wakes
//! a waiter in place of a thread that ended between its unlock and its wake, or after it was woken.
//! If another thread already has the lock, the unlock of that thread does so.
//!
//! # What processes must agree on
//!
//! The layout is `repr(C)`, and the same in all versions of this crate that Cargo treats as
//! compatible. The processes must be in one PID namespace, and the protected data must mean the
//! same in all of them: no pointers, no references. See [`Mutex::new`].
//!
//! ```
//! use ondeck::ipc::Mutex;
//!
//! // What a program maps, and other programs too; here by mmap(2) without a file.
//! let size = size_of::<Mutex<u64>>();
//! // SAFETY: a new mapping; it is never unmapped. A `Mutex` may be in it, and is, from the write on.
//! let mutex: &Mutex<u64> = unsafe {
//!     let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
//!     let memory = libc::mmap(std::ptr::null_mut(), size, access, kind, -1, 0);
//!     assert_ne!(memory, libc::MAP_FAILED);
//!     let place = memory.cast::<Mutex<u64>>();
//!     place.write(Mutex::new(0));
//!     &*place
//! };
//! let mut count = mutex.lock().unwrap_or_else(|died| {
//!     // A process ended in its section: look at the data, and put it right.
//!     // SAFETY: these programs leak no guard, so no running thread has a reference into the data.
//!     unsafe { died.repair() }
//! });
//! *count += 1;
//! ```

mod condvar;
mod mutex;
mod raw;

use crate::platform::RobustList;

pub use condvar::Condvar;
pub use mutex::{LockResult, Mutex, MutexGuard, OwnerDied};

/// Returns whether the calling thread's end would be reported to the next owner of a mutex that it
/// owns.
///
/// It is true for all threads of a program with glibc on x86-64 or aarch64, except the child of a
/// bare clone(2), and threads under filters that refuse `get_robust_list`. Otherwise mutexes work,
/// but a mutex whose owner has ended stays locked.
pub fn owner_death_is_told() -> bool {
    RobustList::of_caller().is_there()
}
