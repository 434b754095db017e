//! Barriers: threads continue when all have arrived.

use std::sync::Barrier;

use ondeck::platform::{AtomicInt, Host, Native, Ordering, Platform};

use super::PEER;
use crate::{LockInfo, Origin, Waiting};

/// A reusable barrier for a fixed number of threads.
pub trait RawBarrier<P: Platform>: Sized + Send + Sync + 'static {
    /// The facts of this barrier.
    const INFO: LockInfo;

    /// A barrier for this number of threads.
    fn new(threads: u32) -> Self;

    /// Waits until as many threads have called this as the barrier is for. Returns true to one of
    /// them. All threads then see what each did before.
    fn wait(&self) -> bool;
}

/// An operation on every type of barrier; see [`Visitor`](crate::Visitor).
pub trait BarrierVisitor<P: Platform> {
    /// Called once for each.
    fn visit<B: RawBarrier<P>>(&mut self);
}

/// This project's barrier.
impl<P: Host> RawBarrier<P> for ondeck::Barrier<P> {
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
        Self::on_platform(threads)
    }

    #[inline]
    fn wait(&self) -> bool {
        self.wait().is_leader()
    }
}

/// A count of threads that have arrived, and the number of the phase, which waiters poll.
///
/// The centralized barrier at the beginning of Mellor-Crummey and Scott's article. Their
/// sense-reversing flag is a number here, so that a thread needs no private memory.
///
/// The last thread resets the count before it stores the phase (`Release`). A waiter's polls are
/// `Acquire` and pair with that store. The fetch-adds are `AcqRel`, so that the last thread has
/// seen what each other thread did, and publishes it by its store.
#[derive(Debug)]
pub struct CentralBarrier<P: Platform> {
    threads: u32,
    came: P::AtomicU32,
    phase: P::AtomicU32,
}

impl<P: Platform> RawBarrier<P> for CentralBarrier<P> {
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
        Self { threads, came: AtomicInt::new(0), phase: AtomicInt::new(0) }
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
                P::pause();
            }
            P::yield_now();
        }
    }
}

/// `std::sync::Barrier`.
#[derive(Debug)]
pub struct StdBarrier(Barrier);

impl RawBarrier<Native> for StdBarrier {
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
