//! Locks need not repeat the work of `prepare`.
//!
//! Each test runs in a separate process, because a process does it once.

use std::sync::atomic::AtomicUsize;
use std::{fs, thread};

use ondeck::platform::{Fences, Host, Linux};

use crate::again::alone;
use crate::alone_with_membarrier;
use crate::seccomp::refuse;

#[test]
fn the_process_is_registered_with_membarrier() {
    alone_with_membarrier(&[], || {
        // Several threads prepare at once, and again.
        thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(ondeck::prepare)));
        ondeck::prepare();
        // From now on a registration would fail.
        refuse(libc::SYS_membarrier, libc::EPERM);
        assert!(Linux::fences_are_asymmetric());
    });
}

/// Returns whether the kernel wipes the page at `address` in the child of a fork: the flag `wf` of
/// proc(5).
fn is_wiped(address: usize) -> bool {
    let maps = fs::read_to_string("/proc/self/smaps").expect("there is a /proc");
    let range = |line: &str| {
        let (from, to) = line.split_once(' ')?.0.split_once('-')?;
        Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
    };
    let flags = maps
        .lines()
        .skip_while(|line| !range(line).is_some_and(|range| range.contains(&address)))
        .find_map(|line| line.strip_prefix("VmFlags:"))
        .expect("the kernel tells the flags of each mapping");
    flags.split_whitespace().any(|flag| flag == "wf")
}

#[test]
fn the_table_is_wiped_in_children() {
    alone(|| {
        // This is the only address of the table that can be read without setting up the wiping.
        let table: *const AtomicUsize = Linux::unlock_mode(0);
        assert!(!is_wiped(table.addr()));
        ondeck::prepare();
        assert!(is_wiped(table.addr()));
    });
}
