//! `libondeck_preload.so`: the locks and condition variables of unmodified glibc programs.
//!
//! ```text
//! program ── pthread_mutex_lock ──► libondeck_preload.so ── robust, priority, process-shared ──► libc.so.6
//!                                        │ all other kinds
//!                                        ▼
//!                                   ondeck, in the caller's own bytes
//! ```
//!
//! | file | what |
//! |---|---|
//! | `object.rs` | the meaning of the bytes of the caller's objects |
//! | `thread.rs` | the identity of a thread |
//! | `mutex.rs`, `timed.rs`, `init.rs` | the functions of mutexes |
//! | `cond.rs`, `cancel.c` | the functions of condition variables; the cancellable part is in C |
//! | `rwlock.rs` | the functions of reader-writer locks |
//! | `barrier.rs`, `barrier.c` | the functions of barriers |
//! | `spin.c`, `semaphore.c`, `polling.rs` | the waits of spinlocks and semaphores, whose other functions are the C library's |
//! | `asynchronous.c`, `deferred.rs` | threads whose cancellation is asynchronous |
//! | `opening.c` | dlopen(3), without the flag that separates a library from the shim |
//! | `c11.rs` | `mtx_*` and `cnd_*`, the same functions with other results |
//! | `mode.rs` | the mode in which fast paths defer to slow paths, and the constructor |
//! | `real.rs` | the C library's own functions, found without a lock |
//! | `recorded.rs` | locking and unlocking, with the calls of the recorder |
//! | `bursts.rs` | the same functions, with each operation recorded for replays |
//! | `refuse.rs`, `fatal.rs` | refusing processes that the shim cannot serve |
//! | `names.rs` | the names and versions of the functions |
//!
//! # Rules
//!
//! * No function allocates, prints, takes a lock of the C library or of the loader, changes
//!   `errno`, or returns early because of a signal.
//! * Everything works before the library's own constructor has run: other libraries' constructors
//!   may run before, and lock.
//! * An object that was never touched is all zeros, as `PTHREAD_MUTEX_INITIALIZER` leaves it.
//!
//! # Safety
//!
//! A function that programs call requires what the C library requires of the function that it
//! serves: each reference is to an initialized object of its type, or null where the C library
//! allows that, each pointer of an initialization to memory for one; the thread that unlocks an
//! object has locked it. "As the caller promises" refers to this.
//!
//! When an unlock has freed an object, another thread may free its memory before the function
//! returns. The function then has a reference to it, as
//! [`RawMutex::unlock`](ondeck::mutex::RawMutex::unlock) has, and does not use it again.
//!
//! `ondeck-record/link.sh` links the library.

#![no_std]

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
compile_error!(
    "ondeck-preload is for glibc on x86-64: it knows the layout of that library's objects, and the \
     versions of its symbols"
);

mod barrier;
mod bursts;
mod c11;
mod clock;
mod cond;
mod deferred;
mod errno;
mod fatal;
mod init;
mod mode;
mod mutex;
#[cfg(feature = "names")]
mod names;
mod object;
mod polling;
mod real;
mod recorded;
mod refuse;
mod rwlock;
mod thread;
mod timed;
