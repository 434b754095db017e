//! The real machine: [`Native`], and the systems that it supports. It also reexports the services
//! that a lock may use of any machine: the traits [`Platform`], [`Fences`], [`Estimates`],
//! [`Threads`] and [`Host`].

/// Functions that pass their arguments on to others: `fn name(argument: Type) -> Result = other;`.
macro_rules! passed_on {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($($it:ident: $is:ty),* $(,)?) $(-> $result:ty)? = $other:expr;
    )*) => {$(
        $(#[$attribute])*
        fn $name($($it: $is),*) $(-> $result)? {
            $other($($it),*)
        }
    )*};
}

mod native;
mod system;
#[cfg(unix)]
#[allow(dead_code, reason = "a system that waits by the standard library uses a part of it")]
mod unix;

// The system: the first one whose condition holds. Only this file names the systems;
// `docs/systems.md` explains how to add one. `--cfg ondeck_system="portable"` selects the fallback
// for systems without a module where another module would be selected, for the tests;
// `"unthreaded"` likewise. Miri knows the standard library better than any system.
cfg_select! {
    ondeck_system = "portable" => {
        mod portable;
    }
    any(ondeck_system = "unthreaded", all(target_family = "wasm", not(target_feature = "atomics"))) => {
        mod unthreaded;
    }
    miri => {
        mod portable;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        mod miri;
        #[cfg(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64"))]
        pub(crate) use miri::{Links, RobustList};
    }
    any(target_os = "linux", target_os = "android") => {
        mod linux;
        pub use linux::AffinityError;
        #[cfg(target_pointer_width = "64")]
        pub(crate) use linux::{Links, RobustList};
        /// [`Native`], which has more functions on Linux: [`PiFutex`], and masks of CPUs.
        pub use native::Native as Linux;
    }
    windows => {
        mod windows;
    }
    target_vendor = "apple" => {
        mod apple;
    }
    target_os = "freebsd" => {
        mod freebsd;
    }
    _ => {
        mod portable;
    }
}

pub use crate::machine::{
    AtomicInt, AtomicPointer, Estimate, Estimates, Fences, FutexWait, Ordering, PiFutex, PiLock,
    PiUnlock, Platform, Threads, Timestamp,
};
#[cfg(feature = "internals")]
pub use crate::machine::{averaged_cost, relax_interval};
pub use crate::parking::Host;
pub use native::Native;
