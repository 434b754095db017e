//! A mutex that does not collapse, its condition variable, and the parts that they are built on.
//!
//! * [`Mutex`]: one byte; an uncontended pair costs one atomic read-modify-write; waiting threads
//!   sleep, few of them are awake, none starves; its memory is not touched after it was unlocked.
//!   [`Condvar`] goes with it.
//! * [`RwLock`]: four bytes; readers, or one writer; upgradable reads; waiting is bounded on both
//!   sides. Where reads dominate, a reader writes only its own thread's memory.
//! * [`parking`]: the table in which threads are parked, for your own locks.
//! * [`platform`]: the machine as a parameter. A lock algorithm is written once, generic over
//!   [`platform::Platform`]; it runs on the real machine ([`platform::Native`]), under a model
//!   checker, or on a machine in virtual time. [`platform::Host`] is a machine with a parking
//!   table.
//!
//! | type | what |
//! |---|---|
//! | [`Barrier`] | threads wait until all have arrived |
//! | [`FairMutex`] | each unlock hands it off to the thread that has waited longest |
//! | [`ipc`] | a mutex and a condition variable for memory that several processes share |
//! | [`Latch`] | threads wait until it has been counted down to zero |
//! | [`Once`], [`OnceLock`], [`LazyLock`] | an initialization that runs once |
//! | [`poison`] | `Mutex`, `RwLock` and `Condvar` as the standard library's, whose `lock` returns a `Result`: for code with `lock().unwrap()` |
//! | [`PiMutex`] | its owner runs with the priority of the waiting threads |
//! | [`ReentrantMutex`] | its owner may lock it again |
//! | [`Semaphore`] | permits, with or without the order of arrival |
//!
//! [`lock_all`] acquires several locks without an order among them, [`name`] names a lock in
//! reports, [`IsHeld`] answers whether the calling thread holds it.
//!
//! ```text
//! Mutex, one byte            Condvar                  your own lock
//!   lock    test-and-set       wait                     over any Platform
//!   unlock  a store            notify_one, notify_all
//!     │ contended                │                        │ park, unpark, requeue
//!     ▼                          ▼                        ▼
//! parking: the parking table, outside of the locks
//!   bucket, by address   its lock, the unlock mode
//!     ├─ history         of two contended mutexes: when an owner was displaced
//!     └─ queue           node ─ node ─ node, on the stacks of the waiting threads
//!     │
//!     ▼
//! platform
//!   Platform             atomics, pause, clock, futex
//!   Host                 a Platform with a parking table, asymmetric fences, estimates of times
//!   Native               both, on this system; tests have others
//! ```
//!
//! ```
//! use ondeck::{Condvar, Mutex};
//! use std::collections::VecDeque;
//!
//! static QUEUE: Mutex<VecDeque<u32>> = Mutex::new(VecDeque::new());
//! static FILLED: Condvar = Condvar::new();
//!
//! let consumer = std::thread::spawn(|| {
//!     let mut queue = QUEUE.lock();
//!     FILLED.wait_while(&mut queue, |queue| queue.is_empty());
//!     queue.pop_front()
//! });
//! QUEUE.lock().push_back(7);
//! FILLED.notify_one();
//! assert_eq!(consumer.join().unwrap(), Some(7));
//! ```
//!
//! Your own lock over any platform:
//!
//! ```
//! use ondeck::platform::{AtomicInt, Native, Ordering, Platform};
//!
//! struct SpinLock<P: Platform>(P::AtomicU8);
//!
//! impl<P: Platform> SpinLock<P> {
//!     fn lock(&self) {
//!         while P::test_and_set(&self.0, Ordering::Acquire) {
//!             P::pause();
//!         }
//!     }
//!     fn unlock(&self) {
//!         self.0.store(0, Ordering::Release);
//!     }
//! }
//!
//! let lock = SpinLock::<Native>(AtomicInt::new(0));
//! lock.lock();
//! lock.unlock();
//! ```
//!
//! The crate is `no_std` except for the real machine and the interfaces that programs use, so that
//! no allocation can slip into the path of a lock: these locks work inside a global allocator.
//!
//! It runs on Linux, Android, Windows, macOS and Apple's other systems, FreeBSD, and wherever the
//! standard library has threads. In WebAssembly without threads, a lock that would have to wait
//! panics. `docs/systems.md` lists the guarantees on each system and the tests of them. On Linux
//! and Android only: [`ipc`], [`PiMutex`], and the features `deadlock_detection` and `profile` (64
//! bits).
//!
//! | feature | adds |
//! |---|---|
//! | `arc_lock` | `ArcMutexGuard`, `ArcRwLockReadGuard` and so on: owned guards, and those of a part of the data |
//! | `deadlock_detection` | `deadlock`: reports deadlocks and lock-order inversions where `ONDECK_DEADLOCK` or a call asks for it |
//! | `loom`, `shuttle` | models in place of the locks, for tests of programs under loom and shuttle: `docs/testing.md` |
//! | `lock_api_04` | the traits of `lock_api` 0.4 for the raw locks: for code that is generic over those |
//! | `profile` | records contention where `ondeck run --profile` asks for it, and all operations where `ondeck run --record` does |
//! | `stats` | `stats`: counts and times the waits for each lock, and warns of long ones, where a call asks for it |

#![no_std]

/// The programs of `docs/moving.md`, tested like this crate's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/moving.md")]
mod moving {}

#[cfg(not(all(target_has_atomic = "8", target_has_atomic = "64")))]
compile_error!(
    "ondeck needs a CPU with atomic instructions for 8 and 64 bits: a lock is a byte, and the parking table \
     notes times and masks of CPUs in 64 bits"
);

#[cfg(all(target_arch = "x86_64", target_pointer_width = "32"))]
compile_error!("ondeck does not know the system calls of x32: build for x86-64 or i686");

#[cfg(all(
    any(feature = "deadlock_detection", feature = "profile"),
    not(all(target_os = "linux", target_pointer_width = "64"))
))]
compile_error!(
    "the features `deadlock_detection` and `profile` of ondeck are for 64-bit Linux only: build without them"
);

/// Items for Linux and Android only, because their protocols are the kernel's.
#[cfg(not(any(all(loom, feature = "loom"), feature = "shuttle")))]
macro_rules! on_linux {
    ($($item:item)*) => {$(
        #[cfg(all(
            any(target_os = "linux", target_os = "android"),
            not(any(ondeck_system = "portable", ondeck_system = "unthreaded"))
        ))]
        $item
    )*};
}

/// Items that are replaced by a model, for a model checker.
macro_rules! in_reality {
    ($($item:item)*) => {$(
        #[cfg(not(any(all(loom, feature = "loom"), feature = "shuttle")))]
        $item
    )*};
}

#[cfg(any(all(loom, feature = "loom"), feature = "shuttle"))]
mod model;
#[cfg(any(all(loom, feature = "loom"), feature = "shuttle"))]
pub use model::*;

#[cfg(feature = "arc_lock")]
pub mod owned;
pub mod poison;

#[cfg(feature = "arc_lock")]
pub use owned::{MapArc, MapArcShared, MappedArcGuard, MappedArcSharedGuard};

in_reality! {
pub mod barrier;
pub mod condvar;
#[cfg(feature = "deadlock_detection")]
pub mod deadlock;
pub mod fair;
mod is_held;
pub mod latch;
mod lock_all;
#[cfg(feature = "lock_api_04")]
mod lock_api_04;
mod machine;
pub mod mutex;
mod name;
mod observe;
pub mod once;
pub mod parking;
pub mod platform;
pub mod reentrant;
pub mod rwlock;
pub mod semaphore;
pub mod spin;

on_linux! {
    // The layout of the C library's list of locks, which it joins, is known only for 64 bits.
    #[cfg(target_pointer_width = "64")]
    pub mod ipc;
    pub mod pi;
    pub use pi::{PiMutex, PiMutexGuard};
}

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
#[cfg(feature = "arc_lock")]
pub use fair::ArcFairMutexGuard;
pub use fair::{FairMutex, FairMutexGuard, MappedFairMutexGuard};
pub use is_held::IsHeld;
pub use latch::Latch;
pub use lock_all::{LockAll, Lockable, lock_all};
/// The crate of the locks' guards, for traits and types that this crate does not name.
pub use lock_api;
#[cfg(feature = "arc_lock")]
pub use mutex::ArcMutexGuard;
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard};
pub use name::{AnyLock, name};
#[cfg(any(feature = "stats", feature = "internals"))]
pub use observe::stats;
#[cfg(feature = "internals")]
pub use observe::wrapped;
pub use once::{LazyLock, Once, OnceLock};
#[cfg(feature = "arc_lock")]
pub use reentrant::ArcReentrantMutexGuard;
pub use reentrant::{MappedReentrantMutexGuard, ReentrantMutex, ReentrantMutexGuard};
#[cfg(feature = "arc_lock")]
pub use rwlock::{ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};
pub use semaphore::Semaphore;

/// Does the work now that locks otherwise do at their first need, so that no unlock and no wait has
/// to pay for it.
///
/// No program has to call this. A program that cannot afford one slow unlock or wait calls it at
/// the beginning of `main`.
///
/// | what | otherwise done by | cost |
/// |---|---|---|
/// | registers the process with membarrier(2) | the first unlock | on Linux, in a process with one thread, microseconds; with more it waits for a grace period of the kernel's RCU: milliseconds, on a busy machine tens of them |
/// | has the parking table wiped in children of forks | the first wait | one system call |
/// | measures the rate of the tick counter | the first wait | 0.2 ms on x86-64, if the counter is invariant; else nothing |
///
/// Any thread may call it at any time, and more than once: a later call does nothing. It never
/// fails: the locks work without any service that the kernel refuses. The child of a fork is as
/// prepared as its parent.
///
/// ```
/// // At the beginning of `main`.
/// ondeck::prepare();
/// let worker = std::thread::spawn(|| "no unlock and no wait here is the first one");
/// # worker.join().unwrap();
/// ```
pub fn prepare() {
    platform::Native::prepare();
}
}
