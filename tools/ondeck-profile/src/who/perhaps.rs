//! Threads that may keep a lock which does not say which thread does. A thread that is to unlock a
//! lock has its address on its stack, or, if that is a constant, is in a function whose
//! instructions have it. In a register it is not seen.

use std::collections::HashMap;

use super::keeper::Keeper;
use super::memory::Memory;
use super::report::{Lock, Thread};
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
    let mut code = HashMap::new();
    for (tid, stack) in stacks {
        let Some(thread) = threads.iter().find(|thread| thread.tid == *tid) else { continue };
        if thread.wait.as_ref().is_some_and(|wait| !wait.kind.is_kept()) {
            continue;
        }
        let words = memory.words(*stack);
        let functions = thread.stack.iter().take(FUNCTIONS);
        let functions: Vec<u64> =
            functions.filter_map(|location| names.function_at(location.address)).collect();
        for start in &functions {
            code.entry(*start).or_insert_with(|| memory.top::<CODE>(*start));
        }
        for lock in locks.iter_mut().filter(|lock| is_open(lock)) {
            let Some(object) = lock.wait.object else { continue };
            let refers = |start: &u64| {
                let mut places = references(&code[start], *start, object);
                places.any(|place| names.is_within(*start, place))
            };
            if !lock.waiters.contains(tid)
                && (words.contains(&object) || functions.iter().any(refers))
            {
                lock.perhaps.push(*tid);
            }
        }
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
