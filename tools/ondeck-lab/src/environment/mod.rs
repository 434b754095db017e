//! Where the threads of a measurement run: CPUs, scheduling policy, time slice, CPU quota.

mod pinning;
mod scheduling;

use std::time::Duration;

pub use pinning::Pinning;
pub use scheduling::Policy;

use pinning::join;

use crate::system::{self, Limit, Thread};
pub use crate::system::{Quota, Refusal};

/// CPUs, policy, time slice and quota together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The CPUs.
    pub pinning: Pinning,
    /// The policy.
    pub policy: Policy,
    /// The time slice under `SCHED_OTHER` and `SCHED_BATCH`, instead of the kernel's own.
    pub slice: Option<Duration>,
    /// The CPU time of all threads together, if it is limited.
    pub quota: Option<Quota>,
}

const CALLER: Thread = 0;

/// The coordinator's distance from the lowest realtime priority: above every role of a team.
const COORDINATOR: u8 = 5;

impl Placement {
    /// Tries the placement on a new thread, and replaces each part that the machine refuses by the
    /// default.
    #[must_use = "what was refused must be reported"]
    pub fn granted(self) -> (Self, Vec<Refusal>) {
        let usable = system::usable_cpus();
        let (known, strange): (Vec<_>, Vec<_>) =
            self.pinning.cpus().into_iter().partition(|cpu| usable.contains(cpu));
        let mut refusals = Vec::new();
        if !strange.is_empty() {
            refusals.push(no_cpu(
                &strange,
                &format!("this process may only use CPUs {}", join(&usable)),
            ));
        }
        let wanted = Self { pinning: Pinning::None, ..self.clone() };
        if known.is_empty() && wanted == Self::default() {
            return (Self::default(), refusals);
        }

        let probing = std::thread::Builder::new().spawn(move || {
            let refused = |cpu: &usize| Some((*cpu, system::pin(*cpu).err()?));
            let cpus: Vec<_> = known.iter().filter_map(refused).collect();
            (known, cpus, wanted.probe())
        });
        let probed = probing
            .map_err(|error| error.to_string())
            .and_then(|thread| thread.join().map_err(|_| "it panicked".to_owned()));
        let (mut kept, refused, (scheduled, more)) = match probed {
            Ok(probed) => probed,
            Err(error) => {
                refusals.push(Refusal {
                    reason: format!("pinning and policy not tried, for lack of a thread: {error}"),
                    fix: "raise `ulimit -u`, or end other programs".to_owned(),
                });
                return (Self::default(), refusals);
            }
        };
        for (cpu, error) in refused {
            refusals.push(no_cpu(&[cpu], &error));
            kept.retain(|other| *other != cpu);
        }
        let pinning = match self.pinning {
            _ if kept.is_empty() => Pinning::None,
            Pinning::Each if kept == usable => Pinning::Each,
            Pinning::One => Pinning::One,
            _ => Pinning::List(kept),
        };
        refusals.extend(more);
        (Self { pinning, ..scheduled }, refusals)
    }

    /// Tries all but the pinning on the calling thread; returns the granted placement and the
    /// refusals.
    fn probe(mut self) -> (Self, Vec<Refusal>) {
        let mut refusals = Vec::new();
        if self.policy != Policy::Other
            && let Err(refusal) = self.policy.apply(0)
        {
            refusals.push(refusal);
            self.policy = Policy::Other;
        }
        if let Some(slice) = self.slice
            && let Err(refusal) = try_slice(self.policy, slice)
        {
            refusals.push(refusal);
            self.slice = None;
        }
        if let Err(refusal) = self.try_quota() {
            refusals.push(refusal);
            self.quota = None;
        }
        (self, refusals)
    }

    /// Places the calling thread as the `index`-th of its team.
    ///
    /// # Errors
    ///
    /// The [`Refusal`] if the machine does not allow it; parts that it did allow stay in force.
    pub fn apply(&self, index: usize) -> Result<(), Refusal> {
        let cpus = self.pinning.cpus();
        let pinned = cpus
            .get(index % cpus.len().max(1))
            .map_or(Ok(()), |&cpu| system::pin(cpu).map_err(|error| no_cpu(&[cpu], &error)));
        if self.policy != Policy::Other {
            self.policy.apply(0)?;
        }
        if let Some(slice) = self.slice {
            try_slice(self.policy, slice)?;
        }
        pinned
    }

    /// Makes the group in which the threads of a team are limited to the quota, if there is one.
    ///
    /// # Errors
    ///
    /// The [`Refusal`] if the machine does not allow it.
    pub(crate) fn limit(&self) -> Result<Option<Limit>, Refusal> {
        self.quota.map(system::limited).transpose()
    }

    /// Tries the quota on the calling thread.
    fn try_quota(&self) -> Result<(), Refusal> {
        let Some(quota) = self.quota else { return Ok(()) };
        let refusal = |why: &str, fix: &str| Refusal {
            reason: format!("quota of {quota} CPUs refused: {why}"),
            fix: fix.to_owned(),
        };
        if self.policy.is_realtime() {
            return Err(refusal(
                "a realtime thread has none",
                "ask for a quota under the policies other and batch only",
            ));
        }
        let limit = self.limit()?;
        limit.map_or(Ok(()), |limit| limit.admit(CALLER)).map_err(|error| {
            refusal(&format!("no thread may enter a group: {error}"), "run as root")
        })
    }

    /// Under a realtime policy, raises the calling thread above the team that it will have to stop,
    /// until the guard is dropped; otherwise does nothing.
    pub(crate) fn raise_coordinator(&self) -> Option<Raised> {
        let former =
            if self.policy.is_realtime() { system::Scheduling::of_caller()? } else { return None };
        // The run goes on even after a refusal: the kernel's reserve for other threads lets the
        // coordinator run, late.
        self.policy.apply(COORDINATOR).is_ok().then_some(Raised(former))
    }
}

/// The time slice of the calling thread, where the kernel reports it.
pub fn slice() -> Option<Duration> {
    system::slice()
}

/// Why threads may not run under a realtime policy here; `None` if they may.
pub fn realtime_refused() -> Option<Refusal> {
    let wanted = Placement { policy: Policy::Fifo, ..Placement::default() };
    wanted.granted().1.into_iter().next()
}

/// Removes what limits threads to a quota: for the end of the process while a team runs.
pub fn remove_limits() {
    system::remove_limits();
}

/// Puts the coordinator back to where it was.
pub(crate) struct Raised(system::Scheduling);

impl Drop for Raised {
    fn drop(&mut self) {
        // A thread may always lower its priority.
        _ = self.0.apply();
    }
}

fn try_slice(policy: Policy, slice: Duration) -> Result<(), Refusal> {
    let refusal = |why: &str, fix: &str| Refusal {
        reason: format!("slice of {slice:?} refused: {why}"),
        fix: fix.to_owned(),
    };
    if policy.is_realtime() {
        return Err(refusal(
            "a realtime thread has no slice of its own",
            "ask for a slice under the policies other and batch only; that of rr is \
             /proc/sys/kernel/sched_rr_timeslice_ms",
        ));
    }
    let newer = "run Linux 6.12 or newer, and let the container call sched_setattr";
    system::set_slice(slice).map_err(|error| refusal(&error.to_string(), newer))?;
    match system::slice() {
        Some(given) if given == slice => Ok(()),
        Some(given) => Err(refusal(&format!("the kernel made it {given:?}"), "use 0.1ms to 100ms")),
        None => Err(refusal("this kernel has none for such threads", newer)),
    }
}

fn no_cpu(cpus: &[usize], why: &str) -> Refusal {
    Refusal {
        reason: format!("pinning to CPU {} refused: {why}", join(cpus)),
        fix: "name CPUs that `taskset -p $$` lists".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_does_not_exist_is_refused_and_the_others_are_kept() {
        let first = system::usable_cpus()[0];
        let wanted =
            Placement { pinning: Pinning::List(vec![first, 8_000]), ..Placement::default() };
        let (granted, refusals) = wanted.granted();
        assert_eq!(granted.pinning, Pinning::List(vec![first]));
        assert_eq!(refusals.len(), 1);
        assert!(refusals[0].reason.contains("8000"), "{refusals:?}");
    }

    #[test]
    fn a_refused_pinning_leaves_the_policy_alone() {
        let wanted = Placement {
            pinning: Pinning::List(vec![8_000]),
            policy: Policy::Batch,
            ..Placement::default()
        };
        let (granted, refusals) = wanted.granted();
        assert_eq!(granted, Placement { policy: Policy::Batch, ..Placement::default() });
        assert_eq!(refusals.len(), 1, "{refusals:?}");
    }

    #[test]
    fn a_slice_under_a_realtime_policy_is_refused_and_says_why() {
        let refusal = try_slice(Policy::Fifo, Duration::from_millis(1)).expect_err("no slice");
        assert!(refusal.reason.contains("no slice of its own"), "{refusal:?}");
    }

    #[test]
    fn a_quota_under_a_realtime_policy_is_refused_and_says_why() {
        let quota = Some("1".parse().expect("there is a CPU"));
        let placement = Placement { quota, policy: Policy::Fifo, ..Placement::default() };
        let refusal = placement.try_quota().expect_err("no quota");
        assert!(refusal.reason.contains("quota of 1.0 CPUs refused"), "{refusal:?}");
    }

    #[test]
    fn the_coordinator_goes_back_to_the_policy_it_had() {
        std::thread::spawn(|| {
            Policy::Batch.apply(0).expect("always allowed");
            let before = system::Scheduling::of_caller().expect("the kernel tells");
            let placement = Placement { policy: Policy::Fifo, ..Placement::default() };
            let raised = placement.raise_coordinator();
            if raised.is_some() {
                assert_ne!(system::Scheduling::of_caller(), Some(before));
            }
            drop(raised);
            assert_eq!(system::Scheduling::of_caller(), Some(before));
        })
        .join()
        .expect("no panic");
    }
}
