//! The NUMA node that a thread runs on.
//!
//! The C library reads the CPU from memory that the kernel keeps up to date, without a system call.
//! The node of a CPU does not change while it is online, so each CPU is asked for once, by
//! getcpu(2), and the result is remembered. Nothing is allocated.

use core::ptr;
use core::sync::atomic::{AtomicU8, Ordering};

use super::{cpus, quietly};

/// The number of CPUs that are remembered; a thread on a later one asks the kernel each time.
const REMEMBERED: usize = 1_024;

/// The node of each CPU plus 1; 0 while no thread has asked on that CPU, and for nodes from 255 on,
/// which do not fit.
///
/// Relaxed: each entry is independent, and all threads that write it write the same value.
static NODE_OF: [AtomicU8; REMEMBERED] = [const { AtomicU8::new(0) }; REMEMBERED];

/// Returns the node of the CPU that the caller runs on: a load or two, and a system call once for
/// each CPU.
#[inline]
pub(super) fn node() -> usize {
    let known =
        NODE_OF.get(cpus::current() as usize).map_or(0, |node| node.load(Ordering::Relaxed));
    if known == 0 { ask() } else { usize::from(known) - 1 }
}

#[cold]
fn ask() -> usize {
    let (mut cpu, mut node) = (0_u32, 0_u32);
    // SAFETY: the kernel writes two numbers, and no longer uses the third argument.
    let (result, _) = quietly(|| unsafe {
        libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, ptr::null_mut::<u8>())
    });
    if result != 0 {
        // A filter refuses the call: treat all CPUs as one node.
        (cpu, node) = (cpus::current(), 0);
    }
    if let (Some(entry), Ok(known)) = (NODE_OF.get(cpu as usize), u8::try_from(node + 1)) {
        entry.store(known, Ordering::Relaxed);
    }
    node as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_of_a_cpu_is_remembered() {
        let cpu = cpus::current() as usize;
        let _ = node();
        let is_known = |node: &AtomicU8| node.load(Ordering::Relaxed) != 0;
        assert!(cpu >= REMEMBERED || NODE_OF.iter().any(is_known));
    }
}
