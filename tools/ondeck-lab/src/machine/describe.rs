//! A description of the machine, for the report.
//!
//! All fields are best effort: a missing file leaves a field empty and never fails a run.

mod quota;

#[cfg(target_env = "gnu")]
use std::ffi::CStr;
use std::fs;
use std::path::Path;

use ondeck::platform::Native;

use crate::clock;
use crate::cpus;
use crate::results::Machine;
use crate::system;

/// Describes the machine that this process runs on.
pub fn describe() -> Machine {
    let cpu_info = read("/proc/cpuinfo");
    let name = nix::sys::utsname::uname().ok();
    let word = |part: Option<&std::ffi::OsStr>| {
        part.map_or(String::new(), |part| part.to_string_lossy().into_owned())
    };
    Machine {
        cpu: field(&cpu_info, "model name")
            .or_else(|| field(&cpu_info, "CPU part"))
            .unwrap_or_default(),
        architecture: std::env::consts::ARCH.to_owned(),
        cpus: listed("/sys/devices/system/cpu/online").unwrap_or(0),
        cores: cores(),
        smt: trimmed("/sys/devices/system/cpu/smt/active").map(|active| active == "1"),
        usable_cpus: Native::parallelism(),
        numa_nodes: listed("/sys/devices/system/node/online"),
        caches: caches(),
        memory_bytes: memory(),
        kernel: name.as_ref().map_or(String::new(), |name| {
            format!("{} {}", word(Some(name.sysname())), word(Some(name.release())))
        }),
        libc: libc_version(),
        scheduler: scheduler(),
        virtualized: hypervisor(&cpu_info),
        clock: clock::name().to_owned(),
        clock_source: trimmed("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .unwrap_or_default(),
        governor: trimmed("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        frequency: frequency(),
        idle_states: idle_states(),
        cpu_quota: quota::in_force(),
        realtime_share: realtime_share(),
        slice_milliseconds: system::slice().map(|slice| slice.as_secs_f64() * 1e3),
        load_average: load_average(),
        pure_work: None,
    }
}

/// The load average of one minute.
fn load_average() -> Option<f64> {
    read("/proc/loadavg").split_whitespace().next()?.parse().ok()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn trimmed(path: impl AsRef<Path>) -> Option<String> {
    let text = read(path);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

/// The number of CPUs or nodes in a kernel's list.
fn listed(path: &str) -> Option<usize> {
    cpus::listed(&read(path)).map(|all| all.len())
}

/// Distinct sets of sibling threads are distinct cores.
fn cores() -> Option<usize> {
    let mut siblings: Vec<String> = numbered("/sys/devices/system/cpu/cpu")
        .filter_map(|folder| trimmed(format!("{folder}/topology/thread_siblings_list")))
        .collect();
    siblings.sort_unstable();
    siblings.dedup();
    (!siblings.is_empty()).then_some(siblings.len())
}

/// The folders with this name followed by 0, 1, 2 and so on, as far as they exist.
fn numbered(name: &str) -> impl Iterator<Item = String> {
    /// More CPUs or caches than any kernel has.
    const MOST: usize = 8_192;
    (0..MOST)
        .map(move |number| format!("{name}{number}"))
        .take_while(|folder| Path::new(folder).exists())
}

fn caches() -> Vec<String> {
    numbered("/sys/devices/system/cpu/cpu0/cache/index")
        .filter_map(|folder| {
            let kind = match trimmed(format!("{folder}/type"))?.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            let size = trimmed(format!("{folder}/size"))?;
            let size =
                size.strip_suffix('K').map_or_else(|| size.clone(), |size| format!("{size} KiB"));
            Some(format!("L{}{kind} {size}", trimmed(format!("{folder}/level"))?))
        })
        .collect()
}

fn frequency() -> Option<String> {
    let of = |file: &str| trimmed(format!("/sys/devices/system/cpu/cpu0/cpufreq/{file}"));
    let megahertz = |file: &str| Some(of(file)?.parse::<u64>().ok()? / 1_000);
    let (least, most) = (megahertz("scaling_min_freq")?, megahertz("scaling_max_freq")?);
    let driver = of("scaling_driver").map_or(String::new(), |driver| format!(", {driver}"));
    Some(format!("{least} to {most} MHz{driver}"))
}

/// A virtual machine often has no idle states; its hypervisor decides.
fn idle_states() -> Vec<String> {
    let states: Vec<_> = numbered("/sys/devices/system/cpu/cpu0/cpuidle/state")
        .filter_map(|folder| {
            let (name, latency) =
                (trimmed(format!("{folder}/name"))?, trimmed(format!("{folder}/latency"))?);
            let disabled = trimmed(format!("{folder}/disable")).is_some_and(|word| word != "0");
            Some(format!("{name} {latency} µs{}", if disabled { " (disabled)" } else { "" }))
        })
        .collect();
    if !states.is_empty() {
        return states;
    }
    let of = |file: &str| trimmed(format!("/sys/devices/system/cpu/cpuidle/{file}"));
    ["driver", "governor"]
        .into_iter()
        .filter_map(|what| Some(format!("{what} {}", of(&format!("current_{what}"))?)))
        .collect()
}

fn realtime_share() -> Option<String> {
    let micros = |file: &str| trimmed(format!("/proc/sys/kernel/{file}"))?.parse::<i64>().ok();
    let (runtime, period) = (micros("sched_rt_runtime_us")?, micros("sched_rt_period_us")?);
    Some(match runtime {
        ..0 => "all of it".to_owned(),
        _ => format!("{} ms of each {} ms", runtime / 1_000, period / 1_000),
    })
}

fn memory() -> u64 {
    field(&read("/proc/meminfo"), "MemTotal")
        .and_then(|total| total.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes * 1024)
}

#[cfg(target_env = "gnu")]
fn libc_version() -> String {
    // SAFETY: returns a constant string with a terminator.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn libc_version() -> String {
    format!("{} (no version to ask)", if cfg!(target_env = "musl") { "musl" } else { "unknown" })
}

fn scheduler() -> String {
    // SAFETY: asks about the calling thread; takes and returns integers.
    match unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => "SCHED_OTHER".to_owned(),
        libc::SCHED_BATCH => "SCHED_BATCH".to_owned(),
        libc::SCHED_IDLE => "SCHED_IDLE".to_owned(),
        libc::SCHED_FIFO => "SCHED_FIFO".to_owned(),
        libc::SCHED_RR => "SCHED_RR".to_owned(),
        other => format!("policy {other}"),
    }
}

/// The hypervisor, if there is one: the CPU's own flag on x86, the firmware's words elsewhere.
fn hypervisor(cpu_info: &str) -> Option<String> {
    let named = trimmed("/sys/hypervisor/type").or_else(|| {
        let vendor = trimmed("/sys/class/dmi/id/sys_vendor")?;
        [
            "QEMU",
            "Amazon EC2",
            "Google",
            "Microsoft Corporation",
            "VMware, Inc.",
            "Xen",
            "innotek GmbH",
        ]
        .contains(&vendor.as_str())
        .then_some(vendor)
    });
    let flagged = field(cpu_info, "flags")
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    match (named, flagged) {
        (_, false) if cfg!(target_arch = "x86_64") => None,
        (Some(name), _) => Some(name),
        (None, true) => Some("unknown".to_owned()),
        (None, false) => None,
    }
}
