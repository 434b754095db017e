//! Windows.
//!
//! It counts no context switches of a thread, lacks the policies of Linux, and does not report
//! whether another thread sleeps. It reports a thread's CPU time in ticks of some 16 ms, and in
//! cycles of the CPU's counter. Cycles are used where that counter has a constant rate, as in
//! Chromium (`base/time/time_win.cc`).

use std::convert::Infallible;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::Duration;

use ondeck::platform::{Native, Platform};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, GetCurrentProcess, GetCurrentThread, GetCurrentThreadId,
    GetProcessAffinityMask, SetThreadAffinityMask, SuspendThread,
};
use windows_sys::Win32::System::WindowsProgramming::QueryThreadCycleTime;

use super::{Here, System, Usage};

const NANOS_PER_SECOND: u128 = 1_000_000_000;

impl System for Here {
    const NAME: &'static str = "Windows";

    const CLOCK: &'static str = "QueryPerformanceCounter";

    const NO_REALTIME: Option<&'static str> =
        Some("Windows has no realtime policies as Linux has them");

    const NO_SIGHT_OF_THREADS: Option<&'static str> =
        Some("Windows does not tell whether another thread sleeps");

    /// The CPUs of the process's group, at most 64.
    fn usable_cpus() -> Vec<usize> {
        let (mut process, mut system) = (0_usize, 0_usize);
        // SAFETY: a handle that is always valid, and two live numbers.
        let told = unsafe {
            GetProcessAffinityMask(GetCurrentProcess(), &raw mut process, &raw mut system)
        };
        if told == 0 {
            return (0..Native::parallelism()).collect();
        }
        (0..usize::BITS as usize).filter(|cpu| process >> cpu & 1 == 1).collect()
    }

    const LIST_CPUS: &'static str = "the Task Manager, under \"Set affinity\",";

    fn pin(cpu: usize) -> Result<(), String> {
        let Some(mask) = u32::try_from(cpu).ok().and_then(|cpu| 1_usize.checked_shl(cpu)) else {
            return Err("a mask of Windows has 64 CPUs".to_owned());
        };
        // SAFETY: the handle is the calling thread's.
        let before = unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) };
        if before == 0 { Err(io::Error::last_os_error().to_string()) } else { Ok(()) }
    }

    type Scheduling = Infallible;

    fn usage() -> Usage {
        Usage { elapsed: counter(), cpu: charged(), ..Usage::default() }
    }

    fn raw_nanos() -> u64 {
        counter().as_nanos() as u64
    }

    fn thread_number() -> i32 {
        // SAFETY: takes nothing.
        unsafe { GetCurrentThreadId() }.cast_signed()
    }

    fn freeze<T>(handle: &JoinHandle<T>) {
        // A thread that has just ended cannot be suspended, and need not be. SAFETY: the handle is
        // live as long as the handle it is borrowed from. A suspended thread keeps what it has
        // locked; the threads of a stuck team are in the measured lock, not in the allocator.
        unsafe { SuspendThread(handle.as_raw_handle()) };
    }

    fn set_apart(command: &mut Command) {
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    }

    const NO_HEAVY_FENCE: &'static str = "FlushProcessWriteBuffers is not relied on here";
}

/// The counter of deadlines.
fn counter() -> Duration {
    static RATE: OnceLock<u128> = OnceLock::new();
    let rate = *RATE.get_or_init(|| {
        let mut rate = 0;
        // SAFETY: writes a live number. It never fails since Windows XP.
        unsafe { QueryPerformanceFrequency(&raw mut rate) };
        rate.max(1) as u128
    });
    let mut count = 0;
    // SAFETY: as above.
    unsafe { QueryPerformanceCounter(&raw mut count) };
    let nanos = count.max(0) as u128 * NANOS_PER_SECOND / rate;
    Duration::from_nanos(nanos as u64)
}

/// The CPU time of the calling thread, where cycles can be converted to time.
fn charged() -> Option<Duration> {
    if !Native::ticks_are_hardware() || !cfg!(target_arch = "x86_64") {
        return None;
    }
    let mut cycles = 0;
    // SAFETY: the handle is the calling thread's, the number is live.
    let told = unsafe { QueryThreadCycleTime(GetCurrentThread(), &raw mut cycles) };
    // The calling thread has run, so 0 means that the system did not report it: Wine answers 0.
    if told == 0 || cycles == 0 {
        return None;
    }
    let nanos = u128::from(cycles) * NANOS_PER_SECOND / u128::from(Native::ticks_per_second());
    Some(Duration::from_nanos(nanos as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_bound_to_a_cpu_that_is_there_and_to_no_other() {
        let cpu = *Here::usable_cpus().last().expect("a CPU");
        std::thread::spawn(move || {
            assert_eq!(Here::pin(cpu), Ok(()));
            assert!(Here::pin(64).is_err());
        })
        .join()
        .expect("no panic");
    }
}
