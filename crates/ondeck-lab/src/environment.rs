//! Where the threads of a measurement run: CPUs and scheduling policy.

use std::fmt;
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
    ///
    /// # Panics
    ///
    /// If the probing thread cannot be made.
    #[must_use = "what was refused must be reported"]
    pub fn granted(mut self) -> (Self, Vec<Refusal>) {
        let mut refusals = Vec::new();
        let usable = Linux::affinity();
        if let Pinning::List(cpus) = &self.pinning {
            let (kept, refused): (Vec<_>, Vec<_>) =
                cpus.iter().partition(|cpu| usable.contains(cpu));
            if !refused.is_empty() {
                refusals.push(Refusal {
                    reason: format!(
                        "pinning to CPU {} refused: this process may only use CPUs {}",
                        join(&refused),
                        join(&usable)
                    ),
                    fix: "name CPUs that `taskset -p $$` lists".to_owned(),
                });
                self.pinning = if kept.is_empty() { Pinning::None } else { Pinning::List(kept) };
            }
        }
        let probe = self.clone();
        let result =
            std::thread::spawn(move || probe.apply(0)).join().expect("probing does not panic");
        if let Err(refusal) = result {
            refusals.push(refusal);
            self.policy = Policy::Other;
        }
        (self, refusals)
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
        if let Some(cpu) = cpu {
            Linux::set_affinity(&[cpu]).map_err(|error| Refusal {
                reason: format!("pinning to CPU {cpu} refused: {error}"),
                fix: "name CPUs that `taskset -p $$` lists".to_owned(),
            })?;
        }
        if self.policy == Policy::Other { Ok(()) } else { self.policy.apply(0) }
    }

    /// Under a realtime policy, lifts the calling thread above the team that it is to stop, until
    /// the guard goes; does nothing otherwise.
    pub(crate) fn raise_coordinator(&self) -> Option<Raised> {
        let realtime = matches!(self.policy, Policy::Fifo | Policy::RoundRobin);
        // Refused or not, the run goes on: realtime throttling lets the coordinator in, late.
        (realtime && self.policy.apply(1).is_ok()).then_some(Raised)
    }
}

/// Lowers the coordinator again.
pub(crate) struct Raised;

impl Drop for Raised {
    fn drop(&mut self) {
        // Going back to the default is always allowed.
        let _ = Policy::Other.apply(0);
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
        let parameter =
            libc::sched_param { sched_priority: lowest + if lowest > 0 { above } else { 0 } };
        // SAFETY: thread 0 is the caller; the kernel reads the parameter, which outlives the call.
        if unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) } == 0 {
            return Ok(());
        }
        Err(Refusal {
            reason: format!("policy {self} refused: {}", std::io::Error::last_os_error()),
            fix: "run as root, grant CAP_SYS_NICE, or raise `ulimit -r`".to_owned(),
        })
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
            list => list
                .split(',')
                .map(|cpu| cpu.trim().parse::<usize>())
                .collect::<Result<Vec<_>, _>>()
                .map(Self::List)
                .map_err(|_| "expected `none`, `each`, or CPU numbers as `0,2`".to_owned()),
        }
    }
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
        assert!("0,x".parse::<Pinning>().is_err());
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
}
