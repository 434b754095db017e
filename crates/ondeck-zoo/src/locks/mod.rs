//! The portable locks, and the list of them.
//!
//! To add a lock, add a file in this folder and a line in the list below. Those that need a [`Host`] are not in the
//! list: this project's own, [`OndeckMutex`] and [`OndeckBiased`], and [`Cpython`]; nor are those
//! that need a kernel which knows the owners of locks, [`PiFutex`].
//!
//! Flat combining (Danny Hendler, Itai Incze, Nir Shavit and Moran Tzafrir, 2010) and other ways to give a section
//! to another thread are not here. [`RawLock`](crate::RawLock) has `lock` and `unlock`. A section is what stands
//! between the two calls, and a thread that waits cannot hand that to the owner, which would have to run it. This
//! project's lock of that kind is [`ondeck::CombiningMutex`], which takes closures.

use ondeck::platform::{Host, PiFutex, Platform};

use crate::Visitor;

pub mod cpython;
pub mod lockless_condvar;
pub mod ondeck_biased;
pub mod ondeck_mutex;
pub mod pi_futex;
pub mod swift_pi;

pub use cpython::Cpython;
pub use ondeck_biased::OndeckBiased;
pub use ondeck_mutex::OndeckMutex;
pub use pi_futex::PiFutexMutex;
pub use swift_pi::SwiftPi;

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
    ticket_mutex::TicketMutex,
    three_state_futex::ThreeStateFutex,
    lockless_three_state::LocklessThreeState,
    lockless_four_state::LocklessFourState,
    spin_to_futex::SpinToFutex,
    adaptive_futex::AdaptiveFutex,
    semaphore_mutex::SemaphoreMutex,
    go_three_state::GoThreeState,
    go_spinbit::GoSpinbit,
    srw_list::SrwList,
    mcs::Mcs,
    clh::Clh,
    anderson_array::AndersonArray,
    ttas_backoff::TtasBackoff,
    mcs_park::McsPark,
    malthusian::Malthusian,
    hemlock::Hemlock,
    reciprocating::Reciprocating,
    cna::Cna,
    cohort::Cohort,
    hmcs::Hmcs,
    mcs_tp::McsTp,
    hapax::Hapax,
    linux_osq::LinuxOsq,
    swift_optimal_v1::SwiftOptimalV1,
    swift_optimal_v2::SwiftOptimalV2,
    rust_std::RustStd,
    word_lock::WordLock,
    parking_lot_port::ParkingLotPort,
    parking_lot_swift::ParkingLotSwift,
    folly_microspin::FollyMicrospin,
    folly_picospin::FollyPicospin,
    folly_microlock::FollyMicrolock,
    folly_distributed::FollyDistributed,
    glibc_normal::GlibcNormal,
    glibc_adaptive_port::GlibcAdaptivePort,
    spin_crate::SpinCrate,
}

/// Shows this project's own mutexes to `visitor`, then every portable lock, then those over the parking table.
pub fn for_each_hosted<P: Host>(visitor: &mut impl Visitor<P>) {
    visitor.visit::<OndeckMutex<P>>();
    visitor.visit::<OndeckBiased<P>>();
    for_each_portable(visitor);
    visitor.visit::<Cpython<P>>();
}

/// Shows `visitor` the locks that the kernel hands to a thread that waits.
pub fn for_each_pi<P: PiFutex>(visitor: &mut impl Visitor<P>) {
    visitor.visit::<PiFutexMutex<P>>();
    visitor.visit::<SwiftPi<P>>();
}
