//! A shared library with locks of its own, which `tests/environment.rs` loads into a program that has
//! others.

use ondeck::platform::{Host, Linux};
use ondeck::spin::Polling;

/// The pause before a waiter's first poll, as this library's locks have it.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_loadable_short() -> u32 {
    Polling::current().short
}

/// Whether heavy fences carry the cost for this library's locks.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_loadable_is_asymmetric() -> bool {
    Linux::fences_are_asymmetric()
}
