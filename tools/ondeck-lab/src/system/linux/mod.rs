//! Linux: system calls, and the kernel's files.

mod quota;
mod scheduling;

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::TimeValLike;
use nix::time::ClockId;
use nix::unistd::{SysconfVar, sysconf};
use ondeck::platform::Native;

use super::{Account, Here, Limit, Policy, Quota, Refusal, System, Thread, Usage, unix};

impl System for Here {
    const NAME: &'static str = "Linux";

    const CLOCK: &'static str = "CLOCK_MONOTONIC";

    const NO_REALTIME: Option<&'static str> = None;

    const NO_SIGHT_OF_THREADS: Option<&'static str> = None;

    fn usable_cpus() -> Vec<usize> {
        Native::affinity()
    }

    const LIST_CPUS: &'static str = "`taskset -p $$`";

    fn pin(cpu: usize) -> Result<(), String> {
        Native::set_affinity(&[cpu]).map_err(|error| error.to_string())
    }

    fn siblings(cpu: usize) -> Option<String> {
        fs::read_to_string(format!(
            "/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        ))
        .ok()
    }

    const TELLS_LAYOUT: bool = true;

    type Scheduling = scheduling::Scheduling;

    fn scheduling() -> Option<Self::Scheduling> {
        Self::Scheduling::of_caller()
    }

    fn restore(scheduling: Self::Scheduling) {
        // If the kernel refuses, the thread continues unchanged.
        let _ = scheduling.apply();
    }

    fn set_policy(policy: Policy, thread: Thread, above: u8) -> Result<(), Refusal> {
        scheduling::set_policy(policy, thread, above)
    }

    fn slice() -> Option<Duration> {
        scheduling::slice()
    }

    fn set_slice(slice: Duration) -> io::Result<()> {
        scheduling::set_slice(slice)
    }

    fn limited(quota: Quota) -> Result<Box<dyn Limit>, Refusal> {
        quota::limited(quota)
    }

    fn remove_limits() {
        quota::remove_all();
    }

    fn usage() -> Usage {
        // The clock counts nanoseconds, whereas rusage may only have ticks.
        let cpu = unix::clock(ClockId::CLOCK_THREAD_CPUTIME_ID);
        let (voluntary, involuntary) = getrusage(UsageWho::RUSAGE_THREAD).map_or((0, 0), |usage| {
            (usage.voluntary_context_switches() as u64, usage.involuntary_context_switches() as u64)
        });
        let elapsed = unix::clock(ClockId::CLOCK_MONOTONIC);
        Usage {
            elapsed,
            cpu: Some(cpu),
            queued: queued(),
            voluntary: Some(voluntary),
            involuntary: Some(involuntary),
        }
    }

    /// It counts time in ticks of 10 ms, so less than half a second says little.
    fn account_of_cpus() -> Option<Account> {
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

    fn raw_nanos() -> u64 {
        let time = unix::clock(ClockId::CLOCK_MONOTONIC_RAW);
        time.as_secs() * 1_000_000_000 + u64::from(time.subsec_nanos())
    }

    fn thread_number() -> i32 {
        nix::unistd::gettid().as_raw()
    }

    fn is_parked(thread: i32) -> bool {
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
        let call =
            call.split_whitespace().next().and_then(|word| word.parse::<libc::c_long>().ok());
        !matches!(call, Some(libc::SYS_nanosleep | libc::SYS_clock_nanosleep))
    }

    fn freeze<T>(handle: &JoinHandle<T>) {
        unix::freeze(handle);
    }

    /// Its name, its state, and the kernel function in which it waits.
    fn state_of_thread(process: Option<u32>, thread: i32) -> String {
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

    fn set_apart(command: &mut Command) {
        command.process_group(0);
        // SAFETY: between fork and exec the closure makes one system call and nothing else.
        unsafe {
            // After this process has ended, nothing else would end a child with a stuck lock.
            command
                .pre_exec(|| nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(Into::into));
        }
    }

    const HAS_SYSTEM_CALL: bool = true;

    fn system_call() {
        _ = std::hint::black_box(nix::unistd::getppid());
    }

    const NO_HEAVY_FENCE: &'static str = "membarrier(2) is missing or refused";

    fn advise_large_pages(start: *mut u8, bytes: usize) {
        // SAFETY: the advice changes no content, whatever the range.
        unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
    }

    fn timer_slack() -> Option<Duration> {
        let text = fs::read_to_string("/proc/self/timerslack_ns").ok()?;
        Some(Duration::from_nanos(text.trim().parse().ok()?))
    }
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
