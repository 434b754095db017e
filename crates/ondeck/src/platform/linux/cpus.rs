//! Which CPUs this thread may use, and how many threads can make progress at once.

extern crate std;

use core::fmt;
use core::mem::size_of_val;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::vec::Vec;

use super::errno;

/// CPU numbers that one mask can name. The kernel's own limit (`CONFIG_NR_CPUS`) is 8,192 on the
/// largest configurations; glibc's `cpu_set_t` stops at 1,024.
const CPU_LIMIT: usize = 8_192;
const BITS: usize = u64::BITS as usize;

type Mask = [u64; CPU_LIMIT / BITS];

/// Why a thread could not be bound to the CPUs asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AffinityError {
    /// The list names no CPU at all.
    Empty,
    /// No kernel has a CPU of this number.
    OutOfRange(usize),
    /// The kernel refused the list: the errno, `EINVAL` when none of the CPUs is online and
    /// allowed to this process by its control group.
    Refused(i32),
}

impl fmt::Display for AffinityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the list of CPUs is empty"),
            Self::OutOfRange(cpu) => {
                write!(f, "CPU {cpu} is out of range: the last is {}", CPU_LIMIT - 1)
            }
            Self::Refused(libc::EINVAL) => {
                f.write_str("none of these CPUs is online and allowed to this process")
            }
            Self::Refused(errno) => write!(f, "the kernel refused the CPU mask with errno {errno}"),
        }
    }
}

impl core::error::Error for AffinityError {}

pub(super) fn mask() -> Vec<usize> {
    let mask = read_mask(CALLER);
    (0..CPU_LIMIT).filter(|&cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1).collect()
}

pub(super) fn set_mask(cpus: &[usize]) -> Result<(), AffinityError> {
    if cpus.is_empty() {
        return Err(AffinityError::Empty);
    }
    let mut mask: Mask = [0; CPU_LIMIT / BITS];
    for &cpu in cpus {
        *mask.get_mut(cpu / BITS).ok_or(AffinityError::OutOfRange(cpu))? |= 1 << (cpu % BITS);
    }
    // SAFETY: thread 0 is the caller; the kernel reads exactly the given length of the live mask.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&mask), mask.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(AffinityError::Refused(errno())) }
}

/// The size of the mask of the process's first thread, for the path of a lock: one system call in
/// the life of the process, no allocation. Not of the calling thread, because the answer is kept
/// for all of them, and the first to ask may be bound to one CPU.
pub(super) fn in_mask_cached() -> usize {
    /// 0 while unknown. Relaxed: it stands alone, and a thread that misses it asks once more.
    static CACHED: AtomicUsize = AtomicUsize::new(0);
    match CACHED.load(Ordering::Relaxed) {
        0 => {
            let count = read_mask(first_thread())
                .iter()
                .map(|word| word.count_ones() as usize)
                .sum::<usize>()
                .max(1);
            CACHED.store(count, Ordering::Relaxed);
            count
        }
        count => count,
    }
}

/// Without a system call: the C library reads it from memory that the kernel keeps up to date
/// (rseq(2)), or from a register.
pub(super) fn current() -> u32 {
    // SAFETY: sched_getcpu has no preconditions. It fails on kernels that do not tell; any number
    // will do then.
    unsafe { libc::sched_getcpu() }.cast_unsigned()
}

pub(super) fn parallelism() -> usize {
    // The standard library reads the mask and the quotas of both versions of control groups.
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What the kernel takes for the calling thread.
const CALLER: libc::pid_t = 0;

/// The process's identifier is its first thread's.
fn first_thread() -> libc::pid_t {
    // SAFETY: getpid has no preconditions and cannot fail.
    unsafe { libc::getpid() }
}

/// A thread's mask; empty if a filter refuses to tell, which callers treat as one CPU.
fn read_mask(thread: libc::pid_t) -> Mask {
    let mut mask: Mask = [0; CPU_LIMIT / BITS];
    // SAFETY: the kernel writes at most the given length of the mask. The raw call is used because
    // glibc's wrapper wants a `cpu_set_t`, which ends at 1,024 CPUs.
    unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, thread, size_of_val(&mask), mask.as_mut_ptr())
    };
    mask
}
