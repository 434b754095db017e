//! Where the threads of a measurement run: CPUs and scheduling policy.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use ondeck::platform::Linux;

/// Which CPUs threads are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// The scheduler places them.
    #[default]
    None,
    /// Thread *i* runs on the *i*-th usable CPU, and around again.
    Each,
    /// Thread *i* runs on the *i*-th CPU of the list, and around again.
    List(Vec<usize>),
}

/// A scheduling policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER`, the default.
    #[default]
    Other,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_FIFO` at the lowest priority.
    Fifo,
    /// `SCHED_RR` at the lowest priority.
    RoundRobin,
}

/// Pinning and policy together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The CPUs.
    pub pinning: Pinning,
    /// The policy.
    pub policy: Policy,
}

/// What the machine would not do, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was refused and why.
    pub reason: String,
    /// How to have it granted.
    pub fix: String,
}

impl Placement {
    /// Tries the placement on a thread of its own, and replaces each part that the machine refuses
    /// by the default.
    #[must_use = "what was refused must be reported"]
    pub fn granted(self) -> (Self, Vec<Refusal>) {
        let asked = match &self.pinning {
            Pinning::None => Vec::new(),
            Pinning::Each => Linux::affinity(),
            Pinning::List(cpus) => cpus.clone(),
        };
        let usable = Linux::affinity();
        let (known, strange): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|cpu| usable.contains(cpu));
        let mut refusals = Vec::new();
        if !strange.is_empty() {
            refusals.push(no_cpu(
                &strange,
                &format!("this process may only use CPUs {}", join(&usable)),
            ));
        }
        if known.is_empty() && self.policy == Policy::Other {
            return (Self::default(), refusals);
        }

        let policy = self.policy;
        let probing = std::thread::Builder::new().spawn(move || {
            let refused = |cpu: &usize| Some((*cpu, Linux::set_affinity(&[*cpu]).err()?));
            let cpus: Vec<_> = known.iter().filter_map(refused).collect();
            (known, cpus, if policy == Policy::Other { Ok(()) } else { policy.apply(0) })
        });
        let probed = probing
            .map_err(|error| error.to_string())
            .and_then(|thread| thread.join().map_err(|_| "it panicked".to_owned()));
        let (mut kept, refused, policy) = match probed {
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
            refusals.push(no_cpu(&[cpu], &error.to_string()));
            kept.retain(|other| *other != cpu);
        }
        let granted = Self {
            pinning: match self.pinning {
                _ if kept.is_empty() => Pinning::None,
                Pinning::Each if kept == usable => Pinning::Each,
                _ => Pinning::List(kept),
            },
            policy: if policy.is_ok() { self.policy } else { Policy::Other },
        };
        refusals.extend(policy.err());
        (granted, refusals)
    }

    /// Places the calling thread as the `index`-th of its team.
    ///
    /// # Errors
    ///
    /// The [`Refusal`] if the machine does not allow it; what it did allow stays in force.
    pub fn apply(&self, index: usize) -> Result<(), Refusal> {
        let pick = |cpus: &[usize]| cpus.get(index % cpus.len().max(1)).copied();
        let cpu = match &self.pinning {
            Pinning::None => None,
            Pinning::Each => pick(&Linux::affinity()),
            Pinning::List(cpus) => pick(cpus),
        };
        let pinned = cpu.map_or(Ok(()), |cpu| {
            Linux::set_affinity(&[cpu]).map_err(|error| no_cpu(&[cpu], &error.to_string()))
        });
        if self.policy != Policy::Other {
            self.policy.apply(0)?;
        }
        pinned
    }

    /// Under a realtime policy, lifts the calling thread above the team that it is to stop, until
    /// the guard goes; does nothing otherwise.
    pub(crate) fn raise_coordinator(&self) -> Option<Raised> {
        let realtime = matches!(self.policy, Policy::Fifo | Policy::RoundRobin);
        let former = if realtime { Scheduling::of_caller()? } else { return None };
        // Refused or not, the run goes on: realtime throttling lets the coordinator in, late.
        self.policy.apply(1).is_ok().then_some(Raised(former))
    }
}

/// Puts the coordinator back to where it was.
pub(crate) struct Raised(Scheduling);

impl Drop for Raised {
    fn drop(&mut self) {
        // Going down is always allowed.
        let _ = self.0.apply();
    }
}

/// A policy and priority as the kernel has them.
///
/// By system call: musl's functions refuse whatever they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scheduling {
    policy: libc::c_int,
    priority: libc::c_int,
}

impl Scheduling {
    /// What the calling thread runs under now.
    fn of_caller() -> Option<Self> {
        let mut priority: libc::c_int = 0;
        // SAFETY: thread 0 is the caller; takes and returns integers.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        // SAFETY: the kernel's structure is one integer, which outlives the call.
        let read = unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority) };
        (policy >= 0 && read == 0).then_some(Self { policy: policy as libc::c_int, priority })
    }

    /// Puts the calling thread under it.
    fn apply(self) -> std::io::Result<()> {
        let Self { policy, priority } = self;
        // SAFETY: thread 0 is the caller; the kernel reads one integer, which outlives the call.
        let set =
            unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
        if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    }
}

impl Policy {
    /// Puts the calling thread under this policy, `above` steps over its lowest priority.
    fn apply(self, above: i32) -> Result<(), Refusal> {
        let policy = match self {
            Self::Other => libc::SCHED_OTHER,
            Self::Batch => libc::SCHED_BATCH,
            Self::Fifo => libc::SCHED_FIFO,
            Self::RoundRobin => libc::SCHED_RR,
        };
        // SAFETY: takes and returns integers.
        let lowest = unsafe { libc::sched_get_priority_min(policy) };
        let priority = lowest + if lowest > 0 { above } else { 0 };
        Scheduling { policy, priority }.apply().map_err(|error| Refusal {
            reason: format!("policy {self} refused: {error}"),
            fix: "run as root, grant CAP_SYS_NICE, or raise `ulimit -r`".to_owned(),
        })
    }
}

fn no_cpu(cpus: &[usize], why: &str) -> Refusal {
    Refusal {
        reason: format!("pinning to CPU {} refused: {why}", join(cpus)),
        fix: "name CPUs that `taskset -p $$` lists".to_owned(),
    }
}

fn join(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Each => f.write_str("each"),
            Self::List(cpus) => f.write_str(&join(cpus)),
        }
    }
}

impl FromStr for Pinning {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "none" => Ok(Self::None),
            "each" => Ok(Self::Each),
            list => {
                let cpus: Option<Vec<_>> = list.split(',').map(range).collect();
                cpus.map(|cpus| Self::List(cpus.into_iter().flatten().collect())).ok_or_else(|| {
                    "expected `none`, `each`, or CPU numbers as `0,2` or `0-3,6`".to_owned()
                })
            }
        }
    }
}

/// A CPU, or a range of them as `0-3`.
fn range(word: &str) -> Option<RangeInclusive<usize>> {
    /// No kernel can be built for more; a longer range is a typing mistake.
    const MOST: usize = 8_192;
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|cpu| *cpu < MOST);
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..=last)
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Other => "other",
            Self::Batch => "batch",
            Self::Fifo => "fifo",
            Self::RoundRobin => "rr",
        })
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "other" => Ok(Self::Other),
            "batch" => Ok(Self::Batch),
            "fifo" => Ok(Self::Fifo),
            "rr" => Ok(Self::RoundRobin),
            _ => Err("expected one of `other`, `batch`, `fifo`, `rr`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_agree() {
        for word in ["none", "each", "0,2,3"] {
            assert_eq!(word.parse::<Pinning>().expect(word).to_string(), word);
        }
        for word in ["other", "batch", "fifo", "rr"] {
            assert_eq!(word.parse::<Policy>().expect(word).to_string(), word);
        }
        assert_eq!("0-2, 6".parse(), Ok(Pinning::List(vec![0, 1, 2, 6])));
        for word in ["0,x", "3-1", "0-", "", "0-99999999999"] {
            assert!(word.parse::<Pinning>().is_err(), "{word}");
        }
        assert!("idle".parse::<Policy>().is_err());
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused_and_the_others_are_kept() {
        let first = Linux::affinity()[0];
        let wanted =
            Placement { pinning: Pinning::List(vec![first, 8_000]), policy: Policy::Other };
        let (granted, refusals) = wanted.granted();
        assert_eq!(granted.pinning, Pinning::List(vec![first]));
        assert_eq!(refusals.len(), 1);
        assert!(refusals[0].reason.contains("8000"), "{refusals:?}");
    }

    #[test]
    fn a_refused_pinning_leaves_the_policy_alone() {
        let wanted = Placement { pinning: Pinning::List(vec![8_000]), policy: Policy::Batch };
        let (granted, refusals) = wanted.granted();
        assert_eq!(granted, Placement { pinning: Pinning::None, policy: Policy::Batch });
        assert_eq!(refusals.len(), 1, "{refusals:?}");
    }

    #[test]
    fn the_coordinator_goes_back_to_the_policy_it_had() {
        std::thread::spawn(|| {
            Policy::Batch.apply(0).expect("always allowed");
            let before = Scheduling::of_caller().expect("the kernel tells");
            let placement = Placement { pinning: Pinning::None, policy: Policy::Fifo };
            let raised = placement.raise_coordinator();
            if raised.is_some() {
                assert_ne!(Scheduling::of_caller(), Some(before));
            }
            drop(raised);
            assert_eq!(Scheduling::of_caller(), Some(before));
        })
        .join()
        .expect("no panic");
    }
}
