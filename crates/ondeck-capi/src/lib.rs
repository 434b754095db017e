//! The one-byte mutex and its condition variable for C and C++.
//!
//! `link.sh` makes `libondeck.so.0` and `libondeck.a` of this crate. `include/ondeck.h` is written
//! from its items by cbindgen (`tests/header.rs`), with `header/inline.h` at its end;
//! `include/ondeck.hpp` is for C++. What they promise is in `docs/c.md`.
//!
//! ```text
//! ondeck.hpp     ondeck::mutex, ondeck::condition_variable
//!    │
//! ondeck.h       inlined: an exchange; a store between two readings of the unlock mode; a load of a signal
//!    │           not inlined: everything else
//!    ▼
//! mutex.rs  cond.rs   one function of C each, over crate `ondeck`
//!    │
//!    ├─ deadline.rs   points in time of two clocks
//!    ├─ system/       clocks and errno of the C library
//!    ├─ errno.rs      the caller's errno stays what it was; crate `ondeck` keeps it itself
//!    ├─ abi.rs        what the inlined code takes for granted
//!    └─ copies/       two copies of this library with a table each are refused
//! ```
//!
//! # No panic reaches a caller
//!
//! The libraries are built with `panic = "abort"`, and every function is `extern "C"`, which aborts
//! rather than unwinds in any build. Nothing here panics by intention: bad arguments are answered
//! with error codes.

pub mod abi;
pub mod cond;
// By the notes of ELF, where link.sh makes libraries. Elsewhere two copies are not found.
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod copies;
mod deadline;
mod errno;
pub mod mutex;
mod system;
