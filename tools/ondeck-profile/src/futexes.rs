//! Sleeps that the recorder does not see, found by sampling the threads of a program.
//!
//! The recorder sees only locks that call it. A lock that calls futex(2) itself, such as the locks
//! of Rust's standard library and of parking_lot, is seen only while one of its threads sleeps in
//! the kernel, which reports the address. So is a lock that is made of a semaphore, as Python's, or
//! of a condition variable, as Java's: the shim serves both, and records neither. Under the
//! observer all of these are recorded, and only calls of futex(2) that are inlined are left: those
//! of the C library's allocator, of Go, of programs without the C library. Idle threads look the
//! same.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::mappings::Mappings;
use crate::model::{Frame, Futex, Futexes, Location, Module, Object};
use crate::names::Names;
use crate::reader::Reader;

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
    /// The instruction after the system call, and then the words of the stack that are code
    /// addresses.
    pub words: Vec<u64>,
}

impl Reader {
    /// Resolves the samples to names. Leaves out the shim's waits for locks, which are recorded.
    pub fn futexes(&mut self, seen: &Seen) -> Futexes {
        let mut found = Vec::new();
        for (pid, sleeps) in &seen.processes {
            let mappings = Mappings::parse(&sleeps.maps);
            let modules = self.symbols.modules(&mappings, Path::new(""), *pid);
            let mut names = Names::new(&mut self.symbols, &modules, &mappings, *pid);
            let mut by_object: HashMap<(Object, Vec<u64>), Futex> = HashMap::new();
            let mut words = HashSet::new();
            let is_under_observer =
                modules.iter().any(|module| module.soname.starts_with("libondeck_observe.so"));
            for (sleep, count) in &sleeps.waits {
                let mut stack = certain(&mut names, &modules, sleep, &sleeps.called);
                if is_under_observer && is_observed(&stack, &modules) {
                    continue;
                }
                let Some(object) = slept_at(&stack, &modules) else { continue };
                let own = stack.iter().take_while(|one| is_shims(one, &modules)).count();
                stack.drain(..own.min(stack.len().saturating_sub(1)));
                // The word at which a thread waits for a notification is the thread's own.
                let key = match object {
                    Object::ConditionVariable => stack.iter().map(|one| one.address).collect(),
                    _ => vec![sleep.address],
                };
                let futex = by_object.entry((object, key.clone())).or_insert_with(|| Futex {
                    object,
                    pid: *pid,
                    address: sleep.address,
                    place: names.place(sleep.address),
                    samples: 0,
                    threads: 0,
                    stacks: Vec::new(),
                });
                futex.samples += count;
                match futex.stacks.iter_mut().find(|(known, _)| is_same(known, &stack)) {
                    Some((_, samples)) => *samples += count,
                    None => futex.stacks.push((stack, *count)),
                }
                if words.insert((object, key, sleep.address)) {
                    futex.threads += sleeps.most.get(&sleep.address).copied().unwrap_or(1);
                }
            }
            found.extend(by_object.into_values());
        }
        for futex in &mut found {
            futex.stacks.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples));
        }
        found.sort_by_key(|futex: &Futex| (std::cmp::Reverse(futex.samples), futex.address));
        Futexes { looks: seen.looks, is_whole: seen.refused == 0, found }
    }
}

fn is_of(location: &Location, modules: &[Module], library: &str) -> bool {
    location.module.is_some_and(|module| modules[module].soname.starts_with(library))
}

fn is_shims(location: &Location, modules: &[Module]) -> bool {
    is_of(location, modules, "libondeck_preload.so")
}

/// Returns whether a sleep of an observed process is recorded: in the observer itself, or in a
/// function of the C library that the observer calls. Those sleep by functions of their own, and
/// the locks of the library itself by another.
fn is_observed(stack: &[Arc<Location>], modules: &[Module]) -> bool {
    const CALLED: [&str; 4] = ["pthread_", "sem_", "futex_abstimed_wait", "lll_lock_wait"];
    const OWN: &str = "lll_lock_wait_private";
    let is_called = |location: &Arc<Location>| {
        let named = |frame: &Frame| {
            let name = frame.function.trim_start_matches("__GI_").trim_start_matches('_');
            name != OWN && CALLED.iter().any(|start| name.starts_with(start))
        };
        location.frames.iter().any(named)
    };
    stack.iter().any(|location| {
        is_of(location, modules, "libondeck_observe.so")
            || is_of(location, modules, "libc.so.6") && is_called(location)
    })
}

/// Returns the kind of the object at which the thread with this stack slept; `None` if its wait is
/// recorded.
fn slept_at(stack: &[Arc<Location>], modules: &[Module]) -> Option<Object> {
    let Some(entry) = stack.iter().rfind(|location| is_shims(location, modules)) else {
        return Some(Object::Futex);
    };
    let function = &entry.frames.last()?.function;
    // Without its symbols, the shim has the names of the functions that it replaces.
    let name =
        ["ondeck_preload_", "pthread_"].iter().find_map(|start| function.strip_prefix(start));
    match name.unwrap_or(function).split_once('_')?.0 {
        "sem" => Some(Object::Semaphore),
        "cond" | "cnd" | "old" => Some(Object::ConditionVariable),
        "barrier" => Some(Object::Barrier),
        _ => None,
    }
}

fn is_same(a: &[Arc<Location>], b: &[Arc<Location>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.address == b.address)
}

/// Returns the part of a stack that is certain. Words of a stack may be left over from calls that
/// have returned. A word is the return address of the next frame if the call instruction before it
/// calls the function of the previous frame.
fn certain(
    names: &mut Names<'_>,
    modules: &[Module],
    sleep: &Sleep,
    called: &HashMap<u64, Option<u64>>,
) -> Vec<Arc<Location>> {
    let Some((pc, mut rest)) = sleep.words.split_first() else { return Vec::new() };
    let mut stack = vec![names.location(*pc)];
    // The C library's function for system calls has only its return address on the stack.
    if stack[0].frames.iter().any(|frame| frame.function == "syscall")
        && let Some((word, after)) = rest.split_first()
    {
        stack.push(names.location(word.saturating_sub(1)));
        rest = after;
    }
    rest = follow(names, &mut stack, rest, called, |names, called, inner| {
        names.is_within(called, inner.address)
    });
    // A function of the shim may end with a tail call, and leave no frame.
    if stack.last().is_some_and(|outermost| is_shims(outermost, modules)) {
        follow(names, &mut stack, rest, called, |names, called, inner| {
            names.is_within(called, inner.address)
                || is_shims(inner, modules) && is_shims(&names.location(called), modules)
        });
    }
    stack
}

/// Extends a stack by the words that are certain: `calls` returns whether a call of a function
/// leads to the outermost frame. Returns the words after the last of them.
fn follow<'w>(
    names: &mut Names<'_>,
    stack: &mut Vec<Arc<Location>>,
    mut words: &'w [u64],
    called: &HashMap<u64, Option<u64>>,
    calls: impl Fn(&mut Names<'_>, u64, &Location) -> bool,
) -> &'w [u64] {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let Some(inner) = stack.last().map(Arc::clone) else { break };
        if let Some(function) = called.get(word).copied().flatten()
            && calls(names, function, &inner)
        {
            if !names.is_within(function, inner.address) {
                stack.push(names.location(function));
            }
            stack.push(names.location(word.saturating_sub(1)));
            words = rest;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_of_the_shim_is_known_by_the_function_that_it_replaces() {
        let modules = ["", "libondeck_preload.so"].map(|soname| Module::named("/a", soname));
        let location = |(module, function): &(usize, &str)| {
            let frame = Frame { function: (*function).to_owned(), file: None, line: None };
            Arc::new(Location { address: 1, module: Some(*module), frames: vec![frame] })
        };
        for (functions, object) in [
            (&[(0, "syscall"), (0, "sem_wait")][..], Some(Object::Futex)),
            (
                &[(1, "wait_slow"), (1, "ondeck_preload_sem_wait"), (0, "main")],
                Some(Object::Semaphore),
            ),
            (&[(1, "sem_clockwait"), (0, "cond_wait")], Some(Object::Semaphore)),
            (&[(1, "ondeck_preload_cond_wait"), (0, "main")], Some(Object::ConditionVariable)),
            (&[(1, "pthread_cond_timedwait"), (0, "main")], Some(Object::ConditionVariable)),
            (&[(1, "cnd_wait"), (0, "main")], Some(Object::ConditionVariable)),
            (&[(1, "pthread_barrier_wait"), (0, "main")], Some(Object::Barrier)),
            (&[(1, "pthread_mutex_lock"), (0, "sem_wait")], None),
            (&[(1, "ondeck_preload_rwlock_rdlock"), (0, "main")], None),
            (&[(1, "ondeck::parking::park")], None),
        ] {
            let stack: Vec<_> = functions.iter().map(location).collect();
            assert_eq!(slept_at(&stack, &modules), object, "{functions:?}");
        }
    }
}
