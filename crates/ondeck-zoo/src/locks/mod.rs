//! The portable locks, and the list of them.
//!
//! To add a lock, add a file in this folder and a line in the list below. `visit_museum` in that line puts it
//! into the museum: locks that no suite, rule or article needs, which the laboratory measures if it is built with
//! the feature `museum`. The list omits two groups: this project's own locks, which need a [`Host`]
//! ([`OndeckMutex`] and [`OndeckBiased`]), and the one that needs a kernel which knows the owners of locks,
//! [`PiFutex`].
//!
//! Flat combining (Danny Hendler, Itai Incze, Nir Shavit and Moran Tzafrir, 2010) and other ways to let another
//! thread run a section are not here. [`RawLock`](crate::RawLock) has `lock` and `unlock`, and a section is the
//! code between the two calls: a waiter cannot pass that code to the owner, which would have to run it. This
//! project's lock of that kind is [`ondeck::CombiningMutex`], which takes closures.

use ondeck::platform::{Host, PiFutex, Platform};

use crate::Visitor;

pub mod lockless_condvar;
pub mod ondeck_biased;
pub mod ondeck_mutex;
pub mod pi_futex;
pub mod swift_pi;

pub use ondeck_biased::OndeckBiased;
pub use ondeck_mutex::OndeckMutex;
pub use pi_futex::PiFutexMutex;
pub use swift_pi::SwiftPi;

macro_rules! portable_locks {
    ($($visit:ident $file:ident::$Lock:ident,)*) => {
        $(pub mod $file; pub use $file::$Lock;)*

        /// Shows every portable lock to `visitor`, in the order of the list.
        pub fn for_each_portable<P: Platform>(visitor: &mut impl Visitor<P>) {
            $(visitor.$visit::<$Lock<P>>();)*
        }
    };
}

portable_locks! {
    visit terrible_spinlock::TerribleSpinlock,
    visit spinlock_amd::SpinlockAmd,
    visit spinlock::Spinlock,
    visit ticket_spinlock::TicketSpinlock,
    visit ticket_mutex::TicketMutex,
    visit three_state_futex::ThreeStateFutex,
    visit lockless_three_state::LocklessThreeState,
    visit lockless_four_state::LocklessFourState,
    visit spin_to_futex::SpinToFutex,
    visit adaptive_futex::AdaptiveFutex,
    visit semaphore_mutex::SemaphoreMutex,
    visit go_three_state::GoThreeState,
    visit go_spinbit::GoSpinbit,
    visit_museum srw_list::SrwList,
    visit mcs::Mcs,
    visit clh::Clh,
    visit_museum ttas_backoff::TtasBackoff,
    visit_museum mcs_park::McsPark,
    visit_museum malthusian::Malthusian,
    visit_museum hemlock::Hemlock,
    visit_museum reciprocating::Reciprocating,
    visit_museum cna::Cna,
    visit_museum cohort::Cohort,
    visit_museum hmcs::Hmcs,
    visit_museum mcs_tp::McsTp,
    visit_museum swift_optimal_v1::SwiftOptimalV1,
    visit_museum swift_optimal_v2::SwiftOptimalV2,
    visit rust_std::RustStd,
    visit_museum word_lock::WordLock,
    visit parking_lot_port::ParkingLotPort,
    visit_museum parking_lot_swift::ParkingLotSwift,
    visit_museum folly_microspin::FollyMicrospin,
    visit_museum folly_picospin::FollyPicospin,
    visit_museum folly_microlock::FollyMicrolock,
    visit_museum folly_distributed::FollyDistributed,
    visit glibc_normal::GlibcNormal,
    visit_museum glibc_adaptive_port::GlibcAdaptivePort,
}

/// Shows this project's own mutexes to `visitor`, then every portable lock.
pub fn for_each_hosted<P: Host>(visitor: &mut impl Visitor<P>) {
    visitor.visit::<OndeckMutex<P>>();
    visitor.visit::<OndeckBiased<P>>();
    for_each_portable(visitor);
}

/// Shows `visitor` the locks that the kernel hands off to a waiter.
pub fn for_each_pi<P: PiFutex>(visitor: &mut impl Visitor<P>) {
    visitor.visit_museum::<PiFutexMutex<P>>();
    visitor.visit_museum::<SwiftPi<P>>();
}
