//! The laboratory's requests to the operating system, apart from those of locks: where threads run
//! and what they are charged. It depends on no other module; `machine/describe` describes the
//! machine.
//!
//! [`System`] is implemented once, for [`Here`], by the module that is selected below. A fact that
//! a system does not report is absent in reports, and a request that it cannot fulfil is refused
//! with the reason: neither ever becomes a zero. `docs/systems.md` has the table.

mod quota;
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
use std::process::Command;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use quota::Quota;

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

/// The system that this program runs on.
pub(crate) struct Here;

/// A group of threads whose CPU time is limited. It is removed when it is dropped.
pub(crate) trait Limit: Send + Sync {
    /// Moves a thread into the group.
    fn admit(&self, thread: Thread) -> io::Result<()>;
}

/// The differences between systems. An item with a default is optional: the default says that it is
/// absent.
pub(crate) trait System {
    /// Its name in sentences.
    const NAME: &'static str;

    /// The clock of deadlines, from which ticks come where the CPU's counter is unusable.
    const CLOCK: &'static str;

    /// Why a realtime thread cannot keep other threads off a CPU here; `None` where it can.
    const NO_REALTIME: Option<&'static str>;

    /// Why one thread cannot see whether another sleeps; `None` where it can.
    const NO_SIGHT_OF_THREADS: Option<&'static str>;

    /// The CPUs that this process may use, ascending.
    fn usable_cpus() -> Vec<usize>;

    /// Why no thread can be bound to a CPU; `None` where it can.
    const NO_PINNING: Option<&'static str> = None;

    /// How a user lists the CPUs that threads can be bound to.
    const LIST_CPUS: &'static str;

    /// Binds the calling thread to a CPU.
    fn pin(cpu: usize) -> Result<(), String>;

    /// The CPUs that share a core with this one, as the system lists them.
    fn siblings(_cpu: usize) -> Option<String> {
        None
    }

    /// Whether the files of `/sys` list which CPUs share a core or a cache.
    const TELLS_LAYOUT: bool = false;

    /// The scheduling of a thread before it was raised.
    type Scheduling: Copy;

    /// The current scheduling of the calling thread.
    fn scheduling() -> Option<Self::Scheduling> {
        None
    }

    /// Restores the scheduling of the calling thread.
    fn restore(_scheduling: Self::Scheduling) {}

    /// Puts a thread under a policy, `above` steps over its lowest priority.
    fn set_policy(policy: Policy, _thread: Thread, _above: u8) -> Result<(), Refusal> {
        Err(absent::<Self>(&format!("policy {policy}"), "scheduling policies", "--policy"))
    }

    /// The slice of the calling thread, where the kernel reports it.
    fn slice() -> Option<Duration> {
        None
    }

    /// Gives the calling thread that slice.
    fn set_slice(_slice: Duration) -> io::Result<()> {
        Err(io::Error::other(format!("{} has no time slices that can be set", Self::NAME)))
    }

    /// Makes a group of threads with that quota.
    fn limited(_quota: Quota) -> Result<Box<dyn Limit>, Refusal> {
        Err(absent::<Self>("quota", "quotas of CPU time", "--quota"))
    }

    /// Removes all such groups.
    fn remove_limits() {}

    /// What the calling thread has been charged.
    fn usage() -> Usage;

    /// The account of all CPUs, and this process's part of it.
    fn account_of_cpus() -> Option<Account> {
        None
    }

    /// Nanoseconds of a monotonic clock that no program sets.
    fn raw_nanos() -> u64;

    /// A number of the calling thread, not 0, that identifies it.
    fn thread_number() -> i32;

    /// Whether a thread of this process sleeps in the kernel without a timeout that it chose. False
    /// where the system does not report it.
    fn is_parked(_thread: i32) -> bool {
        false
    }

    /// Keeps a thread from using a CPU until the process ends. Its stack stays valid.
    fn freeze<T>(handle: &JoinHandle<T>);

    /// Describes where a thread is. The thread belongs to the given process, or to this one.
    fn state_of_thread(_process: Option<u32>, thread: i32) -> String {
        format!("thread {thread}, of which {} does not tell what it does", Self::NAME)
    }

    /// Keeps the Ctrl-C of this process from a child and, where the system can, makes the child end
    /// with this process.
    fn set_apart(command: &mut Command);

    /// Whether there is a system call that does next to nothing.
    const HAS_SYSTEM_CALL: bool = false;

    /// Makes that system call.
    fn system_call() {}

    /// Why there is no heavy fence, where there is none.
    const NO_HEAVY_FENCE: &'static str;

    /// Requests large pages before the memory is touched. Where the system has none, or refuses,
    /// only times change.
    fn advise_large_pages(_start: *mut u8, _bytes: usize) {}

    /// How late a timed wait may be, where the kernel reports it.
    fn timer_slack() -> Option<Duration> {
        None
    }
}

/// The refusal of a request that a system does not support.
fn absent<S: System + ?Sized>(wanted: &str, lacking: &str, option: &str) -> Refusal {
    Refusal {
        reason: format!("{wanted} refused: {} has no {lacking} that ondeck knows", S::NAME),
        fix: format!("leave {option} out, or measure on Linux"),
    }
}
