//! Futexes on which a program waits without the recorder, found by sampling its threads.
//!
//! The recorder sees only locks that call it. A lock that calls futex(2) itself, such as the locks of Rust's standard
//! library, of parking_lot and of Go, is seen only while one of its threads sleeps in the kernel, which reports the
//! address. Condition variables and idle threads look the same.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::mappings::Mappings;
use crate::model::{Futex, Futexes, Location, Module};
use crate::reader::{Names, Reader};

/// The raw samples.
#[derive(Debug, Default)]
pub struct Seen {
    /// The number of times that threads were sampled.
    pub looks: u64,
    /// The number of times that the kernel refused it.
    pub refused: u64,
    /// By the number of the process.
    pub processes: BTreeMap<u32, Sleeps>,
}

/// The samples of a process.
#[derive(Debug, Default)]
pub struct Sleeps {
    /// Its `/proc/PID/maps`.
    pub maps: String,
    /// The number of times that threads were found asleep there.
    pub waits: HashMap<Sleep, u64>,
    /// For each return address of the stacks, the function that the call before it calls.
    pub called: HashMap<u64, Option<u64>>,
    /// The most threads that slept at an address at the same time.
    pub most: HashMap<u64, u32>,
}

/// A thread that slept in futex(2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sleep {
    /// The futex.
    pub address: u64,
    /// The instruction after the system call, and then the words of the stack that are code addresses.
    pub words: Vec<u64>,
}

impl Reader {
    /// Resolves the samples to names. Leaves out waits of the shim, which are recorded.
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

/// Returns the part of a stack that is certain. Words of a stack may be left over from calls that have returned. A word
/// is the return address of the next frame if the call instruction before it calls the function of the previous frame.
fn certain(
    names: &mut Names<'_>,
    words: &[u64],
    called: &HashMap<u64, Option<u64>>,
) -> Vec<Arc<Location>> {
    let Some((pc, rest)) = words.split_first() else { return Vec::new() };
    let mut inner = *pc;
    let mut stack = vec![names.location(inner)];
    // The C library's function for system calls has only its return address on the stack.
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
