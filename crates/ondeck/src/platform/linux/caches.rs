//! Which last-level cache a CPU of x86-64 shares with others.
//!
//! CPUID tells it of the CPU that executes it, without a system call. A hypervisor intercepts that, which takes
//! microseconds, so each CPU is asked once, by a thread that parks there. Nothing is allocated.

use core::arch::x86_64::{__cpuid, __cpuid_count};
use core::sync::atomic::{AtomicU16, Ordering};

use super::cpus;

/// CPUs that are remembered; a thread on a later one asks each time.
const REMEMBERED: usize = 1_024;

/// The low bits of the number of each CPU's cache, with [`KNOWN`]; 0 while no thread has asked on that CPU.
///
/// Relaxed: each entry stands alone, and all threads that write it write the same.
static CACHE_OF: [AtomicU16; REMEMBERED] = [const { AtomicU16::new(0) }; REMEMBERED];

const KNOWN: u16 = 1 << 15;

/// The number of the last-level cache of the CPU that the caller runs on.
#[inline]
pub(super) fn cache() -> usize {
    let cpu = cpus::current();
    let entry = CACHE_OF.get(cpu as usize);
    let known = entry.map_or(0, |cache| cache.load(Ordering::Relaxed));
    if known == 0 { ask(cpu, entry) } else { usize::from(known ^ KNOWN) }
}

#[cold]
fn ask(cpu: u32, entry: Option<&AtomicU16>) -> usize {
    let cache = apic() >> bits_of_sharers();
    let known = cache as u16 | KNOWN;
    // The thread may have moved before it asked.
    if let Some(entry) = entry.filter(|_| cpus::current() == cpu) {
        entry.store(known, Ordering::Relaxed);
    }
    usize::from(known ^ KNOWN)
}

/// The number of this CPU at the interrupt controller, whose high bits are the package's, and so on down to the thread's
/// (Intel, "Software Developer's Manual", CPUID leaves 1 and 0BH; AMD, "Architecture Programmer's Manual", appendix E).
fn apic() -> u32 {
    let has_long_number = __cpuid(0).eax >= 0xb && __cpuid_count(0xb, 0).ebx != 0;
    if has_long_number { __cpuid_count(0xb, 0).edx } else { __cpuid(1).ebx >> 24 }
}

/// How many low bits of that number differ between CPUs that share the last-level cache: leaf 4 of Intel, 8000001DH of AMD.
fn bits_of_sharers() -> u32 {
    const TOPOLOGY_EXTENSIONS: u32 = 1 << 22;
    const CACHES_OF_AMD: u32 = 0x8000_001d;
    let is_amd = __cpuid(0x8000_0000).eax >= CACHES_OF_AMD
        && __cpuid(0x8000_0001).ecx & TOPOLOGY_EXTENSIONS != 0;
    let leaf = match (is_amd, __cpuid(0).eax) {
        (true, _) => CACHES_OF_AMD,
        (false, 4..) => 4,
        _ => return 0,
    };
    // Caches are in the order of their levels, and the last one holds data.
    let caches = (0..8).map(|index| __cpuid_count(leaf, index).eax).take_while(|eax| eax & 31 != 0);
    let sharers = caches.last().map_or(1, |eax| (eax >> 14 & 0xfff) + 1);
    sharers.next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;
    use std::{format, fs, thread};

    use super::*;

    /// The CPUs that share the last-level cache of `cpu`, as the kernel lists them.
    fn sharers(cpu: usize) -> Option<String> {
        let list = |index| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/shared_cpu_list");
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
