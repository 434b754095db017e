//! Threads that may keep a lock which does not say which thread does. A thread that is to unlock a
//! lock has its address on its stack, or, if that is a constant, is in a function whose
//! instructions have it. In a register it is not seen.

use std::collections::HashMap;
use std::sync::Arc;

use super::keeper::Keeper;
use super::memory::{Memory, STACK};
use super::report::{Lock, Thread};
use crate::model::Location;
use crate::names::Names;

/// Functions of a stack that are searched, and bytes of each.
const FUNCTIONS: usize = 16;
const CODE: usize = 8 << 10;

/// Adds to each lock the threads that refer to it, and neither wait for it nor at a condition
/// variable, which has unlocked a mutex. `stacks` are threads with their stack pointers.
pub fn add(
    locks: &mut [Lock],
    threads: &[Thread],
    stacks: &[(u32, u64)],
    names: &mut Names<'_>,
    memory: &Memory,
) {
    let is_open = |lock: &Lock| {
        matches!(lock.wait.keeper, Keeper::Unknown | Keeper::Readers { .. })
            && lock.wait.object.is_some()
    };
    if !locks.iter().any(is_open) {
        return;
    }
    let mut references = References::default();
    for (tid, stack) in stacks {
        let Some(thread) = threads.iter().find(|thread| thread.tid == *tid) else { continue };
        if thread.wait.as_ref().is_some_and(|wait| !wait.kind.is_kept()) {
            continue;
        }
        let words = memory.words(*stack, STACK);
        for lock in locks.iter_mut().filter(|lock| is_open(lock)) {
            let Some(object) = lock.wait.object else { continue };
            if !lock.waiters.contains(tid)
                && references.are_in(&words, &thread.stack, object, names, memory)
            {
                lock.perhaps.push(*tid);
            }
        }
    }
}

/// Which functions have which addresses in their instructions, as far as it was searched.
#[derive(Default)]
pub struct References {
    known: HashMap<(u64, u64), bool>,
}

impl References {
    /// Returns whether an address is among the words of a stack, or in the instructions of one of
    /// its inner functions.
    pub fn are_in(
        &mut self,
        words: &[u64],
        stack: &[Arc<Location>],
        address: u64,
        names: &mut Names<'_>,
        memory: &Memory,
    ) -> bool {
        words.contains(&address)
            || stack.iter().take(FUNCTIONS).any(|location| {
                let Some(start) = names.function_at(location.address) else { return false };
                *self.known.entry((start, address)).or_insert_with(|| {
                    let code = memory.top(start, CODE);
                    references(&code, start, address).any(|place| names.is_within(start, place))
                })
            })
    }
}

/// Returns the places in code at `start` that have an address, relative to the next instruction or,
/// below 2 GB, absolute.
fn references(code: &[u8], start: u64, address: u64) -> impl Iterator<Item = u64> {
    let places = (start..).zip(code.windows(4));
    places.filter_map(move |(place, bytes)| {
        let value = i32::from_le_bytes(*bytes.first_chunk()?);
        let relative = cfg!(target_arch = "x86_64")
            && (place + 4).checked_add_signed(value.into()) == Some(address);
        (relative || u64::try_from(value) == Ok(address)).then_some(place)
    })
}
