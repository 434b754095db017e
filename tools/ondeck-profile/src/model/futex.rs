//! Sleeps that the recorder does not see.

use std::sync::Arc;

use serde::Serialize;

use super::{Frame, Location, Place};

/// Sleeps of programs that the recorder does not see, found by sampling their threads.
#[derive(Debug)]
pub struct Futexes {
    /// The number of times that threads were sampled.
    pub looks: u64,
    /// Whether all threads could be sampled.
    pub is_whole: bool,
    /// Sorted by the number of times that threads slept there, most first.
    pub found: Vec<Futex>,
}

impl Futexes {
    /// Returns the number of times that a thread was found asleep.
    pub fn samples(&self) -> u64 {
        self.found.iter().map(|futex| futex.samples).sum()
    }
}

/// The kind of object at which a thread slept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Object {
    /// A futex, by a system call that is not the shim's.
    Futex,
    /// A semaphore of POSIX threads.
    Semaphore,
    /// A condition variable of POSIX threads.
    ConditionVariable,
    /// A barrier of POSIX threads.
    Barrier,
}

/// An object that is not recorded, and on which threads slept.
#[derive(Debug)]
pub struct Futex {
    /// Its kind.
    pub object: Object,
    /// The process.
    pub pid: u32,
    /// The address of the futex; for a condition variable, that of one of its threads.
    pub address: u64,
    /// The place of that address.
    pub place: Place,
    /// The number of times that a thread was found there.
    pub samples: u64,
    /// The largest number of threads at the same time; for a condition variable, of all threads
    /// that were found.
    pub threads: u32,
    /// The certain parts of their stacks, innermost first, with the number of times that each was
    /// found, most first.
    pub stacks: Vec<(Vec<Arc<Location>>, u64)>,
}

impl Futex {
    /// Returns the variable or the address, with the kind unless it is a futex.
    pub fn name(&self) -> String {
        let name = || self.place.symbol().unwrap_or_else(|| format!("{:#x}", self.address));
        match self.object {
            Object::Futex => name(),
            Object::Semaphore => format!("semaphore {}", name()),
            Object::ConditionVariable => "a condition variable".to_owned(),
            Object::Barrier => format!("barrier {}", name()),
        }
    }

    /// Returns the function that waited there most often, with its callers, without the frames of
    /// the lock if that leaves any.
    pub fn frames(&self) -> Vec<&Frame> {
        let Some((stack, _)) = self.stacks.first() else { return Vec::new() };
        let all: Vec<&Frame> = stack.iter().flat_map(|location| &location.frames).collect();
        let own = all.iter().take_while(|frame| is_of_lock(frame)).count();
        if own == all.len() { all } else { all[own..].to_vec() }
    }
}

/// Prefixes of functions that wait on behalf of their callers.
const LOCKS: [&str; 7] =
    ["syscall", "parking_lot", "<parking_lot", "lock_api::", "<lock_api", "runtime.", "sync."];

/// Parts of the paths of their sources, for inlined functions that have lost the names of their
/// modules.
const SOURCES: [&str; 3] = ["/parking_lot", "/lock_api-", "/go/src/sync/"];

fn is_of_lock(frame: &Frame) -> bool {
    frame.is_of_language()
        || LOCKS.iter().any(|start| frame.function.starts_with(start))
        || frame.file.as_ref().is_some_and(|file| SOURCES.iter().any(|part| file.contains(part)))
}
