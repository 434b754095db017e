//! The laboratory's requests to Linux, apart from those of locks: where threads run and what they
//! are charged. It depends on no other module; `machine/describe.rs` describes the machine.
//!
//! A fact that the kernel does not report is absent in reports, and a request that it cannot fulfil
//! is refused with the reason: neither ever becomes a zero.

mod freeze;
mod groups;
mod quota;
mod scheduling;

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};
use ondeck::platform::Native;
use serde::{Deserialize, Serialize};

pub(crate) use freeze::freeze;
pub(crate) use groups::{Limit, limited, remove_all as remove_limits};
pub use quota::Quota;
pub(crate) use scheduling::{Scheduling, set_policy, set_slice, slice};

/// Something that the machine refuses, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Refusal {
    /// What was refused, and why.
    pub reason: String,
    /// How to get it granted.
    pub fix: String,
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

/// A thread's identifier in the kernel; 0 is the caller.
pub(crate) type Thread = i32;

/// The calling thread's account at one moment, or the difference of two. Facts that the kernel does
/// not report are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The time on the clock.
    pub elapsed: Duration,
    /// CPU time, user and system.
    pub cpu: Option<Duration>,
    /// Time in which the thread could have run and another had the CPU.
    pub queued: Option<Duration>,
    /// Switches because the thread slept.
    pub voluntary: Option<u64>,
    /// Switches because the scheduler took the CPU away.
    pub involuntary: Option<u64>,
}

/// The kernel's account of all CPUs at one moment, and this process's part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    pub(crate) busy: f64,
    pub(crate) idle: f64,
    pub(crate) host: f64,
    pub(crate) own: f64,
}

/// The CPUs that this process may use, ascending.
pub(crate) fn usable_cpus() -> Vec<usize> {
    Native::affinity()
}

/// Binds the calling thread to a CPU.
pub(crate) fn pin(cpu: usize) -> Result<(), String> {
    Native::set_affinity(&[cpu]).map_err(|error| error.to_string())
}

/// The CPUs that share a core with this one, as the kernel lists them.
pub(crate) fn siblings(cpu: usize) -> Option<String> {
    fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"))
        .ok()
}

/// What the calling thread has been charged.
pub(crate) fn usage() -> Usage {
    // The clock counts nanoseconds, whereas rusage may only have ticks.
    let cpu = clock(ClockId::CLOCK_THREAD_CPUTIME_ID);
    let (voluntary, involuntary) = getrusage(UsageWho::RUSAGE_THREAD).map_or((0, 0), |usage| {
        (usage.voluntary_context_switches() as u64, usage.involuntary_context_switches() as u64)
    });
    let elapsed = clock(ClockId::CLOCK_MONOTONIC);
    Usage {
        elapsed,
        cpu: Some(cpu),
        queued: queued(),
        voluntary: Some(voluntary),
        involuntary: Some(involuntary),
    }
}

/// The account of all CPUs, and this process's part of it. The kernel counts time in ticks of 10
/// ms, so less than half a second says little.
pub(crate) fn account_of_cpus() -> Option<Account> {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok()?? as f64;
    let own = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN]
        .into_iter()
        .filter_map(|who| getrusage(who).ok())
        .map(|usage| usage.user_time() + usage.system_time())
        .map(|time| time.num_microseconds() as f64 / 1e6)
        .sum();
    let (busy, idle, host) = of_all_cpus(&fs::read_to_string("/proc/stat").ok()?)?;
    let [busy, idle, host] = [busy, idle, host].map(|ticks| ticks as f64 / per_second);
    Some(Account { busy, idle, host, own })
}

/// Nanoseconds of a monotonic clock that no program sets.
pub(crate) fn raw_nanos() -> u64 {
    let time = clock(ClockId::CLOCK_MONOTONIC_RAW);
    time.as_secs() * 1_000_000_000 + u64::from(time.subsec_nanos())
}

/// Reads a clock; zero if the kernel does not have it.
fn clock(clock: ClockId) -> Duration {
    clock_gettime(clock).map(Duration::from).unwrap_or_default()
}

/// A number of the calling thread, not 0, that identifies it.
pub(crate) fn thread_number() -> i32 {
    nix::unistd::gettid().as_raw()
}

/// Whether a thread of this process sleeps in the kernel without a timeout that it chose.
pub(crate) fn is_parked(thread: i32) -> bool {
    let read = |file: &str| {
        fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).unwrap_or_default()
    };
    let stat = read("stat");
    let asleep =
        stat.rsplit_once(')').is_some_and(|(_, state)| state.trim_start().starts_with('S'));
    if !asleep {
        return false;
    }
    // If the kernel does not report the system call, any sleep counts.
    let call = read("syscall");
    let call = call.split_whitespace().next().and_then(|word| word.parse::<libc::c_long>().ok());
    !matches!(call, Some(libc::SYS_nanosleep | libc::SYS_clock_nanosleep))
}

/// Describes where a thread of the given process, or of this one, is: its name, its state, and the
/// kernel function in which it waits.
pub(crate) fn state_of_thread(process: Option<u32>, thread: i32) -> String {
    let process = process.map_or("self".to_owned(), |process| process.to_string());
    let read = |file: &str| {
        fs::read_to_string(format!("/proc/{process}/task/{thread}/{file}")).unwrap_or_default()
    };
    let stat = read("stat");
    // "tid (name) state ...": the name may hold anything, so the last parenthesis ends it.
    let (name, state) = match (stat.find('('), stat.rfind(')')) {
        (Some(open), Some(close)) => (
            stat[open + 1..close].to_owned(),
            stat[close + 1..].trim_start().chars().next().unwrap_or('?'),
        ),
        _ => ("thread".to_owned(), '?'),
    };
    let state = match state {
        'R' => "running",
        'S' => "sleeping",
        'D' => "in uninterruptible sleep",
        'T' | 't' => "stopped",
        'Z' | 'X' => "dead",
        _ => "in an unknown state",
    };
    let channel = read("wchan");
    match channel.trim() {
        "" | "0" => format!("{name} ({thread}) {state}"),
        channel => format!("{name} ({thread}) {state} in {channel}"),
    }
}

/// Keeps the Ctrl-C of this process from a child, and makes the child end with this process.
pub(crate) fn set_apart(command: &mut Command) {
    command.process_group(0);
    // SAFETY: between fork and exec the closure makes one system call and nothing else.
    unsafe {
        // After this process has ended, nothing else would end a child with a stuck lock.
        command.pre_exec(|| nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(Into::into));
    }
}

/// Makes a system call that does next to nothing.
pub(crate) fn system_call() {
    _ = std::hint::black_box(nix::unistd::getppid());
}

/// Requests large pages before the memory is touched. If the kernel refuses, only times change.
pub(crate) fn advise_large_pages(start: *mut u8, bytes: usize) {
    // SAFETY: the advice changes no content, whatever the range.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

/// How late a timed wait may be, where the kernel reports it.
pub(crate) fn timer_slack() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/timerslack_ns").ok()?;
    Some(Duration::from_nanos(text.trim().parse().ok()?))
}

/// How long the calling thread has waited in run queues: the second number of its `schedstat`.
fn queued() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// Ticks of all CPUs together: busy, idle, and taken by the host; from `/proc/stat`.
fn of_all_cpus(stat: &str) -> Option<(u64, u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // What guests of this machine use is in user and nice already.
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    Some((user + nice + system + irq + softirq, idle + iowait, steal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_of_all_cpus() {
        let stat = "cpu  100 20 3 4000 500 6 7 80 9 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(of_all_cpus(stat), Some((136, 4500, 80)));
        // Before Linux 2.6.11 there was no steal.
        assert_eq!(of_all_cpus("cpu  1 2 3 4 5 6 7\n"), None);
        assert_eq!(of_all_cpus(""), None);
    }
}
