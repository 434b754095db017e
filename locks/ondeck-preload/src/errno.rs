//! The error numbers that the functions return.

use core::ffi::c_int;

pub(crate) const EPERM: c_int = 1;
pub(crate) const EAGAIN: c_int = 11;
pub(crate) const EBUSY: c_int = 16;
pub(crate) const EINVAL: c_int = 22;
pub(crate) const EDEADLK: c_int = 35;
pub(crate) const ETIMEDOUT: c_int = 110;
