//! The mutex, its condition variable and their family for C and C++.
//!
//! `link.sh` builds `libondeck.so.0` and `libondeck.a` from this crate. cbindgen generates the
//! declarations of `include/ondeck.h` from its items (`tests/header.rs`); `include/ondeck.hpp` is
//! for C++. `docs/c.md` documents their guarantees.
//!
//! ```text
//! ondeck.hpp     ondeck::mutex, ondeck::condition_variable, ondeck::shared_mutex and others, with the names of std
//!    │
//! ondeck.h       inlined: what does not wait for, or wake, another thread
//!    │           not inlined: everything else
//!    ▼
//! mutex.rs  cond.rs  rwlock.rs  sem.rs  once.rs  barrier.rs   one function of C each, over crate `ondeck`
//! stats.rs ─► names.rs                                             names and statistics
//!    │
//!    ├─ deadline.rs   points in time of two clocks
//!    ├─ system/       clocks and errno of the C library
//!    ├─ errno.rs      preserves the caller's errno; crate `ondeck` does so itself
//!    ├─ abi.rs        what the inlined code takes for granted
//!    └─ copies/       two copies of this library with a table each are refused
//! ```
//!
//! # No panic reaches a caller
//!
//! The libraries are built with `panic = "abort"`, and every function is `extern "C"`, which aborts
//! rather than unwinds in any build. Nothing here panics on purpose: bad arguments get error codes.

pub mod abi;
pub mod barrier;
pub mod cond;
// Copies find each other by ELF notes, on systems where link.sh builds libraries. Elsewhere two
// copies stay undetected.
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod copies;
mod deadline;
mod errno;
pub mod mutex;
mod names;
pub mod once;
pub mod rwlock;
pub mod sem;
pub mod stats;
mod system;
