//! The machine file of this machine, which `ondeck costs --machine-file` writes.

use std::fmt::Write;

use ondeck_lab::costs::hardware::{Core, Hardware, Kernel, Kind, Nanos, Shared};
use ondeck_lab::results::Machine;
use ondeck_sim::machine::{Key, MachineFile, Range, Value, keys};

/// The text of the machine file; `day` is the date of the measurement.
///
/// A key without a figure comes from the base. A comment explains why a planned measurement is
/// missing. A figure out of its range counts as missing, because a busy machine is measured wrong.
///
/// # Errors
///
/// If there is no figure for a key that no base has.
pub(crate) fn text(
    name: &str,
    machine: &Machine,
    hardware: &Hardware,
    day: &str,
) -> Result<String, String> {
    let (cpu, layout) = (machine.cpu.trim(), &hardware.layout);
    let cores: usize = layout.clusters.iter().map(|it| it.cores).sum();
    let about =
        format!("{cpu}, {} usable CPUs on {cores} cores, {}", layout.places.len(), machine.kernel);
    let mut text = Text {
        out: String::new(),
        base: base(machine),
        from: format!("measured by ondeck costs on {cpu}, {day}"),
        lacking: Vec::new(),
    };
    for (key, word) in [("name", name), ("about", &about), ("base", text.base)] {
        text.line(&format!("{key} = {}", quoted(word)));
    }
    of_layout(&mut text, hardware);
    for (kind, core) in &hardware.cores {
        of_core(&mut text, class(hardware, *kind), core, &hardware.cores[0].1);
    }
    text.head("[transfer]");
    for (shared, nanos) in &hardware.transfer {
        let name = match shared {
            Shared::Core => "smt_sibling",
            Shared::Cluster => "same_cluster",
            Shared::Socket => "same_socket",
            Shared::Machine => "cross_socket",
        };
        let states = nanos.as_ref().map_or_else(
            |_| String::new(),
            |it| format!(", a quarter below {:.0} and above {:.0} ns", it.p25, it.p75),
        );
        let median = nanos.clone().map(|it| it.median);
        text.figure(
            "transfer",
            name,
            &median,
            &format!("median of pairs of CPUs, one way{states}"),
        );
    }
    text.figure("transfer", "memory", &hardware.memory, "a chain of loads through 256 MiB");
    of_kernel(&mut text, &hardware.kernel);
    text.head("[clock]");
    let ticks = Ok(hardware.ticks_per_nanosecond);
    text.figure("clock", "tsc_ghz", &ticks, "the rate of the counter that the platform reads");
    text.figure("clock", "monotonic_read", &hardware.kernel.clock, "in a row");
    match MachineFile::parse(&format!("the measured {name}"), &text.out) {
        Ok(_) => Ok(text.out),
        Err(error) => Err([vec![error.to_string()], text.lacking].concat().join("; ")),
    }
}

/// The base that supplies missing figures: other machines of the same kind.
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

/// A machine file in progress, whose figures all come from one measurement.
struct Text {
    out: String,
    base: &'static str,
    /// The source of the values.
    from: String,
    /// Keys without a figure, each with the reason.
    lacking: Vec<String>,
}

impl Text {
    fn line(&mut self, line: &str) {
        _ = writeln!(self.out, "{line}");
    }

    fn head(&mut self, head: &str) {
        self.line(&format!("\n{head}"));
    }

    fn leaf(&mut self, name: &str, value: &Value, how: &str) {
        let from = quoted(&format!("{}: {how}", self.from));
        self.line(&format!("{name} = {{ value = {value}, from = {from} }}"));
    }

    /// Writes the figure, if there is one in the range of its key.
    fn figure(&mut self, section: &str, name: &str, nanos: &Nanos, how: &str) {
        let key = keys().find(|key| (key.section, key.name) == (section, name));
        let value = nanos.clone().and_then(|nanos| {
            let number = rounded(nanos);
            match key {
                Some(Key { range: Range::Number(least, most), .. })
                    if !(*least..=*most).contains(&number) =>
                {
                    Err(format!("{number:?} is out of range, {least} to {most}"))
                }
                _ => Ok(Value::Number(number)),
            }
        });
        match value {
            Ok(value) => self.leaf(name, &value, how),
            Err(reason) => {
                // A line break would end the comment.
                let reason = reason.replace(char::is_control, " ");
                let base = self.base;
                self.line(&format!("# {name}: as in {base}; not measured: {reason}"));
                self.lacking.push(format!("{name} was not measured: {reason}"));
            }
        }
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let text = text.replace(char::is_control, " ").replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

/// Four digits: more would be noise.
fn rounded(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// `a` minus each of `parts`; not below 0, because each figure has its own noise.
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

fn of_layout(text: &mut Text, hardware: &Hardware) {
    let count = |count: usize| Value::Count(count.cast_signed() as i64);
    for cluster in &hardware.layout.clusters {
        text.head("[[cluster]]");
        let class = class(hardware, cluster.kind).to_owned();
        for (name, value) in [
            ("socket", count(cluster.socket)),
            ("class", Value::Word(class)),
            ("cores", count(cluster.cores)),
            // A core with more than two hardware threads is simulated with two.
            ("smt", count(cluster.smt.min(2))),
        ] {
            text.leaf(name, &value, "files of /sys");
        }
    }
}

fn of_core(text: &mut Text, class: &str, core: &Core, first: &Core) {
    text.head(&format!("[class.{class}]"));
    let mut add = |name, nanos: &Nanos, how| text.figure("class.*", name, nanos, how);
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

fn of_kernel(text: &mut Text, kernel: &Kernel) {
    let call = kernel.wakes.as_ref().map(|wakes| wakes.call).map_err(Clone::clone);
    let wake = less(&call, &[&kernel.wake_of_none]);
    text.head("[futex]");
    let how = "a system call that does next to nothing";
    text.figure("futex", "entry", &kernel.system_call, how);
    text.figure(
        "futex",
        "wake",
        &wake,
        "a wake that finds a sleeping thread, minus one that finds none",
    );
    if let Some(slack) = kernel.timer_slack {
        let slack = Ok(slack.as_secs_f64() * 1e9);
        text.figure("futex", "timer_slack", &slack, "as the kernel tells");
    }

    text.head("[membarrier]");
    text.figure("membarrier", "base", &kernel.heavy_fence, "no other thread running");
    let per_cpu = less(&kernel.heavy_fence_beside, &[&kernel.heavy_fence]);
    text.figure("membarrier", "per_cpu", &per_cpu, "one thread running, less none");

    text.head("[scheduler]");
    if let Some(slice) = kernel.slice {
        let slice = Ok(slice.as_secs_f64() * 1e9);
        text.figure("scheduler", "slice", &slice, "as the kernel tells");
    }
    let switch = less(&kernel.wake_to_run_here, &[&kernel.wake_of_none, &kernel.wait_in_vain]);
    let how = "a wake to run on the same CPU, less a wake of none and a wait in vain";
    text.figure("scheduler", "switch", &switch, how);
    let how = "without another thread to run";
    text.figure("scheduler", "yield_cost", &kernel.yield_alone, how);
    let shortest = kernel.wakes.as_ref().map_err(Clone::clone).and_then(|wakes| {
        wakes.to_run.first().map(|(_, time)| *time).ok_or_else(|| "no wake".to_owned())
    });
    let latency = less(&shortest, &[&kernel.system_call, &wake, &switch]);
    let how = "a wake to run on a CPU that was idle for 5 µs, less the call and the switch";
    text.figure("scheduler", "wake_latency", &latency, how);
    let spread = kernel.wakes.as_ref().map(|wakes| wakes.spread).map_err(Clone::clone);
    let how = "the distance of the quartiles of such wakes, as a part of the latency";
    text.figure("scheduler", "wake_jitter", &ratio(&spread, &latency, (0.0, 1.0)), how);

    if let (Ok(wakes), Ok(shortest)) = (&kernel.wakes, shortest) {
        for (after, exit) in idle_states(&wakes.to_run, shortest) {
            text.head("[[idle]]");
            text.figure("idle[]", "after", &Ok(after), "threads that slept so long");
            let how = "how much later they ran than those that slept for 5 µs";
            text.figure("idle[]", "exit", &Ok(exit), how);
        }
    }
}

/// The idle times from which on a wake takes notably longer, with the additional time.
fn idle_states(to_run: &[(f64, f64)], shortest: f64) -> Vec<(f64, f64)> {
    let mut states = vec![(0.0, 0.0)];
    let mut deepest = 0.0;
    for &(after, time) in to_run {
        let exit = time - shortest;
        // A fifth and a third of a microsecond: smaller differences are the noise of medians.
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
    fn a_figure_is_a_leaf_and_what_is_none_says_why() {
        let from = "measured \"here\"".to_owned();
        let mut text = Text { out: String::new(), base: "linux", from, lacking: Vec::new() };
        text.figure("clock", "tsc_ghz", &Ok(2.5), "a \\ rate");
        text.figure("scheduler", "yield_cost", &Ok(2e7), "");
        text.figure("membarrier", "base", &Err("refused\nhere".to_owned()), "");
        assert_eq!(
            text.out,
            "tsc_ghz = { value = 2.5, from = \"measured \\\"here\\\": a \\\\ rate\" }\n\
             # yield_cost: as in linux; not measured: 20000000.0 is out of range, 0 to 1000000\n\
             # base: as in linux; not measured: refused here\n"
        );
        assert_eq!(text.lacking[1], "base was not measured: refused here");
    }

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
