//! A mutex and a condition variable for memory that several processes share.
//!
//! The parking table is a process's own, so these locks do not use it: their waiters sleep in the kernel, on
//! words of the shared memory (futexes without the private flag). What they add to such a lock is that it
//! survives its owner: if a thread ends while it owns the [`Mutex`], because its process was killed or for
//! another reason, the next owner is told, and may put the data right.
//!
//! # How an owner's end is noticed
//!
//! Of the ways that there are:
//!
//! | way | why, or why not |
//! |---|---|
//! | waiters look now and then whether the owner lives | late; a number of a thread is used again; what a process may look at depends on namespaces and on `/proc` |
//! | futexes that inherit priorities | the kernel notices if a thread waits at that time; else it finds a number, which may be another thread's by then |
//! | a list that the kernel looks through when a thread ends | at once, and exact: the list is the thread's own |
//!
//! It is the list, as for the C library's robust mutexes, and the same list, because a thread has only one
//! ([`owner_death_is_told`] says whether it is there). The kernel also wakes a waiter in place of a thread
//! that ended between its unlock and its wake, or after it was woken; if another thread has the lock by then,
//! that thread's unlock does.
//!
//! # What processes have to agree on
//!
//! The layout is `repr(C)`, and the same in all versions of this crate that Cargo takes for compatible.
//! The processes must be of one PID namespace, and what the mutex guards must mean the same in all of
//! them: no pointers, no references. See [`Mutex::new`].
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

/// Whether the calling thread's end would be told to the next owner of a mutex that it owns.
///
/// It is so for all threads of a program with glibc on x86-64 or aarch64, but for the child of a bare
/// clone(2), and under filters that refuse `get_robust_list`. Else mutexes work, and a mutex whose owner has
/// ended stays locked.
pub fn owner_death_is_told() -> bool {
    RobustList::of_caller().is_there()
}
