//! The lists of semaphores, onces and barriers.

use ondeck::platform::{Host, Native};

use super::barrier::{BarrierVisitor, CentralBarrier, StdBarrier};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use super::glibc::{GlibcBarrier, GlibcOnce, GlibcSemaphore};
use super::once::{OnceVisitor, ParkingLotOnce, StdOnce};
use super::semaphore::{CondvarSemaphore, SemaphoreVisitor};

/// Shows every semaphore that runs on any host to `visitor`.
pub fn for_each_hosted_semaphore<P: Host>(visitor: &mut impl SemaphoreVisitor<P>) {
    visitor.visit::<ondeck::Semaphore<P>>();
}

/// Shows every semaphore to `visitor`.
pub fn for_each_semaphore(visitor: &mut impl SemaphoreVisitor<Native>) {
    for_each_hosted_semaphore::<Native>(visitor);
    visitor.visit::<CondvarSemaphore>();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    visitor.visit::<GlibcSemaphore>();
}

/// Shows every once that runs on any host to `visitor`.
pub fn for_each_hosted_once<P: Host>(visitor: &mut impl OnceVisitor<P>) {
    visitor.visit::<ondeck::Once<P>>();
}

/// Shows every once to `visitor`.
pub fn for_each_once(visitor: &mut impl OnceVisitor<Native>) {
    for_each_hosted_once::<Native>(visitor);
    visitor.visit::<StdOnce>();
    visitor.visit::<ParkingLotOnce>();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    visitor.visit::<GlibcOnce>();
}

/// Shows every barrier that runs on any host to `visitor`.
pub fn for_each_hosted_barrier<P: Host>(visitor: &mut impl BarrierVisitor<P>) {
    visitor.visit::<ondeck::Barrier<P>>();
    visitor.visit::<CentralBarrier<P>>();
}

/// Shows every barrier to `visitor`.
pub fn for_each_barrier(visitor: &mut impl BarrierVisitor<Native>) {
    for_each_hosted_barrier::<Native>(visitor);
    visitor.visit::<StdBarrier>();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    visitor.visit::<GlibcBarrier>();
}
