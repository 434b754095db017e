//! The portable locks, and the list of them.
//!
//! To add a lock, add a file in this folder and a line in the list below. The list omits this
//! project's own mutex, which needs a [`Host`]: [`OndeckMutex`].

use ondeck::platform::{Host, Platform};

use crate::Visitor;

pub mod ondeck_mutex;

pub use ondeck_mutex::OndeckMutex;

macro_rules! portable_locks {
    ($($file:ident::$Lock:ident,)*) => {
        $(pub mod $file; pub use $file::$Lock;)*

        /// Shows every portable lock to `visitor`, in the order of the list.
        pub fn for_each_portable<P: Platform>(visitor: &mut impl Visitor<P>) {
            $(visitor.visit::<$Lock<P>>();)*
        }
    };
}

portable_locks! {
    terrible_spinlock::TerribleSpinlock,
    spinlock_amd::SpinlockAmd,
    spinlock::Spinlock,
    ticket_spinlock::TicketSpinlock,
    three_state_futex::ThreeStateFutex,
    lockless_four_state::LocklessFourState,
    go_three_state::GoThreeState,
    go_spinbit::GoSpinbit,
    mcs::Mcs,
    rust_std::RustStd,
    glibc_normal::GlibcNormal,
}

/// Shows this project's own mutexes to `visitor`, then every portable lock.
pub fn for_each_hosted<P: Host>(visitor: &mut impl Visitor<P>) {
    visitor.visit::<OndeckMutex<P>>();
    for_each_portable(visitor);
}
