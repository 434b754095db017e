//! The rows of visible readers: each thread that reads a biased lock has one, until it ends.
//!
//! A thread keeps the number of its row in a word of its own block. The first biased read of the
//! thread claims the row, and a destructor of its thread-local values gives it up; the locks count
//! later reads of the thread. If a slot is not 0 at that time, its guard was forgotten, or a later
//! destructor will drop it. Then the row stays that thread's for ever: the unlock of a read lock
//! without its `Shared` searches the calling thread's own row (`RawRwLock::forgotten`). A later
//! thread with the same thread pointer has that row. Reads of a lock by both are alike: as long as
//! one of them is not unlocked, the slot or the count shows it.
//!
//! The child of a fork keeps all rows as they are: a lock that a thread of the parent was reading
//! stays read-locked there, as if its word had counted that reader. Rows of threads that the child
//! does not have are never given up; if none is left, reads are counted.
//!
//! Copies of this crate that share the parking table share the rows. A thread has one row,
//! whichever copies it uses: the second copy finds the row that the first has claimed, and may
//! unlock a read that the other has locked. The copy that has claimed the row gives it up. Its
//! destructor was registered first, and runs last.

extern crate std;

use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::Native;
use super::thread::Word;
use crate::parking::{BIASES, Bias, Row, bias_of};

/// The number of threads that can be visible readers at the same time. The rows take 64 KiB, of
/// which a process touches one line pair for each such thread.
const ROWS: usize = 512;

#[repr(C)]
struct Readers {
    /// No row with this number or a higher one has ever been claimed. The first word: what is
    /// inlined into programs in C reads it.
    in_use: AtomicUsize,
    rows: [Row<Native>; ROWS],
    biases: [Bias<Native>; BIASES],
    /// The thread that has the row of the same number, or 0.
    owners: [AtomicUsize; ROWS],
}

const _: () = assert!(core::mem::offset_of!(Readers, in_use) == 0);

/// Exported with the parking table, and for the same reason. The number changes with the layout.
// SAFETY: no other symbol of any library has this name.
#[unsafe(export_name = "ondeck_reader_rows_2")]
// SAFETY: only atomics, for which zero is a valid value and the initial one.
static READERS: Readers = unsafe { core::mem::zeroed() };

/// Value of a thread's word: it has no row, and will have none. 0 means that it has not asked for
/// one. Any other value is the number of its row plus 1.
const NONE: u64 = u64::MAX;

#[inline(always)]
pub(super) fn bias(address: usize) -> &'static Bias<Native> {
    &READERS.biases[bias_of(address)]
}

/// Returns the calling thread's row.
#[inline(always)]
pub(super) fn own() -> Option<&'static Row<Native>> {
    // Neither 0 nor `NONE` is the number of a row, so a thread that has one makes one comparison.
    READERS.rows.get(Word::Row.get().wrapping_sub(1) as usize).or_else(claim)
}

/// Returns the row that the calling thread has, even if this copy of the crate has none for it any
/// more.
#[inline(always)]
pub(super) fn kept() -> Option<&'static Row<Native>> {
    own().or_else(|| READERS.rows.get(claimed_before()?))
}

/// Returns all rows that threads have or have had.
pub(super) fn all() -> &'static [Row<Native>] {
    &READERS.rows[..READERS.in_use.load(Ordering::Relaxed)]
}

/// Returns the number of the row that the calling thread already has: its word was lost, or is
/// another copy's.
#[cold]
#[inline(never)]
fn claimed_before() -> Option<usize> {
    let own = Native::thread_pointer().get();
    // Relaxed: only a thread itself stores its pointer, and one that had the same ended before.
    READERS.owners.iter().position(|owner| owner.load(Ordering::Relaxed) == own)
}

#[cold]
#[inline(never)]
fn claim() -> Option<&'static Row<Native>> {
    if Word::Row.get() == NONE {
        return None;
    }
    // The registration of a destructor may allocate, and the allocator may read a lock: that read
    // is counted.
    Word::Row.set(NONE);
    std::thread_local! {
        static ENDS: Ends = const { Ends { row: Cell::new(None) } };
    }
    let own = Native::thread_pointer().get();
    let is_free = |owner: &AtomicUsize| {
        owner.load(Ordering::Relaxed) == 0
            && owner.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed).is_ok()
    };
    let claim = |ends: &Ends| {
        claimed_before().or_else(|| {
            ends.row.set(READERS.owners.iter().position(is_free));
            ends.row.get()
        })
    };
    let row = ENDS.try_with(claim).ok()??;
    // A writer that looks for readers sees this before the thread's first slot: the same fences
    // come after both.
    READERS.in_use.fetch_max(row + 1, Ordering::Relaxed);
    Word::Row.set(row as u64 + 1);
    READERS.rows.get(row)
}

/// The destructor that runs with the thread's values.
struct Ends {
    /// The number of the thread's row, if this copy has claimed it. It is separate from the
    /// thread's word: where the standard library keeps that on the heap, it may already have freed
    /// it.
    row: Cell<Option<usize>>,
}

impl Drop for Ends {
    fn drop(&mut self) {
        let row = self.row.get();
        if row.is_some_and(|row| READERS.rows[row].has_readers()) {
            return;
        }
        Word::Row.set(NONE);
        if let Some(row) = row {
            // Release: the next thread finds the slots as this one leaves them.
            READERS.owners[row].store(0, Ordering::Release);
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
        let used = (address().unwrap() - READERS.rows.as_ptr().addr()) / size_of::<Row<Native>>();
        assert!(used < all().len());
        assert!(all().len() < ROWS);
    }

    /// Systems that keep the words of a thread on the heap may free them before the destructors of
    /// other values.
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

    /// As where another copy of this crate has claimed it, and the destructor of this one has run.
    #[test]
    fn a_row_is_found_by_a_thread_that_reads_in_no_row_any_more() {
        let finds = || {
            let row = address();
            Word::Row.set(NONE);
            assert!(own().is_none());
            row.is_some() && kept().map(core::ptr::from_ref).map(<*const _>::addr) == row
        };
        assert!(std::thread::spawn(finds).join().unwrap());
    }

    /// With GNU's tools on Windows the standard library keeps the words of a thread on the heap,
    /// and frees them before the last destructors. A later destructor then finds an empty word,
    /// claims a row anew, and gives that up.
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
