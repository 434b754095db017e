//! The CPUs that this thread may use, and the number of threads that can make progress at once.

extern crate std;

use core::fmt;
use core::mem::size_of_val;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::vec::Vec;

use super::quietly;
use crate::platform::native::thread::Word;
use crate::platform::native::ticks;

/// The number of CPUs that one mask can name. The kernel's own limit (`CONFIG_NR_CPUS`) is 8,192 on
/// the largest configurations; glibc's `cpu_set_t` stops at 1,024.
const CPU_LIMIT: usize = 8_192;
const BITS: usize = usize::BITS as usize;

/// The kernel's words are `unsigned long`. On a big-endian 32-bit machine, words of 64 bits would
/// have their halves the other way round.
type Mask = [usize; CPU_LIMIT / BITS];

/// Why a thread could not be bound to the requested CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AffinityError {
    /// The list names no CPU at all.
    Empty,
    /// No kernel has a CPU of this number.
    OutOfRange(usize),
    /// The kernel refused the list: the errno, `EINVAL` if none of the CPUs is online and allowed
    /// to this process by its control group.
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
    let mask = read_mask();
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
    let (result, errno) = quietly(|| unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&mask), mask.as_ptr())
    });
    if result == 0 { Ok(()) } else { Err(AffinityError::Refused(errno)) }
}

/// The sizes of their masks that threads have reported, in one word, so that it changes in one
/// step: the generation in the upper half, then the largest size reported in the generation before,
/// then the largest size reported in this one. 0 while no thread has reported its size.
///
/// Relaxed: the word is independent of other data.
static TOLD: AtomicU64 = AtomicU64::new(0);

/// A size fits into 16 bits.
const _: () = assert!(CPU_LIMIT <= u16::MAX as usize);

/// Returns how many CPUs the process may use, for the path of a lock: the size of the largest mask
/// that one of its threads had, when it last waited, in this generation or the one before.
///
/// A generation is about a second. In each, a calling thread first reports the size of its mask, by
/// one system call. So a first thread that is bound to one CPU does not hide from the others that
/// they have more, and if all have been bound to one CPU, all know that two seconds later. Threads
/// that are bound to one CPU each count as two CPUs, if they are bound to different ones. Nothing
/// is allocated.
#[inline]
pub(super) fn usable() -> usize {
    let generation = generation(ticks::read());
    // 0 if the thread has never reported its size.
    if Word::ToldIn.get() != u64::from(generation) + 1 {
        tell(generation);
    }
    largest(TOLD.load(Ordering::Relaxed))
}

/// Returns the number of the generation, the counter's high bits. It wraps around after a century,
/// and may differ by one between CPUs for a moment.
#[inline]
fn generation(now: u64) -> u32 {
    (now >> ticks::second_bits()) as u32
}

/// Reports the size of the calling thread's mask, for the first time in this generation.
#[cold]
fn tell(generation: u32) {
    Word::ToldIn.set(u64::from(generation) + 1);
    let size = told_size(&read_mask(), &ONLY_CPU);
    let add = |told| Some(with(told, generation, size));
    // Always succeeds: `add` never returns `None`.
    let _ = TOLD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}

/// The CPU of the last reported mask of size 1, plus 1; 0 if there was none. Relaxed: it is
/// independent of other data.
static ONLY_CPU: AtomicU32 = AtomicU32::new(0);

/// Returns the size to report for a mask. A thread that is bound to another CPU than the last such
/// thread reports both.
fn told_size(mask: &Mask, only_cpu: &AtomicU32) -> u16 {
    let size = mask.iter().map(|word| word.count_ones()).sum::<u32>().max(1) as u16;
    let first = mask.iter().position(|&word| word != 0);
    let Some(word) = first.filter(|_| size == 1) else { return size };
    let cpu = (word * BITS) as u32 + mask[word].trailing_zeros() + 1;
    let other = only_cpu.swap(cpu, Ordering::Relaxed);
    if other == 0 || other == cpu { 1 } else { 2 }
}

/// Returns the word of reports, with one more size.
fn with(told: u64, generation: u32, size: u16) -> u64 {
    let (now, before, latest) = ((told >> 32) as u32, (told >> 16) as u16, told as u16);
    // A thread whose counter lags reports for the newer generation.
    let is_new = generation.wrapping_sub(now).cast_signed() > 0 || told == 0;
    // The generation before is the last one in which a thread waited, however long ago.
    let (now, before, latest) =
        if is_new { (generation, latest, size) } else { (now, before, latest.max(size)) };
    u64::from(now) << 32 | u64::from(before) << 16 | u64::from(latest)
}

/// Returns the largest size that was reported in the generation of `told` and the one before.
#[inline]
fn largest(told: u64) -> usize {
    usize::from(((told >> 16) as u16).max(told as u16))
}

/// Returns the CPU that the caller runs on, without a system call: the C library reads it from
/// memory that the kernel keeps up to date (rseq(2)), or from a register.
pub(super) fn current() -> u32 {
    // SAFETY: sched_getcpu has no preconditions. On kernels that do not report the CPU it returns
    // -1, which is `UNKNOWN_CPU` and more bits.
    unsafe { libc::sched_getcpu() }.cast_unsigned()
}

/// Returns the calling thread's mask; empty if a filter refuses the call, which callers treat as
/// one CPU.
fn read_mask() -> Mask {
    let mut mask: Mask = [0; CPU_LIMIT / BITS];
    // SAFETY: thread 0 is the caller; the kernel writes at most the given length of the mask. The
    // raw call is used because glibc's wrapper wants a `cpu_set_t`, which ends at 1,024 CPUs.
    quietly(|| unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&mask), mask.as_mut_ptr())
    });
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result after these sizes were reported, each with its generation.
    fn told(sizes: &[(u32, u16)]) -> usize {
        largest(sizes.iter().fold(0, |told, &(generation, size)| with(told, generation, size)))
    }

    #[test]
    fn the_largest_mask_of_two_generations_counts() {
        assert_eq!(told(&[(7, 1)]), 1);
        assert_eq!(told(&[(7, 1), (7, 4), (7, 2)]), 4);
        assert_eq!(told(&[(7, 4), (8, 1)]), 4);
        assert_eq!(told(&[(7, 4), (8, 1), (9, 1)]), 1);
        assert_eq!(told(&[(7, 4), (8, 1), (9, 2), (9, 1)]), 2);
        assert_eq!(told(&[(0, 3)]), 3);
    }

    #[test]
    fn threads_that_are_bound_to_different_cpus_tell_of_two() {
        let only_cpu = AtomicU32::new(0);
        let told = |cpus: &[usize]| {
            let mut mask: Mask = [0; CPU_LIMIT / BITS];
            for cpu in cpus {
                mask[cpu / BITS] |= 1 << (cpu % BITS);
            }
            told_size(&mask, &only_cpu)
        };
        assert_eq!([told(&[3]), told(&[3]), told(&[70]), told(&[3]), told(&[3])], [1, 1, 2, 2, 1]);
        assert_eq!([told(&[0, 1, 2]), told(&[3])], [3, 1]);
    }

    #[test]
    fn a_pause_counts_as_no_generation() {
        assert_eq!(told(&[(7, 4), (1_000, 1)]), 4);
        assert_eq!(told(&[(7, 4), (1_000, 1), (1_001, 1)]), 1);
    }

    #[test]
    fn a_counter_that_is_behind_does_not_begin_a_generation() {
        assert_eq!(told(&[(8, 1), (7, 4), (8, 1)]), 4);
        assert_eq!(told(&[(8, 4), (7, 1), (9, 1)]), 4);
        assert_eq!(told(&[(u32::MAX, 4), (0, 1), (1, 1)]), 1);
    }
}
