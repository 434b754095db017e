//! macOS.
//!
//! It binds no thread to a CPU, counts no context switches of a thread, and lacks the policies of
//! Linux.

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::JoinHandle;

use nix::time::ClockId;
use ondeck::platform::Native;

use super::{Here, System, Usage, unix};

/// Why no thread is bound to a CPU.
const NO_PINNING: &str = "macOS binds no thread to a CPU";

impl System for Here {
    const NAME: &'static str = "macOS";

    const CLOCK: &'static str = "CLOCK_UPTIME_RAW";

    const NO_REALTIME: Option<&'static str> =
        Some("macOS binds no thread to a CPU, so that no priority keeps another off it");

    const NO_SIGHT_OF_THREADS: Option<&'static str> = None;

    fn usable_cpus() -> Vec<usize> {
        (0..Native::parallelism()).collect()
    }

    const NO_PINNING: Option<&'static str> = Some(NO_PINNING);

    const LIST_CPUS: &'static str = "`sysctl hw.logicalcpu`";

    fn pin(_cpu: usize) -> Result<(), String> {
        Err(NO_PINNING.to_owned())
    }

    type Scheduling = Infallible;

    fn usage() -> Usage {
        let cpu = unix::clock(ClockId::CLOCK_THREAD_CPUTIME_ID);
        let elapsed = unix::clock(ClockId::from_raw(libc::CLOCK_UPTIME_RAW));
        // The calling thread has run, so a zero means that the system did not report it.
        Usage { elapsed, cpu: (!cpu.is_zero()).then_some(cpu), ..Usage::default() }
    }

    fn raw_nanos() -> u64 {
        unix::clock(ClockId::from_raw(libc::CLOCK_MONOTONIC_RAW)).as_nanos() as u64
    }

    /// The name of its Mach port.
    fn thread_number() -> i32 {
        // SAFETY: takes the calling thread, which is alive.
        unsafe { libc::pthread_mach_thread_np(libc::pthread_self()) }.cast_signed()
    }

    /// The system does not report timed sleeps separately, so any sleep counts.
    fn is_parked(thread: i32) -> bool {
        let mut info = MaybeUninit::<libc::thread_basic_info>::zeroed();
        let mut words = libc::THREAD_BASIC_INFO_COUNT;
        // SAFETY: the structure is live and has the given length. A port that is not a thread's
        // yields an error.
        let error = unsafe {
            libc::thread_info(
                thread.cast_unsigned(),
                libc::THREAD_BASIC_INFO as libc::thread_flavor_t,
                info.as_mut_ptr().cast(),
                &raw mut words,
            )
        };
        // SAFETY: all zeros are a valid value, however much was written.
        let info = unsafe { info.assume_init() };
        error == libc::KERN_SUCCESS && info.run_state == libc::TH_STATE_WAITING
    }

    fn freeze<T>(handle: &JoinHandle<T>) {
        unix::freeze(handle);
    }

    fn set_apart(command: &mut Command) {
        command.process_group(0);
    }

    const HAS_SYSTEM_CALL: bool = true;

    fn system_call() {
        _ = std::hint::black_box(nix::unistd::getppid());
    }

    const NO_HEAVY_FENCE: &'static str = "macOS documents no heavy fence";
}
