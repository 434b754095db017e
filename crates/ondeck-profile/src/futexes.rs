//! Futexes that a program waits at by itself: found by looking at its threads now and then.
//!
//! The recorder sees the locks that call it. A lock that calls futex(2) itself, as those of Rust's standard library, of
//! parking_lot and of Go, is seen only when its thread sleeps in the kernel, which then says at which address. So does
//! a condition variable, and a thread that has nothing to do.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::mappings::Mappings;
use crate::model::{Futex, Futexes, Location, Module};
use crate::reader::{Names, Reader};

/// What was seen, as it was read.
#[derive(Debug, Default)]
pub struct Seen {
    /// How often threads were looked at.
    pub looks: u64,
    /// How often that was refused.
    pub refused: u64,
    /// By the number of the process.
    pub processes: BTreeMap<u32, Sleeps>,
}

/// What was seen of a process.
#[derive(Debug, Default)]
pub struct Sleeps {
    /// Its `/proc/PID/maps`.
    pub maps: String,
    /// How often threads slept there.
    pub waits: HashMap<Sleep, u64>,
    /// Which function the call before a return address calls, for addresses of stacks.
    pub called: HashMap<u64, Option<u64>>,
    /// The most threads that slept at an address at the same time.
    pub most: HashMap<u64, u32>,
}

/// A thread that slept in futex(2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sleep {
    /// The futex.
    pub address: u64,
    /// The instruction after the system call, and then what of the stack is an address of code.
    pub words: Vec<u64>,
}

impl Reader {
    /// Gives names to what was seen. Leaves out what the shim waits for: that is recorded.
    pub fn futexes(&mut self, seen: &Seen) -> Futexes {
        let mut found = Vec::new();
        for (pid, sleeps) in &seen.processes {
            let mappings = Mappings::parse(&sleeps.maps);
            let modules = self.modules(&mappings, Path::new(""));
            let mut names = Names::new(&mut self.symbols, &modules, &mappings);
            let mut by_address: HashMap<u64, Futex> = HashMap::new();
            for (sleep, count) in &sleeps.waits {
                let stack = certain(&mut names, &sleep.words, &sleeps.called);
                let is_shims = |location: &Arc<Location>| {
                    location.module.is_some_and(|module| is_shim(&modules[module]))
                };
                if stack.iter().any(is_shims) {
                    continue;
                }
                let futex = by_address.entry(sleep.address).or_insert_with(|| Futex {
                    pid: *pid,
                    address: sleep.address,
                    place: names.place(sleep.address),
                    samples: 0,
                    threads: sleeps.most.get(&sleep.address).copied().unwrap_or(1),
                    stacks: Vec::new(),
                });
                futex.samples += count;
                match futex.stacks.iter_mut().find(|(known, _)| is_same(known, &stack)) {
                    Some((_, samples)) => *samples += count,
                    None => futex.stacks.push((stack, *count)),
                }
            }
            found.extend(by_address.into_values());
        }
        for futex in &mut found {
            futex.stacks.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples));
        }
        found.sort_by_key(|futex: &Futex| (std::cmp::Reverse(futex.samples), futex.address));
        Futexes { looks: seen.looks, is_whole: seen.refused == 0, found }
    }
}

fn is_shim(module: &Module) -> bool {
    module.soname.starts_with("libondeck_preload.so")
}

fn is_same(a: &[Arc<Location>], b: &[Arc<Location>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.address == b.address)
}

/// The part of a stack that is certain. Words of it may be left of calls that have returned; one is the return address of the
/// next frame if the call before it is of the function that the frame before is in.
fn certain(
    names: &mut Names<'_>,
    words: &[u64],
    called: &HashMap<u64, Option<u64>>,
) -> Vec<Arc<Location>> {
    let Some((pc, rest)) = words.split_first() else { return Vec::new() };
    let mut inner = *pc;
    let mut stack = vec![names.location(inner)];
    // The C library's function for system calls has nothing on the stack but where it returns to.
    let is_wrapper = stack[0].frames.iter().any(|frame| frame.function == "syscall");
    for (index, word) in rest.iter().enumerate() {
        let called = called.get(word).copied().flatten();
        let is_first = index == 0 && is_wrapper;
        if is_first || called.is_some_and(|called| names.is_within(called, inner)) {
            inner = word.saturating_sub(1);
            stack.push(names.location(inner));
        }
    }
    stack
}
