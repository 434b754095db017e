//! A lock that a thread holds.

use crate::kinds::{Held, Lock};
use crate::stack::Stack;

/// That a thread holds a lock.
#[derive(Clone, Copy)]
pub(crate) struct Hold {
    pub(crate) lock: Lock,
    pub(crate) held: Held,
    /// Later holds have greater numbers.
    pub(crate) number: u64,
    /// Where the thread acquired it.
    pub(crate) stack: Stack,
}
