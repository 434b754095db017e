//! The shuttle model checker.

pub use shuttle::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What the crate exports of the checker.
pub mod exported {
    pub use shuttle;
}

/// Returns the number of the execution, which shuttle does not tell, and that of the calling thread
/// in it.
pub fn here() -> (usize, usize) {
    (0, shuttle::thread::current().id().into())
}
