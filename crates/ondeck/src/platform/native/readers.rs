//! The rows of visible readers: each thread that reads a biased lock has one, until it ends.
//!
//! A thread keeps the number of its row in a word of its own block. The first biased read of the thread claims the row, and
//! a destructor of its thread-local values gives it up; the locks count later reads of the thread. If a slot is not 0 at
//! that time, its guard was forgotten, or a later destructor will drop it. Then the row stays that thread's for ever: the
//! unlock of a read lock without its `Shared` searches the calling thread's own row (`RawRwLock::forgotten`), and a thread
//! that had the row next could not distinguish its own slots from others.
//!
//! The child of a fork keeps all rows as they are: a lock that a thread of the parent was reading stays read-locked there,
//! as if its word had counted that reader. Rows of threads that the child does not have are never given up; if none is left,
//! reads are counted.
//!
//! Two copies of this crate in a process have separate rows. So a lock that both use must not be biased: Rust's types ensure
//! that, and the C functions count all reads (`rwlock/shared.rs`).

extern crate std;

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Native;
use super::thread::Word;
use crate::parking::{BIASES, Bias, Row, bias_of};

/// The number of threads that can be visible readers at the same time. The rows take 64 KiB, of which a process touches one
/// line pair for each such thread.
const ROWS: usize = 512;

// SAFETY: only atomics, for which zero is a valid value and the initial one.
static TABLE: [Row<Native>; ROWS] = unsafe { core::mem::zeroed() };
static CLAIMED: [AtomicBool; ROWS] = [const { AtomicBool::new(false) }; ROWS];
// SAFETY: as above.
static BIAS: [Bias<Native>; BIASES] = unsafe { core::mem::zeroed() };

/// No row with this number or a higher one has ever been claimed.
static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Value of a thread's word: it has no row, and will have none. 0 means that it has not asked for one. Any other value is
/// the number of its row plus 1.
const NONE: u64 = u64::MAX;

#[inline(always)]
pub(super) fn bias(address: usize) -> &'static Bias<Native> {
    &BIAS[bias_of(address)]
}

/// Returns the calling thread's row.
#[inline(always)]
pub(super) fn own() -> Option<&'static Row<Native>> {
    // Neither 0 nor `NONE` is the number of a row, so a thread that has one makes one comparison.
    TABLE.get(Word::Row.get().wrapping_sub(1) as usize).or_else(claim)
}

/// Returns all rows that threads have or have had.
pub(super) fn all() -> &'static [Row<Native>] {
    &TABLE[..IN_USE.load(Ordering::Relaxed)]
}

#[cold]
#[inline(never)]
fn claim() -> Option<&'static Row<Native>> {
    if Word::Row.get() == NONE {
        return None;
    }
    // The registration of a destructor may allocate, and the allocator may read a lock: that read is counted.
    Word::Row.set(NONE);
    std::thread_local! {
        static ENDS: Ends = const { Ends { row: Cell::new(None) } };
    }
    let is_free = |claimed: &AtomicBool| {
        !claimed.load(Ordering::Relaxed) && !claimed.swap(true, Ordering::Acquire)
    };
    let claim = |ends: &Ends| {
        // If the thread already has a row, its word was lost.
        let row = ends.row.get().or_else(|| CLAIMED.iter().position(is_free));
        ends.row.set(row);
        row
    };
    let row = ENDS.try_with(claim).ok()??;
    // A writer that looks for readers sees this before the thread's first slot: the same fences come after both.
    IN_USE.fetch_max(row + 1, Ordering::Relaxed);
    Word::Row.set(row as u64 + 1);
    TABLE.get(row)
}

/// The destructor that runs with the thread's values.
struct Ends {
    /// The number of the thread's row. It is separate from the thread's word: where the standard library keeps that on the
    /// heap, it may already have freed it.
    row: Cell<Option<usize>>,
}

impl Drop for Ends {
    fn drop(&mut self) {
        let row = self.row.get();
        if row.is_some_and(|row| TABLE[row].has_readers()) {
            return;
        }
        Word::Row.set(NONE);
        if let Some(row) = row {
            // Release: the next thread finds the slots as this one leaves them.
            CLAIMED[row].store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the address of the calling thread's row.
    fn address() -> Option<usize> {
        own().map(core::ptr::from_ref).map(<*const _>::addr)
    }

    #[test]
    fn a_row_is_used_again_when_its_thread_has_ended() {
        let others: std::vec::Vec<_> =
            (0..2 * ROWS).map(|_| std::thread::spawn(address).join().unwrap()).collect();
        assert!(others.iter().all(Option::is_some));
        assert_eq!(address(), address());
        let used = (address().unwrap() - TABLE.as_ptr().addr()) / size_of::<Row<Native>>();
        assert!(used < all().len());
        assert!(all().len() < ROWS);
    }

    /// Systems that keep the words of a thread on the heap may free them before the destructors of other values.
    #[test]
    fn a_row_is_given_up_by_a_thread_whose_words_are_gone() {
        struct Freed(Cell<usize>);
        impl Drop for Freed {
            fn drop(&mut self) {
                Word::Row.set(0);
                assert_eq!(address(), Some(self.0.get()), "it has one row");
                Word::Row.set(0);
            }
        }
        std::thread_local!(static FREED: Freed = const { Freed(Cell::new(0)) });
        let claims = || {
            let row = address();
            // Destructors run in the reverse order of registration.
            FREED.with(|freed| freed.0.set(row.unwrap_or(0)));
            row.is_some()
        };
        assert!((0..2 * ROWS).all(|_| std::thread::spawn(claims).join().unwrap()));
    }

    /// With GNU's tools on Windows the standard library keeps the words of a thread on the heap, and frees them before the
    /// last destructors. A later destructor then finds an empty word, claims a row anew, and gives that up.
    #[test]
    #[cfg_attr(all(windows, target_env = "gnu"), ignore = "such a destructor has a row again")]
    fn a_destructor_that_runs_later_finds_none() {
        struct Late;
        impl Drop for Late {
            fn drop(&mut self) {
                assert!(own().is_none());
            }
        }
        std::thread_local!(static LATE: Late = const { Late });
        // Destructors run in the reverse order of registration.
        let thread = std::thread::spawn(|| {
            LATE.with(|_| ());
            own().is_some()
        });
        assert!(thread.join().unwrap());
    }
}
