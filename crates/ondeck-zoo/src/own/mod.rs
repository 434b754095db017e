//! This project's locks as programs have them, on the real machine only: the fair one, and those that name threads as
//! its C library or its kernel does. The others are in [`locks`](crate::locks).
//!
//! [`ondeck::CombiningMutex`] is not here. [`RawLock`](crate::RawLock) has `lock` and `unlock`, and a section between
//! two calls cannot be given to the owner, which would have to run it.

use ondeck::platform::Native;

use crate::Visitor;

macro_rules! own_locks {
    ($($(#[$attribute:meta])* $file:ident::$Lock:ident,)*) => {
        $($(#[$attribute])* mod $file; $(#[$attribute])* pub use $file::$Lock;)*

        /// Shows them to `visitor`.
        pub fn for_each_own(visitor: &mut impl Visitor<Native>) {
            $($(#[$attribute])* visitor.visit::<$Lock>();)*
        }
    };
}

own_locks! {
    fair::OndeckFair,
    reentrant::OndeckReentrant,
    #[cfg(all(
        any(target_os = "linux", target_os = "android"),
        not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
    ))]
    pi::OndeckPi,
    #[cfg(all(
        any(target_os = "linux", target_os = "android"),
        target_pointer_width = "64",
        not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
    ))]
    ipc::OndeckIpc,
}
