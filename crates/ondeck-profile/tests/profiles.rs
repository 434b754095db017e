//! Recordings of the crate's own mutex, and files that are not recordings.

#[path = "profiles/refused.rs"]
mod refused;
#[path = "profiles/rust_locks.rs"]
mod rust_locks;
#[path = "profiles/rust_operations.rs"]
mod rust_operations;
