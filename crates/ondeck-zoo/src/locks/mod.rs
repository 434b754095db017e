//! The portable locks, and the list of them.
//!
//! Adding a lock is a file in this folder and a line in the list below.

use ondeck::platform::Platform;

use crate::Visitor;

macro_rules! portable_locks {
    ($($file:ident::$Lock:ident,)*) => {
        $(mod $file; pub use $file::$Lock;)*

        /// Shows every portable lock to `visitor`, in the order of the list.
        pub fn for_each_portable<P: Platform>(visitor: &mut impl Visitor<P>) {
            $(visitor.visit::<$Lock<P>>();)*
        }
    };
}

portable_locks! {
    three_state_futex::ThreeStateFutex,
    mcs::Mcs,
}
