//! Reader-writer locks of other libraries, called as their users call them. Linux only.
//!
//! The rules for the mutexes in the folder above also apply here. To add a lock, add a file in this
//! folder and a line in the list below.
//!
//! Where a file says that an unlock touches the lock "as far as is known", its source was not
//! searched for the contrary; a program must then assume it.

use ondeck::platform::Native;

use crate::RwVisitor;

macro_rules! peer_rwlocks {
    ($($(#[$attribute:meta])* $file:ident::{$($Lock:ident),* $(,)?},)*) => {
        $($(#[$attribute])* mod $file; $(#[$attribute])* pub use $file::{$($Lock),*};)*

        /// Shows every peer to `visitor`, in the order of the list.
        pub fn for_each_peer(visitor: &mut impl RwVisitor<Native>) {
            $($(#[$attribute])* { $(visitor.visit::<$Lock>();)* })*
        }
    };
}

peer_rwlocks! {
    std_rwlock::{StdRwLock},
    parking_lot_rwlock::{ParkingLotRwLock},
    usync_rwlock::{UsyncRwLock},
    spin_rwlock::{SpinRwLock},
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc_rwlock::{GlibcRwLock, GlibcWriterRwLock},
    #[cfg(feature = "peers-cpp")]
    cpp_rwlocks::{AbseilRwLock, NsyncRwLock},
}
