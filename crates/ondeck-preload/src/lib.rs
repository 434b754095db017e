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
//! | `object.rs` | what the bytes of the caller's objects mean |
//! | `thread.rs` | the identity of a thread |
//! | `mutex.rs`, `timed.rs`, `init.rs` | the functions of mutexes |
//! | `cond.rs`, `cancel.c` | the functions of condition variables; what can be cancelled is in C |
//! | `rwlock.rs` | the functions of reader-writer locks |
//! | `barrier.rs`, `barrier.c` | the functions of barriers |
//! | `spin.c`, `semaphore.c`, `polling.rs` | how threads wait for spinlocks and semaphores, the rest of which is the C library's |
//! | `asynchronous.c`, `deferred.rs` | threads whose cancellation is asynchronous |
//! | `c11.rs` | `mtx_*` and `cnd_*`, which are the same with other results |
//! | `mode.rs` | what fast paths have to leave to slow ones, and the constructor |
//! | `real.rs`, `elf.rs` | the C library's own functions, found without a lock |
//! | `recorded.rs` | locking and unlocking, with what the recorder is told |
//! | `bursts.rs` | the same functions, with each operation recorded for replays |
//! | `refuse.rs`, `fatal.rs` | which processes are refused, and how |
//! | `names.rs` | under which names and versions the functions are found |
//!
//! # Rules
//!
//! * No function allocates, prints, takes a lock of the C library or of the loader, changes `errno`, or
//!   ends because of a signal.
//! * Everything works before the library's own constructor has run: other libraries' constructors may run
//!   before, and lock.
//! * An object that was never touched is all zeros, as `PTHREAD_MUTEX_INITIALIZER` leaves it.
//!
//! It is linked by `link.sh`, which gives the functions their names.

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
mod elf;
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
