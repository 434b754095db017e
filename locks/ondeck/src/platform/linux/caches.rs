//! The last-level cache that a CPU of x86-64 shares with others.
//!
//! CPUID reports it for the CPU that executes it, without a system call. A hypervisor intercepts
//! CPUID, which took 14 µs on a Xeon, so each CPU is asked once, by a thread that parks there.
//! Nothing is allocated.

use core::arch::x86_64::{__cpuid, __cpuid_count};
use core::sync::atomic::{AtomicU8, AtomicU16, Ordering};

use super::{cpus, numa};

/// The number of CPUs that are remembered; a thread on a later one asks each time.
const REMEMBERED: usize = 1_024;

/// The low bits of the number of each CPU's cache, with [`KNOWN`]; 0 while no thread has asked on
/// that CPU.
///
/// Relaxed: each entry is independent, and all threads that write it write the same value.
static CACHE_OF: [AtomicU16; REMEMBERED] = [const { AtomicU16::new(0) }; REMEMBERED];

const KNOWN: u16 = 1 << 15;

/// Returns the number of the last-level cache of the CPU that the caller runs on.
#[inline]
pub(super) fn cache() -> usize {
    let cpu = cpus::current();
    let entry = CACHE_OF.get(cpu as usize);
    let known = entry.map_or(0, |cache| cache.load(Ordering::Relaxed));
    if known == 0 { ask(cpu, entry) } else { usize::from(known ^ KNOWN) }
}

#[cold]
fn ask(cpu: u32, entry: Option<&AtomicU16>) -> usize {
    let cache = Numbering::of_machine().cache().unwrap_or_else(|| numa::node() as u32);
    let known = cache as u16 | KNOWN;
    // The thread may have moved before it asked.
    if let Some(entry) = entry.filter(|_| cpus::current() == cpu) {
        entry.store(known, Ordering::Relaxed);
    }
    usize::from(known ^ KNOWN)
}

/// How to derive a CPU's cache from its number at the interrupt controller: the high bits number
/// the package, and so on down to the hardware thread (Intel, "Software Developer's Manual", CPUID
/// leaves 1, 4 and 0BH; AMD, "Architecture Programmer's Manual", volume 3, appendix E). It is the
/// same for all CPUs.
#[derive(Clone, Copy)]
struct Numbering {
    /// Whether leaf 0BH has the number. Leaf 1 has its lowest 8 bits.
    is_long: bool,
    /// How many low bits of the number differ between CPUs that share the last-level cache.
    low_bits: u8,
}

impl Numbering {
    fn of_machine() -> Self {
        /// `low_bits`, and above them two bits: `is_long`, and a mark that the value is known.
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        let (long, is_known) = (1 << 6, 1 << 7);
        let mut known = KNOWN.load(Ordering::Relaxed);
        if known == 0 {
            let asked = Self::ask();
            known = is_known | if asked.is_long { long } else { 0 } | asked.low_bits;
            KNOWN.store(known, Ordering::Relaxed);
        }
        Self { is_long: known & long != 0, low_bits: known & (long - 1) }
    }

    fn ask() -> Self {
        const TOPOLOGY_EXTENSIONS: u32 = 1 << 22;
        const CACHES_OF_AMD: u32 = 0x8000_001d;
        let last_leaf = __cpuid(0).eax;
        let is_amd = __cpuid(0x8000_0000).eax >= CACHES_OF_AMD
            && __cpuid(0x8000_0001).ecx & TOPOLOGY_EXTENSIONS != 0;
        let leaf = match (is_amd, last_leaf) {
            (true, _) => Some(CACHES_OF_AMD),
            (false, 4..) => Some(4),
            _ => None,
        };
        // Caches are in the order of their levels, and the last one holds data.
        let caches = leaf
            .into_iter()
            .flat_map(|leaf| (0..8).map(move |index| __cpuid_count(leaf, index).eax));
        let last = caches.take_while(|eax| eax & 31 != 0).last();
        let sharers = last.map_or(1, |eax| (eax >> 14 & 0xfff) + 1);
        Self {
            is_long: last_leaf >= 0xb && __cpuid_count(0xb, 0).ebx != 0,
            low_bits: sharers.next_power_of_two().trailing_zeros() as u8,
        }
    }

    /// Returns the number of the last-level cache of the CPU that the caller runs on. `None` if no
    /// CPUs share one: hypervisors may hide caches, and what is left says nothing of the machine.
    fn cache(self) -> Option<u32> {
        if self.low_bits == 0 {
            return None;
        }
        let cpu = if self.is_long { __cpuid_count(0xb, 0).edx } else { __cpuid(1).ebx >> 24 };
        Some(cpu >> self.low_bits)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;
    use std::{format, fs, thread};

    use super::*;

    /// Returns the CPUs that share the last-level cache of `cpu`, as the kernel lists them.
    fn sharers(cpu: usize) -> Option<String> {
        let list = |index| {
            let path =
                format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/shared_cpu_list");
            fs::read_to_string(path).ok()
        };
        (0..8).map_while(list).last()
    }

    #[test]
    fn two_cpus_have_the_same_number_if_the_kernel_says_that_they_share_the_cache() {
        let of = |cpu| {
            let bound = move || cpus::set_mask(&[cpu]).map(|()| [cache(), cache()]);
            thread::spawn(bound).join().expect("no panic")
        };
        let (Ok([first, again]), Ok([second, _])) = (of(0), of(1)) else { return };
        assert_eq!(first, again, "as remembered");
        if let (Some(one), Some(other)) = (sharers(0), sharers(1)) {
            assert_eq!(first == second, one == other, "{one} and {other}");
        }
    }
}
