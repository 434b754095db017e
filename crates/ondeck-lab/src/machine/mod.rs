//! The machine that workloads are measured on, as a parameter; and the description of the real one.
//!
//! A workload is written once, over a [`Machine`]: it makes its threads, works, waits and takes its times by
//! functions of the machine only. So the same source is measured on [`Native`](ondeck::platform::Native),
//! and computed on a machine of virtual time that was never built.

mod build;
mod describe;
mod native;

use std::time::Duration;

use ondeck::platform::Host;
use ondeck_zoo::RawLock;

use crate::results;
use crate::sample::Sample;
use crate::team::{Body, Outcome, TeamError, TeamSetting, Until};
use crate::usage::Usage;
use crate::work::Work;
use crate::workload::{RealRound, Round};

pub use build::build;

/// Describes the machine that this process runs on.
pub fn describe() -> results::Machine {
    describe::describe()
}

/// A machine that workloads can be measured on.
///
/// The functions of [`Platform`](ondeck::platform::Platform) and [`Host`] belong to it, too: clocks
/// (`ticks`, `ticks_per_second`, `now`), turns of waiting loops (`pause`, `spin_again`, `yield_now`), the number of
/// CPUs (`cpus`), and the words that threads sleep on.
///
/// # What a machine of virtual time may rely on
///
/// * What a body of a team does between two calls of functions of the machine, or of its atomics, takes no time
///   worth counting. Each loop of a workload that goes on until [`Member::stopped`](crate::team::Member::stopped) calls one of them in each turn:
///   [`perform`](Self::perform) is called for no work, too.
/// * A body waits by functions of the machine only. It holds no lock of `std` while it calls one, and never
///   sleeps by `std::thread`. So all threads of a team may be coroutines of one thread.
/// * Before its team is made and after it has ended, a round makes, locks and unlocks locks and reads clocks on
///   the thread that called [`run_team`](Self::run_team), outside of any body. No lock is then locked by another
///   thread, so nothing has to wait. [`Shared::open`](crate::team::Shared::open) wakes threads from there, too.
pub trait Machine: Host {
    /// Runs `body` on every thread of a team, watches over it, and says what it did; see
    /// [`Shared`](crate::team::Shared) for the steps of a round.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the team did not come to its end.
    fn run_team<T: Send + 'static>(
        setting: &TeamSetting,
        until: Until,
        body: &Body<Self, T>,
    ) -> Result<Outcome<T>, TeamError>;

    /// What the machine has charged the calling thread.
    fn usage() -> Usage;

    /// Does a piece of work. It is in measured loops.
    fn perform(work: Work);

    /// Computes something that takes about as long as `time` where nothing disturbs it, and of which nothing but that time
    /// matters. It is in measured loops.
    ///
    /// A machine of virtual time lets the time pass, and does not compute.
    #[inline(always)]
    fn compute(time: Work, compute: impl FnOnce()) {
        let _ = time;
        compute();
    }

    /// Tells that the calling thread reads or writes plain data that other threads use, too. It is in measured loops.
    ///
    /// Nothing on a real machine, where the access itself is what it is. A machine of virtual time moves the
    /// cache lines of the data.
    fn touch<T: ?Sized>(data: &T, write: bool);

    /// Sleeps for so long.
    fn sleep(time: Duration);

    /// The number of the calling thread, for [`is_parked`](Self::is_parked): not 0.
    fn thread_number() -> i32;

    /// Whether the thread of that number sleeps, and not only for a time of its own choice; false for 0. Costs some
    /// microseconds.
    fn is_parked(thread: i32) -> bool;

    /// A round of a workload that is about the real machine, or needs what only that has.
    ///
    /// # Errors
    ///
    /// [`TeamError::Refused`] on all machines but the real one; [`TeamError`] of the round there.
    fn real_round<W: RealRound, L: RawLock<Self>>(
        given: &Round,
        own: &W::Own,
    ) -> Result<Sample, TeamError> {
        let _ = (given, own);
        Err(TeamError::Refused(format!("it is measured on real machines only: {}", W::WHY)))
    }
}
