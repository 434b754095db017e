//! The machine that workloads are measured on, as a parameter; and the description of the real one.
//!
//! A workload is written once, generic over a [`Machine`]: it creates threads, works, waits and
//! reads clocks through functions of the machine only. So the same source is measured on [`Native`]
//! and computed on a machine of virtual time that was never built.

mod build;
mod describe;
mod native;

use std::time::Duration;

use ondeck::platform::Native;

use crate::any::AnyMutex;
use crate::team::Teams;
use crate::work::Work;

pub use build::build;
pub use describe::describe;

/// A machine that workloads can be measured on.
///
/// The functions of [`Teams`], [`Platform`](ondeck::platform::Platform) and
/// [`Host`](ondeck::platform::Host) also belong to it: teams of threads, clocks (`ticks`,
/// `ticks_per_second`, `now`), turns of waiting loops (`pause`, `spin_again`, `yield_now`), the
/// number of CPUs (`cpus`), and the words that threads sleep on.
///
/// # What a machine of virtual time may rely on
///
/// * What a body of a team does between two calls of functions of the machine, or of its atomics,
///   takes no time worth counting. Each loop of a workload that goes on until
///   [`Member::stopped`](crate::team::Member::stopped) calls one of them in each turn:
///   [`perform`](Self::perform) is also called for no work.
/// * A body waits by functions of the machine only. It holds no lock of `std` while it calls one,
///   and never sleeps by `std::thread`. So all threads of a team may be coroutines of one thread.
/// * Before its team is made and after it has ended, a round makes, locks and unlocks locks and
///   reads clocks on the thread that called [`run_team`](Teams::run_team), outside of any body. No
///   lock is then locked by another thread, so nothing has to wait.
///   [`Shared::open`](crate::team::Shared::open) also wakes threads from there.
pub trait Machine: Teams {
    /// Does a piece of work. Called in measured loops.
    fn perform(work: Work);

    /// Runs a computation that takes about `time` on an undisturbed machine and of which only that
    /// time matters. Called in measured loops.
    ///
    /// A machine of virtual time lets the time pass and does not compute.
    #[inline(always)]
    fn compute(time: Work, compute: impl FnOnce()) {
        let _ = time;
        compute();
    }

    /// Marks that the calling thread reads or writes plain data that other threads also use. Called
    /// in measured loops.
    ///
    /// Does nothing on a real machine, where the access itself has its cost. A machine of virtual
    /// time moves the cache lines of the data.
    fn touch<T: ?Sized>(data: &T, write: bool);

    /// Sleeps for that time.
    fn sleep(time: Duration);

    /// The mutex, for operations that only the real machine supports; `None` on all other machines.
    fn native(_: AnyMutex<Self>) -> Option<AnyMutex<Native>> {
        None
    }
}
