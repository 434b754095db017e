//! Recordings of the crate's own mutex, and files that are not recordings.

mod refused;
mod rust_locks;
mod rust_operations;
