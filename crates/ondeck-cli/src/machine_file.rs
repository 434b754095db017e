//! The machine file of the machine at hand: what `ondeck costs --machine-file` writes.

use ondeck_lab::costs::hardware::{Core, Hardware, Kernel, Kind, Nanos, Shared};
use ondeck_lab::results::Machine;
use ondeck_sim::machine::{Cluster, Figure, MachineError, Measured, Value, write};

/// The text of the machine file; `day` is the date of the measurement.
///
/// # Errors
///
/// [`MachineError`] if a figure is out of its range, or one that no base has is missing.
pub(crate) fn text(
    name: &str,
    machine: &Machine,
    hardware: &Hardware,
    day: &str,
) -> Result<String, MachineError> {
    let from = format!("measured by ondeck costs on {}, {day}", machine.cpu.trim());
    let layout = &hardware.layout;
    let mut figures = Figures { from: from.clone(), list: Vec::new() };
    for (kind, core) in &hardware.cores {
        let first = &hardware.cores[0].1;
        of_core(&mut figures, class(hardware, *kind), core, first);
    }
    for (shared, nanos) in &hardware.transfer {
        let key = match shared {
            Shared::Core => "transfer.smt_sibling",
            Shared::Cluster => "transfer.same_cluster",
            Shared::Socket => "transfer.same_socket",
            Shared::Machine => "transfer.cross_socket",
        };
        figures.add(key, nanos, "median of pairs of CPUs, one way");
    }
    figures.add("transfer.memory", &hardware.memory, "a chain of loads through 256 MiB");
    of_kernel(&mut figures, &hardware.kernel);
    let ticks = Ok(hardware.ticks_per_nanosecond);
    figures.add("clock.tsc_ghz", &ticks, "the rate of the counter that the platform reads");
    let cluster = |it: &ondeck_lab::costs::hardware::Cluster| Cluster {
        socket: it.socket as u32,
        class: class(hardware, it.kind).to_owned(),
        cores: it.cores as u32,
        // A core of more hardware threads than two is simulated with two.
        smt: it.smt.min(2) as u32,
    };
    write(&Measured {
        name: name.to_owned(),
        about: format!(
            "{}, {} usable CPUs on {} cores, {}",
            machine.cpu.trim(),
            layout.places.len(),
            layout.clusters.iter().map(|it| it.cores).sum::<usize>(),
            machine.kernel
        ),
        base: base(machine).to_owned(),
        from: format!("{from}: files of /sys"),
        clusters: layout.clusters.iter().map(cluster).collect(),
        figures: figures.list,
    })
}

/// What has no figure is as on other machines of that kind.
fn base(machine: &Machine) -> &'static str {
    /// The first kernel whose scheduler is EEVDF.
    const EEVDF: (u32, u32) = (6, 6);
    if release(&machine.kernel).is_some_and(|release| release < EEVDF) {
        "linux-cfs"
    } else if machine.virtualized.is_some() {
        "linux-guest"
    } else {
        "linux"
    }
}

/// The first two numbers of `Linux 6.12.3-amd64`.
fn release(kernel: &str) -> Option<(u32, u32)> {
    let mut numbers = kernel.split_whitespace().nth(1)?.split(|it: char| !it.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn class(hardware: &Hardware, kind: Kind) -> &'static str {
    match kind {
        _ if hardware.cores.len() == 1 => "core",
        Kind::Performance => "performance",
        Kind::Efficiency => "efficiency",
    }
}

/// The figures of a file, which are all from one measurement.
struct Figures {
    from: String,
    list: Vec<Figure>,
}

impl Figures {
    fn add(&mut self, key: &str, nanos: &Nanos, how: &str) {
        self.list.push(Figure {
            key: key.to_owned(),
            value: nanos.clone().map(|nanos| Value::Number(rounded(nanos))),
            from: format!("{}: {how}", self.from),
        });
    }
}

/// Four digits: more would be noise.
fn rounded(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// `a` less each of `parts`; not below 0, because each figure has its own noise.
fn less(a: &Nanos, parts: &[&Nanos]) -> Nanos {
    parts
        .iter()
        .try_fold(a.clone()?, |rest, part| Ok(rest - part.as_ref().map_err(Clone::clone)?))
        .map(|rest| f64::max(rest, 0.0))
}

/// `a` divided by `b`, within the limits.
fn ratio(a: &Nanos, b: &Nanos, (least, most): (f64, f64)) -> Nanos {
    Ok((a.clone()? / b.clone()?).clamp(least, most))
}

fn of_core(figures: &mut Figures, class: &str, core: &Core, first: &Core) {
    let mut add = |name: &str, nanos: &Nanos, how: &str| {
        figures.add(&format!("class.{class}.{name}"), nanos, how);
    };
    add("pause", &core.pause, "a tenth of ten PAUSE");
    let speed = ratio(&first.work, &core.work, (0.01, 10.0));
    add("speed", &speed, "a piece of work, compared with the first class");
    if let Some(beside) = &core.work_beside_sibling {
        let speed = ratio(&core.work, beside, (0.5, 1.0));
        add("smt_speed", &speed, "a piece of work, alone and beside the sibling");
    }
    add("hit", &core.load, "a load, of many in a row");
    add("rmw", &core.exchange, "an exchange");
    add("fence", &core.fence, "a full fence");
    add("tsc_read", &core.ticks, "a read of the ticks");
}

fn of_kernel(figures: &mut Figures, kernel: &Kernel) {
    let call = kernel.wakes.as_ref().map(|wakes| wakes.call).map_err(Clone::clone);
    let wake = less(&call, &[&kernel.wake_of_none]);
    let switch = less(&kernel.wake_to_run_here, &[&kernel.wake_of_none, &kernel.wait_in_vain]);
    figures.add("futex.entry", &kernel.system_call, "a system call that does next to nothing");
    figures.add("futex.wake", &wake, "a wake of a thread, less a wake of none");
    if let Some(slack) = kernel.timer_slack {
        figures.add("futex.timer_slack", &Ok(slack.as_secs_f64() * 1e9), "as the kernel tells");
    }
    figures.add("membarrier.base", &kernel.heavy_fence, "no other thread running");
    let per_cpu = less(&kernel.heavy_fence_beside, &[&kernel.heavy_fence]);
    figures.add("membarrier.per_cpu", &per_cpu, "one thread running, less none");
    if let Some(slice) = kernel.slice {
        figures.add("scheduler.slice", &Ok(slice.as_secs_f64() * 1e9), "as the kernel tells");
    }
    let how = "a wake to run on the same CPU, less a wake of none and a wait in vain";
    figures.add("scheduler.switch", &switch, how);
    figures.add("scheduler.yield_cost", &kernel.yield_alone, "without another thread to run");
    let shortest = kernel.wakes.as_ref().map_err(Clone::clone).and_then(|wakes| {
        wakes.to_run.first().map(|(_, time)| *time).ok_or_else(|| "no wake".to_owned())
    });
    let latency = less(&shortest, &[&kernel.system_call, &wake, &switch]);
    let how = "a wake to run on a CPU that was idle for 5 µs, less the call and the switch";
    figures.add("scheduler.wake_latency", &latency, how);
    if let (Ok(wakes), Ok(shortest)) = (&kernel.wakes, shortest) {
        for (index, (after, exit)) in idle_states(&wakes.to_run, shortest).into_iter().enumerate() {
            let how = "threads that slept so long";
            figures.add(&format!("idle[{index}].after"), &Ok(after), how);
            let how = "how much later they ran than those that slept for 5 µs";
            figures.add(&format!("idle[{index}].exit"), &Ok(exit), how);
        }
    }
    figures.add("clock.monotonic_read", &kernel.clock, "in a row");
}

/// The idle times from which on a wake takes notably longer, and how much longer than the shortest.
fn idle_states(to_run: &[(f64, f64)], shortest: f64) -> Vec<(f64, f64)> {
    let mut states = vec![(0.0, 0.0)];
    let mut deepest = 0.0;
    for &(after, time) in to_run {
        let exit = time - shortest;
        // A fifth and a third of a microsecond: less is the noise of medians.
        if exit > deepest * 1.2 + 300.0 {
            states.push((after, exit));
            deepest = exit;
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_states_are_where_wakes_become_slower() {
        let measured =
            [(5e3, 2e3), (20e3, 2.1e3), (100e3, 6e3), (500e3, 6.5e3), (2e6, 40e3), (10e6, 39e3)];
        assert_eq!(idle_states(&measured, 2e3), [(0.0, 0.0), (100e3, 4e3), (2e6, 38e3)]);
    }

    #[test]
    fn a_kernel_before_eevdf_is_told_by_its_release() {
        assert_eq!(release("Linux 6.12.3-amd64"), Some((6, 12)));
        assert_eq!(release("Linux 6.5.0"), Some((6, 5)));
        assert_eq!(release(""), None);
    }

    #[test]
    fn a_difference_is_not_negative_and_keeps_its_reason() {
        assert_eq!(less(&Ok(5.0), &[&Ok(2.0), &Ok(1.0)]), Ok(2.0));
        assert_eq!(less(&Ok(5.0), &[&Ok(9.0)]), Ok(0.0));
        assert_eq!(less(&Ok(5.0), &[&Err("refused".to_owned())]), Err("refused".to_owned()));
        assert_eq!(rounded(1_234.567).to_bits(), 1_235.0_f64.to_bits());
    }
}
