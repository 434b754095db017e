//! The entries of waits that have ended, and which threads they charge.

use core::sync::atomic::Ordering;

use super::chain::{Chain, Segment};
use super::{End, Sleep, Thread, words};
use crate::frames::Frames;
use crate::layout::{File, Lock, Role, kind};
use crate::{clock, table};

/// The number of innermost frames that identify a place that waits at a futex.
const PLACE: usize = 5;

impl Thread {
    /// Records the last calls of sched_yield(2).
    pub(super) fn record_polls(&mut self, file: &'static File) {
        let Some(polled) = self.polls.take() else { return };
        let sleep = Sleep { word: 0, file: 0, arrived: 0, kind: kind::YIELD, stack: polled.stack };
        if let Some((entry, _)) = entry(file, &sleep, polled.stack) {
            table::waited(entry, polled.ticks, 1);
            let stack = polled.stack - 1;
            table::sample(file, entry, Role::Waiter, stack, 1, polled.ticks, polled.ticks);
        }
    }

    /// Records a wait of the thread with that index. `late` returns the number of its stack plus 1
    /// if it was not taken at the beginning.
    pub(super) fn end(
        &mut self,
        file: &'static File,
        index: u32,
        sleep: &Sleep,
        how: End,
        now: u64,
        late: impl FnOnce(&mut Self, u64) -> Option<u32>,
    ) {
        // A wait of another process has ended before.
        let begun = clock::ticks();
        let waited = now.saturating_sub(sleep.arrived);
        let chain = words::chain(sleep.word, sleep.file).unwrap_or(Chain::EMPTY);
        let is_seen = chain.end() > sleep.arrived;
        if how == End::Woken {
            self.woken = now;
            self.chain = if is_seen { chain } else { Chain::EMPTY };
        }
        let stack = match sleep.stack {
            0 => late(self, waited).unwrap_or(0),
            known => known,
        };
        let Some((entry, is_new)) = entry(file, sleep, stack) else { return };
        if is_new {
            self.unseen_word = sleep.word;
        }
        table::took_part(entry, index);
        table::waited(entry, waited, 1);
        if how == End::GaveUp {
            entry.timeouts.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(stack) = stack.checked_sub(1) {
            table::sample(file, entry, Role::Waiter, stack, 1, waited, waited);
        }
        let mut charged = 0;
        let mut first = now;
        let mut charge = |part: Segment| {
            let kept = part.until.min(first).saturating_sub(part.from);
            first = first.min(part.from);
            charged += kept;
            if let Some(stack) = part.stack.checked_sub(1).filter(|_| kept != 0) {
                table::sample(file, entry, Role::Holder, stack, 1, kept, kept);
            }
            kept
        };
        for (index, part) in chain.after(sleep.arrived).enumerate() {
            let kept = charge(part);
            if index == 0 {
                table::held(entry, kept);
            }
        }
        if sleep.kind == kind::FUTEX && stack != 0 {
            // Inferred: what woke others that waited in the same place.
            let place = key(file, sleep, stack, false) as usize;
            let of_place = words::chain(place, sleep.file).unwrap_or(Chain::EMPTY);
            of_place.after(sleep.arrived).for_each(|part| _ = charge(part));
            if chain.end() > of_place.end() {
                words::store(place, sleep.file, &chain);
            }
        }
        entry.charged.fetch_add(waited, Ordering::Relaxed);
        entry.rest.fetch_add(waited.saturating_sub(charged), Ordering::Relaxed);
        entry.since.fetch_max(now, Ordering::Relaxed);
        let cost = core::mem::take(&mut self.cost) + clock::ticks().saturating_sub(begun);
        entry.event_ticks.fetch_add(cost, Ordering::Relaxed);
    }
}

/// Returns the entry of a wait, and whether it is new.
fn entry(file: &'static File, sleep: &Sleep, stack: u32) -> Option<(&'static Lock, bool)> {
    if !matches!(sleep.kind, kind::FUTEX | kind::YIELD) {
        return table::lock(file, sleep.word, sleep.kind, 0);
    }
    let key = key(file, sleep, stack, true);
    // An entry without an address is none.
    let address = if sleep.word == 0 { key as usize } else { sleep.word };
    let (entry, is_new) = table::keyed(file, key, address, sleep.kind, 0)?;
    if is_new {
        entry.created.store(stack, Ordering::Relaxed);
    }
    Some((entry, is_new))
}

/// Returns a number for the place of a wait, and, if `of_word`, for its word. No address is equal
/// to it.
fn key(file: &File, sleep: &Sleep, stack: u32, of_word: bool) -> u64 {
    const OF_PLACE: u64 = 1 << 63;
    let place = stack.checked_sub(1).map_or(0, |stack| Frames::of(file, stack, PLACE).hash());
    let word = if of_word { sleep.word as u64 } else { 0 };
    (place ^ word) | OF_PLACE
}
