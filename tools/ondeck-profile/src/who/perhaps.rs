//! Threads that may keep a lock which does not say which thread does. A thread that is to unlock a
//! lock has its address on its stack, or, if that is a constant, is in a function whose
//! instructions have it. In a register it is not seen.

use super::keeper::Keeper;
use super::memory::{Memory, STACK};
use super::references::{References, functions};
use super::report::{Lock, Thread};
use crate::names::Names;

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
        let functions = functions(&thread.stack, names);
        for lock in locks.iter_mut().filter(|lock| is_open(lock)) {
            let Some(object) = lock.wait.object else { continue };
            if !lock.waiters.contains(tid)
                && references.are_in(&words, &functions, object, names, memory)
            {
                lock.perhaps.push(*tid);
            }
        }
    }
}
