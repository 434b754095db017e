//! The flagship mutex.

mod raw;
mod release;
mod wait;

pub use raw::RawMutex;
