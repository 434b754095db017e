//! The NUMA node that a thread runs on, and the number of nodes.
//!
//! The C library reads the CPU from memory that the kernel keeps up to date, without a system call. The node of a CPU does
//! not change while it is online, so each CPU is asked for once, by getcpu(2), and the result is remembered. Nothing is
//! allocated.

use core::ptr;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use super::{cpus, quietly};

/// The number of CPUs that are remembered; a thread on a later one asks the kernel each time.
const REMEMBERED: usize = 1_024;

/// The node of each CPU plus 1; 0 while no thread has asked on that CPU, and for nodes from 255 on, which do not fit.
///
/// Relaxed: each entry is independent, and all threads that write it write the same value.
static NODE_OF: [AtomicU8; REMEMBERED] = [const { AtomicU8::new(0) }; REMEMBERED];

/// The number of nodes; 0 while no thread has asked.
static NODES: AtomicU32 = AtomicU32::new(0);

/// Returns the node of the CPU that the caller runs on: a load or two, and a system call once for each CPU.
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

/// Returns the number of nodes, at least 1: the number of the last one that is online, plus 1. Reads a file once.
pub(super) fn nodes() -> usize {
    let known = NODES.load(Ordering::Relaxed);
    if known != 0 {
        return known as usize;
    }
    let mut text = [0_u8; 256];
    let nodes = last_number(read(&mut text)).map_or(1, |last| last + 1);
    NODES.store(nodes, Ordering::Relaxed);
    nodes as usize
}

/// Returns the kernel's list of the nodes that are online; empty if it provides none.
fn read(text: &mut [u8; 256]) -> &[u8] {
    let path = c"/sys/devices/system/node/online".as_ptr();
    // SAFETY: the path is a string that ends with a zero.
    let (file, _) = quietly(|| unsafe { libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC) });
    if file < 0 {
        return &[];
    }
    // SAFETY: the file was opened above, and the kernel writes at most the length of the live array.
    let (length, _) = quietly(|| unsafe { libc::read(file, text.as_mut_ptr().cast(), text.len()) });
    // SAFETY: the file was opened above and is not used again.
    quietly(|| unsafe { libc::close(file) });
    usize::try_from(length).map_or(&[], |length| &text[..length])
}

/// Returns the last number of a list such as `0-1,4`; the kernel's lists ascend.
fn last_number(list: &[u8]) -> Option<u32> {
    let digits = list.trim_ascii().rsplit(|byte| !byte.is_ascii_digit()).next()?;
    core::str::from_utf8(digits).ok()?.parse().ok().filter(|&node| node < u32::from(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_nodes_has_its_last_number() {
        assert_eq!(last_number(b"0\n"), Some(0));
        assert_eq!(last_number(b"0-1\n"), Some(1));
        assert_eq!(last_number(b"0-3,12\n"), Some(12));
        assert_eq!(last_number(b""), None);
        assert_eq!(last_number(b"0-\n"), None);
        assert_eq!(last_number(b"99999999999\n"), None);
    }

    #[test]
    fn a_node_is_the_one_of_the_cpu() {
        // The thread may move between the two; on one node both are the same anyway.
        if nodes() == 1 {
            assert_eq!([node(), ask(), node()], [0; 3]);
        }
        assert!(node() < nodes());
        let cpu = cpus::current() as usize;
        assert!(
            NODE_OF
                .iter()
                .enumerate()
                .any(|(at, node)| at == cpu || node.load(Ordering::Relaxed) != 0)
        );
    }
}
