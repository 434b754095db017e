//! The portable reader-writer locks, and the list of them.
//!
//! To add one, add a file in this folder and a line in the list below. Locks that need a [`Host`]
//! are in the second list.

use ondeck::platform::{Host, Platform};

use crate::RwVisitor;

macro_rules! rwlocks {
    (portable { $($file:ident::$Lock:ident,)* } hosted { $($own:ident::$Own:ident,)* }) => {
        $(pub mod $file; pub use $file::$Lock;)*
        $(pub mod $own; pub use $own::$Own;)*

        /// Shows every portable reader-writer lock to `visitor`, in the order of the list.
        pub fn for_each_portable<P: Platform>(visitor: &mut impl RwVisitor<P>) {
            $(visitor.visit::<$Lock<P>>();)*
        }

        /// Shows this project's locks to `visitor`, then every portable one.
        pub fn for_each_hosted<P: Host>(visitor: &mut impl RwVisitor<P>) {
            $(visitor.visit::<$Own<P>>();)*
            for_each_portable(visitor);
        }
    };
}

rwlocks! {
    portable {
        counter_rwlock::CounterRwLock,
        glibc_normal_rwlock::GlibcNormalRwLock,
    }
    hosted {
        ondeck_rwlock::OndeckRwLock,
        mutex_rwlock::MutexRwLock,
    }
}
