//! The stacks of records and of lock initializations.

use core::sync::atomic::Ordering;

use crate::layout::{File, Lock, Role};
use crate::thread::{self, Local};
use crate::{clock, maps, stack, state, sys, table};

/// Records the stack, if it is this record's turn, and adds it to the samples of the thread's
/// roles: waiter, holder, or both.
///
/// `waited` is the ticks of its wait and the number of waits that it counts for; `blame` is the
/// ticks that it is charged with and the ticks for which it held the lock. `base` is as in
/// [`stack::take`]. Returns the ticks that recording the stack took.
pub fn add(
    file: &File,
    local: &mut Local,
    entry: &Lock,
    waited: Option<(u64, u32)>,
    blame: Option<(u64, u64)>,
    base: usize,
) -> u64 {
    let as_waiter = waited.and_then(|(ticks, weight)| {
        let all = ticks.saturating_mul(weight.into());
        local.stack_for(all).map(|stands_for| (stands_for, weight, all, ticks))
    });
    let as_holder = blame.and_then(|(charge, held)| {
        local.stack_for(charge).map(|stands_for| (stands_for, charge, held))
    });
    if as_waiter.is_none() && as_holder.is_none() {
        return 0;
    }
    let start = clock::ticks();
    if let Some(stack) = keep_stack(file, base) {
        if let Some((stands_for, weight, all, one)) = as_waiter {
            let count = times(weight.into(), stands_for, all);
            table::sample(file, entry, Role::Waiter, stack, count, stands_for, one);
        }
        if let Some((stands_for, charge, held)) = as_holder {
            let count = times(1, stands_for, charge);
            table::sample(file, entry, Role::Holder, stack, count, stands_for, held);
        }
    }
    let end = clock::ticks();
    local.took_stack(start, end);
    file.header.stacks_taken.fetch_add(1, Ordering::Relaxed);
    file.header.stack_ticks.fetch_add(end.wrapping_sub(start), Ordering::Relaxed);
    end.wrapping_sub(start)
}

/// Scales `count` events of `ticks` in total to a stack that stands for `stands_for` ticks.
fn times(count: u64, stands_for: u64, ticks: u64) -> u64 {
    (u128::from(count) * u128::from(stands_for) / u128::from(ticks.max(1))) as u64
}

/// Records the calling thread's stack, and copies the mappings if they lack one of its addresses.
pub(crate) fn keep_stack(file: &File, base: usize) -> Option<u32> {
    let frames = stack::take(file, base)?;
    let (number, is_new) = frames.keep(file)?;
    if is_new {
        for address in frames.addresses() {
            sys::with_errno_kept(|| maps::see(file, *address));
        }
    }
    Some(number)
}

/// Records that the calling thread has initialized the lock at `lock`. Returns the value for its
/// word [`created`](crate::Words::created): 0 if the stack was not recorded.
#[inline]
pub fn created(lock: usize, kind: u32) -> u32 {
    if state::is_on() { create(lock, kind) } else { 0 }
}

#[inline(never)]
fn create(lock: usize, kind: u32) -> u32 {
    let Some(file) = state::file() else { return 0 };
    let here = 0_u8;
    let base = (&raw const here).addr();
    let number = thread::of(file, |local| {
        table::initialized(file, lock, kind);
        local.creations.take(|| keep_stack(file, base))
    });
    number.flatten().map_or(0, |number| number + 1)
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn events_are_scaled_to_what_their_stack_stands_for() {
        assert_eq!([times(8, 3_000, 1_000), times(1, 500, 1_000), times(4, 0, 0)], [24, 0, 0]);
        assert_eq!(times(u64::MAX, 1 << 40, 1 << 40), u64::MAX);
    }
}
