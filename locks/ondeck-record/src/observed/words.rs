//! The words at which threads wait: the number of waiting threads, and the chain of the last wake.
//!
//! Both are caches of fixed size in this process's memory. Nothing waits for a record of them: an
//! update that finds its set in use is left out, because the thread that uses it may be stopped, or
//! may not exist in the child of a fork.

use core::cell::UnsafeCell;
use core::hint;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::chain::Chain;
use crate::layout::place_of;

/// Counts of waiting threads, by a hash of the word. A thousand threads that wait each at a word of
/// its own make 6 % of all other words look awaited.
const COUNTS: usize = 16_384;
/// Pairs of chains.
const SETS: usize = 2_048;
/// Attempts to use a set.
const PATIENCE: u32 = 64;

/// The chain of the last wake at a word.
#[derive(Clone, Copy)]
struct Record {
    word: usize,
    /// The file whose stacks the chain has: see [`address_of`](crate::thread::address_of).
    file: usize,
    chain: Chain,
}

struct Set {
    is_used: AtomicBool,
    records: UnsafeCell<[Record; 2]>,
}

// SAFETY: the records are accessed only by the thread that has set `is_used`.
unsafe impl Sync for Set {}

static RECORDS: [Set; SETS] = [const {
    const EMPTY: Record = Record { word: 0, file: 0, chain: Chain::EMPTY };
    Set { is_used: AtomicBool::new(false), records: UnsafeCell::new([EMPTY; 2]) }
}; SETS];

static WAITING: [AtomicU32; COUNTS] = [const { AtomicU32::new(0) }; COUNTS];

/// Returns the number of threads that wait at this word or at one with the same hash. Relaxed
/// everywhere: a waker that misses a thread that has just come leaves out a record.
#[inline(always)]
pub fn waiting(word: usize) -> &'static AtomicU32 {
    &WAITING[place_of(word as u64, COUNTS)]
}

/// Returns the chain of the last wake at a word, whose stacks are in this file.
pub fn chain(word: usize, file: usize) -> Option<Chain> {
    with(word, |records| {
        records
            .iter()
            .find(|record| record.word == word && record.file == file)
            .map(|record| record.chain)
    })
    .flatten()
}

/// Stores the chain of a wake, in the place of the word's last one or of the older of both.
pub fn store(word: usize, file: usize, chain: &Chain) {
    with(word, |records| {
        let known = records.iter().position(|record| record.word == word);
        let older = usize::from(records[1].chain.end() < records[0].chain.end());
        records[known.unwrap_or(older)] = Record { word, file, chain: *chain };
    });
}

/// Extends the last segment of a word's chain, if it ended at `ended`. Returns whether it did.
pub fn extend(word: usize, file: usize, ended: u64, gap: u64, until: u64) -> bool {
    with(word, |records| {
        let mut its = records.iter_mut().filter(|one| one.word == word && one.file == file);
        let its = its.find(|record| record.chain.end() == ended);
        its.map(|record| record.chain.extend(gap, until)).is_some()
    })
    .unwrap_or(false)
}

/// Sets the stack of the segment that ended at `until`, if the word still has it.
pub fn name(word: usize, file: usize, until: u64, stack: u32) {
    with(word, |records| {
        let its = records.iter_mut().find(|record| record.word == word && record.file == file);
        if let Some(record) = its {
            record.chain.name(until, stack);
        }
    });
}

/// Calls `action` with the records among which a word's is.
fn with<T>(word: usize, action: impl FnOnce(&mut [Record; 2]) -> T) -> Option<T> {
    let set = &RECORDS[place_of(word as u64, SETS)];
    let mut left = PATIENCE;
    while set.is_used.load(Ordering::Relaxed) || set.is_used.swap(true, Ordering::Acquire) {
        left -= 1;
        if left == 0 {
            return None;
        }
        hint::spin_loop();
    }
    // SAFETY: this thread has set the flag.
    let result = action(unsafe { &mut *set.records.get() });
    set.is_used.store(false, Ordering::Release);
    Some(result)
}
