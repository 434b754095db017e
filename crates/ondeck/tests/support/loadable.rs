//! A shared library with locks of its own, which a test of the environment loads into a program that has
//! other locks.

use ondeck::platform::{Fences, Linux};
use ondeck::spin::Polling;

/// The pause before a waiter's first poll, for this library's locks.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_loadable_short() -> u32 {
    Polling::current().short
}

/// Whether fences are asymmetric for this library's locks.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_loadable_is_asymmetric() -> bool {
    Linux::fences_are_asymmetric()
}
