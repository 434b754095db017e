//! What the laboratory asks of the operating system, apart from what locks ask of it: where threads run and what
//! they are charged. It needs no other module; what a machine is, is in `machine/describe`.
//!
//! [`System`] is implemented once, for [`Here`], by the module that is chosen below. What a system cannot tell
//! is absent in reports, and what it cannot do is refused with the reason: neither is ever a zero.
//! `docs/systems.md` has the table.

#[cfg(unix)]
mod unix;

// All systems are named here, in `machine/describe`, and nowhere else.
cfg_select! {
    target_os = "linux" => {
        mod linux;
    }
    windows => {
        mod windows;
    }
    target_vendor = "apple" => {
        mod apple;
    }
    _ => {
        compile_error!("the laboratory runs on Linux, Windows and macOS: it asks the system for accounts of threads");
    }
}

use std::io;
use std::process::{ChildStdout, Command};
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the machine would not do, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was refused and why.
    pub reason: String,
    /// How to have it granted.
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

/// A low priority, for work that is to fill the CPU time that others leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// `SCHED_IDLE`: nearly only while no other thread wants the CPU.
    Idle,
    /// `SCHED_OTHER` at nice 19.
    Nice,
}

/// A thread's identifier in the kernel; 0 is the caller.
pub(crate) type Thread = i32;

/// The calling thread's account at one moment, or the difference of two. Facts that the kernel does not report are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Elapsed time.
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

/// The kernel's account of all CPUs at one moment, and of them the part of this process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    pub(crate) busy: f64,
    pub(crate) idle: f64,
    pub(crate) host: f64,
    pub(crate) own: f64,
}

/// The system that this program runs on.
pub(crate) struct Here;

/// What systems differ in. What has a default is what a system need not have: the default says that it is absent.
pub(crate) trait System {
    /// Its name, as it stands in sentences.
    const NAME: &'static str;

    /// The clock of deadlines, from which ticks come where the CPU's counter is of no use.
    const CLOCK: &'static str;

    /// Why there are no realtime threads of which one keeps the others off a CPU; `None` where there are.
    const NO_REALTIME: Option<&'static str>;

    /// Why no thread works at a low priority; `None` where it can.
    const NO_LOW_PRIORITY: Option<&'static str>;

    /// Why it is not seen whether another thread sleeps; `None` where it is.
    const NO_SIGHT_OF_THREADS: Option<&'static str>;

    /// The CPUs that this process may use, ascending.
    fn usable_cpus() -> Vec<usize>;

    /// Why no thread can be bound to a CPU; `None` where it can.
    const NO_PINNING: Option<&'static str> = None;

    /// How a user finds out which CPUs there are to bind threads to.
    const LIST_CPUS: &'static str;

    /// Binds the calling thread to a CPU.
    fn pin(cpu: usize) -> Result<(), String>;

    /// The CPUs of the core of that one, as the system lists them.
    fn siblings(_cpu: usize) -> Option<String> {
        None
    }

    /// Whether the files of `/sys` list which CPUs share a core or a cache.
    const TELLS_LAYOUT: bool = false;

    /// What a thread ran under before it was raised.
    type Scheduling: Copy;

    /// What the calling thread runs under now.
    fn scheduling() -> Option<Self::Scheduling> {
        None
    }

    /// Puts the calling thread back to what it ran under.
    fn restore(_scheduling: Self::Scheduling) {}

    /// Puts a thread under a policy, `above` steps over its lowest priority.
    fn set_policy(policy: Policy, _thread: Thread, _above: u8) -> Result<(), Refusal> {
        Err(absent::<Self>(&format!("policy {policy}"), "scheduling policies", "--policy"))
    }

    /// Lowers the calling thread, for good.
    fn set_background(_background: Background) -> Result<(), Refusal> {
        Err(absent::<Self>("low priority", "priorities for work in the background", "background"))
    }

    /// The slice of the calling thread, where the kernel reports it.
    fn slice() -> Option<Duration> {
        None
    }

    /// Gives the calling thread that slice.
    fn set_slice(_slice: Duration) -> io::Result<()> {
        Err(io::Error::other(format!("{} has no time slices that can be set", Self::NAME)))
    }

    /// The quota that this process runs under, in words.
    fn quota_in_force() -> Option<String> {
        None
    }

    /// What the calling thread has been charged.
    fn usage() -> Usage;

    /// The account of all CPUs, and of them the part of this process.
    fn account_of_cpus() -> Option<Account> {
        None
    }

    /// The most memory that this process has had at a time, in bytes.
    fn peak_memory() -> Option<u64> {
        None
    }

    /// Nanoseconds of a monotonic clock that no program sets.
    fn raw_nanos() -> u64;

    /// A number of the calling thread, not 0, by which it is found again.
    fn thread_number() -> i32;

    /// Whether a thread of this process sleeps in the kernel, and not only for a time of its own choice. False
    /// where the system does not report it.
    fn is_parked(_thread: i32) -> bool {
        false
    }

    /// Keeps a thread from using a CPU until the process ends. Its stack stays as it is.
    fn freeze<T>(handle: &JoinHandle<T>);

    /// Where a thread is, in words. The thread is of the given process, or of this one.
    fn state_of_thread(_process: Option<u32>, thread: i32) -> String {
        format!("thread {thread}, of which {} does not tell what it does", Self::NAME)
    }

    /// Sees to it that a child does not get the Ctrl-C of this process, and, where the system can, that it ends
    /// with this process.
    fn set_apart(command: &mut Command);

    /// Everything that comes out of the pipe; `None` if it does not end within the limit or the round is
    /// cancelled. Sleeps in between: this process must not run beside the measurement.
    fn read_line(
        output: ChildStdout,
        limit: Duration,
        cancel: &AtomicBool,
    ) -> io::Result<Option<String>>;

    /// Whether there is a system call that does next to nothing.
    const HAS_SYSTEM_CALL: bool = false;

    /// That system call.
    fn system_call() {}

    /// Why there is no heavy fence, where there is none.
    const NO_HEAVY_FENCE: &'static str;

    /// Asks for large pages, before the memory is touched. Where it cannot be asked for, or is refused, nothing
    /// but times changes.
    fn advise_large_pages(_start: *mut u8, _bytes: usize) {}

    /// How late a timed wait may be, where the kernel reports it.
    fn timer_slack() -> Option<Duration> {
        None
    }
}

/// The refusal of something that a system does not have.
fn absent<S: System + ?Sized>(wanted: &str, lacking: &str, option: &str) -> Refusal {
    Refusal {
        reason: format!("{wanted} refused: {} has no {lacking} that ondeck knows", S::NAME),
        fix: format!("leave {option} out, or measure on Linux"),
    }
}

/// How soon a cancellation is noticed while the answer of a child is awaited, in milliseconds.
const CANCEL_CHECK_MILLIS: u16 = 50;
