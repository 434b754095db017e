//! Circumstances that make numbers less trustworthy, and remedies.

use std::time::Duration;

use crate::clock;
use crate::disturbance;
use crate::environment::Refusal;
use crate::results::{CpuTime, Machine, Series, Warning};
use crate::sample::{PAIR, THROUGHPUT};

/// How long the CPU use is watched before a run, and the share that other programs may have.
const LOOK: Duration = Duration::from_millis(200);
const BUSY: f64 = 0.1;

/// The share of a run's CPU time above which the host makes figures meaningless, and the share for
/// other programs, whose time is known less exactly.
const STOLEN: f64 = 0.02;
const OTHERS: f64 = 0.05;

/// With less CPU time than this, in seconds, shares computed from ticks of 10 ms mean little.
const FEW_TICKS: f64 = 1.0;

/// From this step of a clock on, in nanoseconds, short times show it. A step of 10 is measured as
/// slightly less or more.
const COARSE: f64 = 9.5;

/// A quartile range above this share of the median is noise. Two runs of the same binary on the
/// same quiet virtual machine stay below 0.15 for `uncontended` and `throughput`.
const NOISY: f64 = 0.25;

/// The code of the warning that the CPUs were not the same cores all the time.
pub const CORES: &str = "cores";

/// The code of the warning that the machine is virtual.
pub const VIRTUAL_MACHINE: &str = "virtual_machine";

fn warning(code: &str, message: String, fix: &str) -> Warning {
    Warning { code: code.to_owned(), message, fix: fix.to_owned() }
}

/// Warnings before a measurement. Watches the machine for 0.2 s.
pub fn before(machine: &Machine) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if cfg!(debug_assertions) {
        warnings.push(warning(
            "debug_build",
            "this is a debug build: its numbers say nothing about locks".to_owned(),
            "build with --release",
        ));
    }
    if let Some(hypervisor) = &machine.virtualized {
        warnings.push(warning(
            VIRTUAL_MACHINE,
            format!(
                "virtual machine ({hypervisor}): other guests may take the CPU, waking is slower"
            ),
            "compare only numbers of one run; repeat on bare metal before deciding between locks \
             that are close",
        ));
    }
    if let Some(taken) = disturbance::look(LOOK).filter(|taken| *taken > BUSY) {
        warnings.push(warning(
            "busy",
            format!("other programs take {:.0} % of the CPUs", taken * 100.0),
            "stop them, or wait until they are done",
        ));
    }
    if machine.usable_cpus < machine.cpus {
        warnings.push(warning(
            "restricted",
            format!(
                "this process may use {} of {} CPUs (affinity mask or control group)",
                machine.usable_cpus, machine.cpus
            ),
            "intended? otherwise lift the quota or start without taskset",
        ));
    }
    if machine.usable_cpus == 1 {
        warnings.push(warning(
            "one_cpu",
            "one CPU: threads only take turns, nothing here happens at the same time".to_owned(),
            "measure on a machine with more CPUs to see contention",
        ));
    }
    if machine.clock == "CLOCK_MONOTONIC" {
        warnings.push(warning(
            "slow_clock",
            "no invariant counter: times of wait and idle include a clock call each".to_owned(),
            "read them as upper bounds",
        ));
    }
    warnings.extend(coarse(clock::step_nanos()));
    if let Some(governor) = machine.governor.as_ref().filter(|governor| *governor != "performance")
    {
        warnings.push(warning(
            "frequency",
            format!("CPU frequency governor is `{governor}`: clock speed changes with load"),
            "set it to `performance` (cpupower frequency-set -g performance)",
        ));
    }
    warnings
}

/// Warns of a clock whose steps are as long as a short time.
fn coarse(step_nanos: f64) -> Option<Warning> {
    (step_nanos >= COARSE).then(|| {
        warning(
            "coarse_clock",
            format!(
                "the clock moves in steps of {step_nanos:.0} ns: single times are multiples of that"
            ),
            "read means of wait and idle, not their short percentiles; repeat on another machine",
        )
    })
}

/// Warnings about requests that were not granted.
pub fn refused(refusals: &[Refusal]) -> Vec<Warning> {
    refusals
        .iter()
        .map(|refusal| {
            warning("refused", format!("{}; measured without it", refusal.reason), &refusal.fix)
        })
        .collect()
}

/// Warns about a realtime policy if the kernel reserves CPU time for other threads.
pub fn realtime(machine: &Machine) -> Option<Warning> {
    let share = machine.realtime_share.as_ref().filter(|share| *share != "all of it")?;
    Some(warning(
        "realtime",
        format!(
            "realtime threads may have {share}: a CPU on which they never sleep is taken from them \
             for the rest, which shows as a wait or an idle lock of that length"
        ),
        "keep rounds shorter than that; the limit is /proc/sys/kernel/sched_rt_runtime_us, and since \
         Linux 6.12 also that of the fair server",
    ))
}

/// A warning about a part of the suite that cannot run on this machine.
pub fn left_out(refusal: &Refusal) -> Warning {
    warning("refused", format!("{}; it is left out", refusal.reason), &refusal.fix)
}

/// Warnings about cores and CPU time that the run did not get.
pub fn disturbed(machine: &Machine, cpu: Option<CpuTime>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(work) = machine.pure_work.filter(|work| work.cores().len() > 1) {
        warnings.push(warning(
            CORES,
            format!("two CPUs were not the same before the run and after: {}", work.words()),
            "measure again: a median over both says nothing of either",
        ));
    }
    let Some(cpu) = cpu.filter(|cpu| cpu.wanted() >= FEW_TICKS) else { return warnings };
    if cpu.of_host() > STOLEN {
        warnings.push(warning(
            "stolen",
            format!(
                "the host took {:.0} % of the CPU time that this machine wanted: long times are the \
                 host's, and locks that burn CPU time suffer most",
                cpu.of_host() * 100.0
            ),
            "measure again, or on a machine of your own",
        ));
    }
    if cpu.of_others() > OTHERS {
        warnings.push(warning(
            "disturbed",
            format!("other programs had {:.0} % of the CPU time", cpu.of_others() * 100.0),
            "stop them and measure again",
        ));
    }
    warnings
}

/// Warnings that follow from the results.
pub fn after(machine: &Machine, series: &[Series], cpu: Option<CpuTime>) -> Vec<Warning> {
    let mut warnings = disturbed(machine, cpu);
    let most = series.iter().map(|series| series.threads).max().unwrap_or(0);
    if most > machine.usable_cpus {
        warnings.push(warning(
            "oversubscribed",
            format!(
                "up to {most} threads on {} CPUs: there the scheduler decides as much as the lock",
                machine.usable_cpus
            ),
            "read rows with more threads than CPUs as what happens under overload",
        ));
    }
    let spread_of = |series: &Series| {
        let metric = series.metric(PAIR.name).or_else(|| series.metric(THROUGHPUT.name))?;
        (series.distribution.is_none() && metric.n >= 3 && metric.median > 0.0)
            .then(|| (metric.p75 - metric.p25) / metric.median)
    };
    let spreads: Vec<f64> = series.iter().filter_map(spread_of).collect();
    let noisy = spreads.iter().filter(|&&spread| spread > NOISY).count();
    if noisy * 4 > spreads.len() {
        warnings.push(warning(
            "noisy",
            format!(
                "{noisy} of {} series spread by more than {:.0} % between quartiles",
                spreads.len(),
                NOISY * 100.0
            ),
            "quieten the machine, or raise --rounds and --duration",
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::PureWork;

    #[test]
    fn a_clock_of_long_steps_is_warned_of() {
        assert!(coarse(1.0).is_none() && coarse(0.4).is_none());
        let found = coarse(9.98).expect("10 ns, as measured");
        assert_eq!(found.code, "coarse_clock");
        assert!(found.message.contains("steps of 10 ns"), "{}", found.message);
    }

    #[test]
    fn cpu_time_of_others_is_told_from_that_of_the_host() {
        let codes = |own_seconds, others_seconds, host_seconds| -> Vec<String> {
            let cpu = CpuTime { own_seconds, others_seconds, host_seconds, idle_seconds: 50.0 };
            disturbed(&Machine::default(), Some(cpu))
                .into_iter()
                .map(|warning| warning.code)
                .collect()
        };
        assert_eq!(codes(97.0, 1.0, 1.0), [""; 0]);
        assert_eq!(codes(97.0, 0.0, 3.0), ["stolen"]);
        assert_eq!(codes(94.0, 6.0, 0.0), ["disturbed"]);
        assert_eq!(codes(80.0, 10.0, 10.0), ["stolen", "disturbed"]);
        // Ten ticks.
        assert_eq!(codes(0.05, 0.0, 0.05), [""; 0]);
        assert!(disturbed(&Machine::default(), None).is_empty());
    }

    #[test]
    fn cores_that_the_host_took_or_gave_meanwhile_are_warned_of() {
        let codes = |before, after| -> Vec<String> {
            let pure_work = Some(PureWork { before, after });
            let machine = Machine { pure_work, ..Machine::default() };
            disturbed(&machine, None).into_iter().map(|warning| warning.code).collect()
        };
        assert_eq!(codes(1.97, Some(1.95)), [""; 0]);
        assert_eq!(codes(1.97, Some(1.02)), [CORES]);
        assert_eq!(codes(1.0, None), [""; 0]);
    }
}
