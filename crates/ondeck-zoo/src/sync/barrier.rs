//! Barriers: threads go on when all have come.

use std::cell::UnsafeCell;
use std::ffi::c_uint;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

use ondeck::platform::{Linux, Platform};

use super::PEER;
use crate::{LockInfo, Origin, Waiting};

/// A barrier for a fixed number of threads, which can be used again and again.
pub trait RawBarrier: Sized + Send + Sync + 'static {
    /// The facts of this barrier.
    const INFO: LockInfo;

    /// One for so many threads.
    fn new(threads: u32) -> Self;

    /// Waits until as many threads have called this as the barrier is for. True for one of them. What each
    /// did before is seen by all afterwards.
    fn wait(&self) -> bool;
}

/// What is to be done with every type of barrier; see [`Visitor`](crate::Visitor).
pub trait BarrierVisitor {
    /// Called once for each.
    fn visit<B: RawBarrier>(&mut self);
}

/// Shows every barrier to `visitor`.
pub fn for_each_barrier(visitor: &mut impl BarrierVisitor) {
    visitor.visit::<ondeck::Barrier>();
    visitor.visit::<CentralBarrier>();
    visitor.visit::<StdBarrier>();
    #[cfg(target_env = "gnu")]
    visitor.visit::<GlibcBarrier>();
}

/// This project's own.
impl RawBarrier for ondeck::Barrier {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_barrier",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        touches_after_release: false,
        source: "this project, ondeck::Barrier",
        teaches: "A count of arrivals in one word, and the threads that wait for the last in a table",
        ..PEER
    };

    fn new(threads: u32) -> Self {
        Self::new(threads)
    }

    #[inline]
    fn wait(&self) -> bool {
        self.wait().is_leader()
    }
}

/// A count of threads that have come, and the number of the phase, which waiters poll.
///
/// The centralized barrier that Mellor-Crummey and Scott begin with. Their flag that changes its sense is a
/// number here, so that a thread needs no memory of its own.
///
/// The last thread resets the count before it stores the phase (`Release`). A waiter's polls are `Acquire` and
/// pair with that store. The fetch-adds are `AcqRel`, so that the last thread has seen what each other did, and
/// hands it on by its store.
#[derive(Debug)]
pub struct CentralBarrier {
    threads: u32,
    came: AtomicU32,
    phase: AtomicU32,
}

impl RawBarrier for CentralBarrier {
    const INFO: LockInfo = LockInfo {
        name: "central_barrier",
        origin: Origin::Literature,
        waiting: Waiting::Yields,
        touches_after_release: false,
        source: "Mellor-Crummey and Scott, Algorithms for Scalable Synchronization (1991), centralized barrier",
        teaches: "Polling is the fastest way to meet, as long as every thread has a CPU",
        ..PEER
    };

    fn new(threads: u32) -> Self {
        Self { threads, came: AtomicU32::new(0), phase: AtomicU32::new(0) }
    }

    #[inline]
    fn wait(&self) -> bool {
        /// Polls between two offers of the CPU.
        const POLLS: u32 = 64;
        let phase = self.phase.load(Ordering::Relaxed);
        if self.came.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.came.store(0, Ordering::Relaxed);
            self.phase.store(phase.wrapping_add(1), Ordering::Release);
            return true;
        }
        loop {
            for _ in 0..POLLS {
                if self.phase.load(Ordering::Acquire) != phase {
                    return false;
                }
                Linux::pause();
            }
            Linux::yield_now();
        }
    }
}

/// `std::sync::Barrier`.
#[derive(Debug)]
pub struct StdBarrier(Barrier);

impl RawBarrier for StdBarrier {
    const INFO: LockInfo = LockInfo {
        name: "std_barrier",
        waiting: Waiting::SpinsThenSleeps,
        source: "Rust's standard library, std::sync::Barrier",
        teaches: "A mutex and a condition variable: threads that are woken together lock one after the other",
        ..PEER
    };

    fn new(threads: u32) -> Self {
        Self(Barrier::new(threads as usize))
    }

    #[inline]
    fn wait(&self) -> bool {
        self.0.wait().is_leader()
    }
}

/// `pthread_barrier_t` of the C library.
///
/// It may move after its initialization as long as no thread waits: glibc keeps numbers only.
#[cfg(target_env = "gnu")]
#[derive(Debug)]
pub struct GlibcBarrier(UnsafeCell<libc::pthread_barrier_t>);

// SAFETY: it is made to be used from many threads, and is reached only by its own functions.
#[cfg(target_env = "gnu")]
unsafe impl Send for GlibcBarrier {}
// SAFETY: as for `Send`.
#[cfg(target_env = "gnu")]
unsafe impl Sync for GlibcBarrier {}

#[cfg(target_env = "gnu")]
impl RawBarrier for GlibcBarrier {
    const INFO: LockInfo = LockInfo {
        name: "glibc_barrier",
        source: "The GNU C library, pthread_barrier_t",
        teaches: "A count of arrivals and one futex for the phase: all are woken by one system call",
        ..PEER
    };

    fn new(threads: u32) -> Self {
        let mut barrier = MaybeUninit::uninit();
        // SAFETY: the pointer is to a local, which is read only after its initialization has succeeded.
        unsafe {
            let code =
                libc::pthread_barrier_init(barrier.as_mut_ptr(), ptr::null(), threads as c_uint);
            assert_eq!(code, 0, "pthread_barrier_init");
            Self(UnsafeCell::new(barrier.assume_init()))
        }
    }

    #[inline]
    fn wait(&self) -> bool {
        // SAFETY: the barrier is initialized.
        let code = unsafe { libc::pthread_barrier_wait(self.0.get()) };
        let leader = code == libc::PTHREAD_BARRIER_SERIAL_THREAD;
        assert!(leader || code == 0, "pthread_barrier_wait: {code}");
        leader
    }
}

#[cfg(target_env = "gnu")]
impl Drop for GlibcBarrier {
    fn drop(&mut self) {
        // SAFETY: no thread uses the barrier any more; glibc waits for those that are leaving it.
        let _ = unsafe { libc::pthread_barrier_destroy(self.0.get()) };
    }
}
