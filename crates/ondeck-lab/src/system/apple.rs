//! macOS.
//!
//! It binds no thread to a CPU, counts no context switches of a thread, and has no policies as Linux has them.

use std::ffi::{CStr, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command};
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::ClockId;

use super::{Here, System, unix};
use crate::clock;
use crate::results::Machine;
use crate::usage::Usage;
use crate::workload::face::Needs;

/// Why no thread is bound to a CPU.
const NO_PINNING: &str = "macOS binds no thread to a CPU";

impl System for Here {
    const NAME: &'static str = "macOS";

    const CLOCK: &'static str = "CLOCK_UPTIME_RAW";

    fn lacks(needs: Needs) -> Option<&'static str> {
        match needs {
            Needs::Nothing | Needs::SleepingWaiters => None,
            Needs::Realtime => {
                Some("macOS binds no thread to a CPU, so that no priority keeps another off it")
            }
            Needs::LowPriority => Some("macOS has no SCHED_IDLE and no nice values of threads"),
        }
    }

    fn usable_cpus() -> Vec<usize> {
        (0..parallelism()).collect()
    }

    const NO_PINNING: Option<&'static str> = Some(NO_PINNING);

    const LIST_CPUS: &'static str = "`sysctl hw.logicalcpu`";

    fn pin(_cpu: usize) -> Result<(), String> {
        Err(NO_PINNING.to_owned())
    }

    type Scheduling = ();

    type Quota = ();

    fn usage() -> Usage {
        let cpu = unix::clock(ClockId::CLOCK_THREAD_CPUTIME_ID);
        let elapsed = unix::clock(ClockId::from_raw(libc::CLOCK_UPTIME_RAW));
        // A thread that asks has run.
        Usage { elapsed, cpu: (!cpu.is_zero()).then_some(cpu), ..Usage::default() }
    }

    fn peak_memory() -> Option<u64> {
        // In bytes.
        getrusage(UsageWho::RUSAGE_SELF).ok().map(|usage| usage.max_rss() as u64)
    }

    fn raw_nanos() -> u64 {
        unix::clock(ClockId::from_raw(libc::CLOCK_MONOTONIC_RAW)).as_nanos() as u64
    }

    /// The name of its Mach port.
    fn thread_number() -> i32 {
        // SAFETY: takes the calling thread, which is alive.
        unsafe { libc::pthread_mach_thread_np(libc::pthread_self()) }.cast_signed()
    }

    /// Whether it sleeps for a time of its own choice is not told, so it has to be enough that it sleeps.
    fn is_parked(thread: i32) -> bool {
        let mut info = MaybeUninit::<libc::thread_basic_info>::zeroed();
        let mut words = libc::THREAD_BASIC_INFO_COUNT;
        // SAFETY: the structure is live, and as long as is said. A port that is no thread's is an error.
        let error = unsafe {
            libc::thread_info(
                thread.cast_unsigned(),
                libc::THREAD_BASIC_INFO as libc::thread_flavor_t,
                info.as_mut_ptr().cast(),
                &raw mut words,
            )
        };
        // SAFETY: all zeros are a value of it, whatever was written.
        let info = unsafe { info.assume_init() };
        error == libc::KERN_SUCCESS && info.run_state == libc::TH_STATE_WAITING
    }

    fn freeze<T>(handle: &JoinHandle<T>) {
        unix::freeze(handle);
    }

    fn set_apart(command: &mut Command) {
        command.process_group(0);
    }

    fn read_line(
        output: ChildStdout,
        limit: Duration,
        cancel: &AtomicBool,
    ) -> io::Result<Option<String>> {
        unix::read_line(output, limit, cancel)
    }

    const HAS_SYSTEM_CALL: bool = true;

    fn system_call() {
        _ = std::hint::black_box(nix::unistd::getppid());
    }

    const NO_HEAVY_FENCE: &'static str = "macOS documents no heavy fence";

    fn describe() -> Machine {
        let number = |name| number(name).and_then(|number| usize::try_from(number).ok());
        Machine {
            cpu: text(c"machdep.cpu.brand_string").unwrap_or_default(),
            architecture: std::env::consts::ARCH.to_owned(),
            cpus: number(c"hw.logicalcpu").unwrap_or_else(parallelism),
            cores: number(c"hw.physicalcpu"),
            usable_cpus: parallelism(),
            caches: caches(),
            memory_bytes: number(c"hw.memsize").unwrap_or(0) as u64,
            kernel: format!(
                "macOS {}, Darwin {}",
                text(c"kern.osproductversion").unwrap_or_default(),
                text(c"kern.osrelease").unwrap_or_default()
            ),
            virtualized: (number(c"kern.hv_vmm_present") == Some(1)).then(|| "unknown".to_owned()),
            clock: clock::name().to_owned(),
            clock_source: Self::CLOCK.to_owned(),
            load_average: load_average(),
            ..Machine::default()
        }
    }
}

/// How many threads can run at the same time.
fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Those of a core of the fastest kind.
fn caches() -> Vec<String> {
    let levels = [
        ("L1d", c"hw.perflevel0.l1dcachesize", c"hw.l1dcachesize"),
        ("L1i", c"hw.perflevel0.l1icachesize", c"hw.l1icachesize"),
        ("L2", c"hw.perflevel0.l2cachesize", c"hw.l2cachesize"),
        ("L3", c"hw.perflevel0.l3cachesize", c"hw.l3cachesize"),
    ];
    let size = |(level, of_kind, of_all)| {
        let bytes = number(of_kind).or_else(|| number(of_all)).filter(|bytes| *bytes > 0)?;
        Some(format!("{level} {} KiB", bytes / 1024))
    };
    levels.into_iter().filter_map(size).collect()
}

fn load_average() -> Option<f64> {
    let mut load = [0.0_f64; 1];
    // SAFETY: the array has room for as many numbers as are asked for.
    let told = unsafe { libc::getloadavg(load.as_mut_ptr(), 1) };
    (told == 1).then_some(load[0])
}

/// Reads a fact of the kernel into memory; how many bytes it has, if it fits.
fn fact(name: &CStr, into: *mut c_void, room: usize) -> Option<usize> {
    let mut size = room;
    // SAFETY: the name ends with a zero byte; the caller's memory is live and as long as is said. Nothing is set.
    let error = unsafe {
        libc::sysctlbyname(name.as_ptr(), into, &raw mut size, std::ptr::null_mut(), 0)
    };
    (error == 0).then_some(size)
}

/// A number of 4 or of 8 bytes.
fn number(name: &CStr) -> Option<u64> {
    let mut bytes = [0_u8; size_of::<u64>()];
    let size = fact(name, bytes.as_mut_ptr().cast(), bytes.len())?;
    // Little-endian, as all of its processors are: what was not written stays zero.
    matches!(size, 4 | 8).then(|| u64::from_le_bytes(bytes))
}

fn text(name: &CStr) -> Option<String> {
    let mut bytes = [0_u8; 256];
    fact(name, bytes.as_mut_ptr().cast(), bytes.len())?;
    let text = CStr::from_bytes_until_nul(&bytes).ok()?.to_string_lossy().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cpus_and_memory() {
        let machine = Here::describe();
        assert!(machine.cpus >= 1 && machine.usable_cpus >= 1, "{machine:?}");
        assert!(machine.kernel.contains("Darwin"), "{machine:?}");
        assert!(machine.memory_bytes > 1 << 20, "{machine:?}");
    }
}
