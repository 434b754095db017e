//! How the kernel shares CPUs among threads: policy, priority, time slice, nice.
//!
//! Each is a direct system call, because musl's functions refuse every request.

use std::io;
use std::time::Duration;

use super::{Policy, Refusal, Thread};

const CALLER: Thread = 0;

/// Puts a thread under a policy, `above` steps over its lowest priority.
pub(crate) fn set_policy(policy: Policy, thread: Thread, above: u8) -> Result<(), Refusal> {
    let number = match policy {
        Policy::Other => libc::SCHED_OTHER,
        Policy::Batch => libc::SCHED_BATCH,
        Policy::Fifo => libc::SCHED_FIFO,
        Policy::RoundRobin => libc::SCHED_RR,
    };
    // SAFETY: takes and returns integers.
    let lowest = unsafe { libc::sched_get_priority_min(number) };
    let priority = lowest + if lowest > 0 { i32::from(above) } else { 0 };
    Scheduling { policy: number, priority }.apply_to(thread).map_err(|error| Refusal {
        reason: format!("policy {policy} refused: {error}"),
        fix: "run as root, grant CAP_SYS_NICE, or raise `ulimit -r`".to_owned(),
    })
}

/// A policy and priority in the kernel's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheduling {
    policy: libc::c_int,
    priority: libc::c_int,
}

impl Scheduling {
    /// What the calling thread runs under now.
    pub(crate) fn of_caller() -> Option<Self> {
        let mut priority: libc::c_int = 0;
        // SAFETY: takes and returns integers.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, CALLER) };
        // SAFETY: the kernel's structure is one integer, which outlives the call.
        let read = unsafe { libc::syscall(libc::SYS_sched_getparam, CALLER, &raw mut priority) };
        (policy >= 0 && read == 0).then_some(Self { policy: policy as libc::c_int, priority })
    }

    /// Puts a thread under it.
    fn apply_to(self, thread: Thread) -> io::Result<()> {
        let Self { policy, priority } = self;
        // SAFETY: the kernel reads one integer, which outlives the call.
        let set = unsafe {
            libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const priority)
        };
        if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Puts the calling thread under it.
    pub(crate) fn apply(self) -> io::Result<()> {
        self.apply_to(CALLER)
    }
}

/// The kernel's `struct sched_attr`, as long as its first version.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

impl Attributes {
    fn of_caller() -> io::Result<Self> {
        let mut attributes = Self::default();
        // SAFETY: the kernel writes at most the given number of bytes, into a value that outlives
        // the call.
        let read = unsafe {
            libc::syscall(
                libc::SYS_sched_getattr,
                CALLER,
                &raw mut attributes,
                size_of::<Self>() as u32,
                0_u32,
            )
        };
        if read == 0 { Ok(attributes) } else { Err(io::Error::last_os_error()) }
    }

    fn apply(self) -> io::Result<()> {
        // SAFETY: the kernel reads a value whose size is in its first field and which outlives the
        // call.
        let set = unsafe { libc::syscall(libc::SYS_sched_setattr, CALLER, &raw const self, 0_u32) };
        if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// The slice of the calling thread, where the kernel reports it: since Linux 6.12, of `SCHED_OTHER`
/// and `SCHED_BATCH`.
pub(crate) fn slice() -> Option<Duration> {
    let attributes = Attributes::of_caller().ok()?;
    (attributes.runtime > 0).then(|| Duration::from_nanos(attributes.runtime))
}

/// Gives the calling thread that slice.
pub(crate) fn set_slice(slice: Duration) -> io::Result<()> {
    let attributes = Attributes::of_caller()?;
    let size = size_of::<Attributes>() as u32;
    Attributes { size, runtime: slice.as_nanos() as u64, ..attributes }.apply()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_that_was_set_is_read_back_and_the_policy_stays() {
        std::thread::spawn(|| {
            Policy::Batch.apply(0).expect("always allowed");
            let before = Scheduling::of_caller();
            let wanted = Duration::from_micros(700);
            if set_slice(wanted).is_ok() {
                assert_eq!(Scheduling::of_caller(), before);
                // Kernels before 6.12 accept the slice and ignore it.
                assert!(slice().is_none_or(|slice| slice == wanted), "{:?}", slice());
            }
        })
        .join()
        .expect("no panic");
    }
}
