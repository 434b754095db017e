//! Locks of other libraries, called as their users call them: on Linux all of them, elsewhere Rust
//! libraries only.
//!
//! Between the measuring loop and the lock there is no code of this project that the compiler does
//! not remove. A lock that is inlined for its users is inlined here, and one that they call is
//! called. Where that is not possible (header-only C and C++), the lock's file says so.
//!
//! The feature `peers-cpp` enables the C and C++ libraries, which have to be installed; `build.rs`
//! names them.
//!
//! To add a peer, add a file in this folder and a line in the list below. Its file states, for a
//! named version, whether an unlock touches the lock after the store that unlocked it, and how the
//! source shows that.

use ondeck::platform::Native;

use crate::Visitor;

#[cfg(feature = "peers-cpp")]
mod cpp_mutex;
pub mod rwlocks;

macro_rules! peer_locks {
    ($($(#[$attribute:meta])* $file:ident::{$($Lock:ident),* $(,)?},)*) => {
        $($(#[$attribute])* mod $file; $(#[$attribute])* pub use $file::{$($Lock),*};)*

        /// Shows every peer to `visitor`, in the order of the list.
        pub fn for_each_peer(visitor: &mut impl Visitor<Native>) {
            $($(#[$attribute])* { $(visitor.visit::<$Lock>();)* })*
        }
    };
}

peer_locks! {
    std_mutex::{StdMutex},
    parking_lot::{ParkingLotMutex},
    usync::{UsyncMutex},
    spin::{SpinMutex},
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::{GlibcMutex, GlibcAdaptive, GlibcPi, GlibcRecursive},
    #[cfg(target_os = "linux")]
    pthread_spin::{PthreadSpin},
    #[cfg(feature = "peers-cpp")]
    abseil::{AbseilMutex},
    #[cfg(feature = "peers-cpp")]
    nsync::{NsyncMutex},
}

/// Whether `lock` is byte for byte equal to a lock that was never used.
///
/// The peers' words are private, and their `is_locked` does not show a mark left for waiters.
///
/// # Safety
///
/// `T` has no padding.
unsafe fn is_like_new<T>(lock: &mut T, new: &T) -> bool {
    let bytes = |lock: *const T| {
        // SAFETY: every byte is initialized, as the caller promises, and no thread writes them:
        // `lock` is borrowed exclusively, `new` belongs to the caller.
        unsafe { std::slice::from_raw_parts(lock.cast::<u8>(), size_of::<T>()) }
    };
    bytes(lock) == bytes(new)
}
