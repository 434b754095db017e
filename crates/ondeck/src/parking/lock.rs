//! The lock of a bucket. Threads hold it for some tens of nanoseconds, and all of them need it to make progress.
//!
//! Three states as in Drepper's "Futexes Are Tricky": 0 free, 1 held, 2 held and a thread may sleep. It allocates nothing. A
//! thread polls first for the time of a wake, as the poller of a mutex does: many sections end in that time.

use super::{Host, sleep_while};
use crate::machine::{AtomicInt, Ordering};
use crate::spin::{polling_ticks, wait_for};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// The limit on the reads of a thread before it sleeps: a clock read may take as long as the whole wait.
const READS: u32 = 1_000;

/// The longest pause between two reads, in transfers of a cache line.
const LONGEST_PAUSE: usize = 16;

#[inline]
fn try_acquire<P: Host>(word: &P::AtomicU32) -> bool {
    word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

#[inline]
pub(super) fn acquire<P: Host>(word: &P::AtomicU32) {
    if !try_acquire::<P>(word) {
        acquire_slow::<P>(word);
    }
}

#[cold]
fn acquire_slow<P: Host>(word: &P::AtomicU32) {
    let budget = polling_ticks::<P>();
    if budget != 0 && acquires_awake::<P>(word, budget) {
        return;
    }
    while word.swap(CONTENDED, Ordering::Acquire) != FREE {
        sleep_while::<P>(word, CONTENDED, None);
    }
}

/// Reads the lock ever more rarely, for `budget` ticks. Returns whether the caller has acquired it.
///
/// Hundreds of threads that begin to wait for one lock at the same moment each park within some hundred nanoseconds this
/// way. If they slept here, each would be woken by the one before it, and all others would wait for that wake.
fn acquires_awake<P: Host>(word: &P::AtomicU32, budget: usize) -> bool {
    // A slow counter may count no tick in a transfer, but the pauses must grow even then.
    let (start, transfer) = (P::ticks() as usize, P::transfer_ticks().max(2));
    let (mut now, mut pause) = (start, transfer / 2);
    for _ in 0..P::spins(READS) {
        if now.wrapping_sub(start) >= budget {
            break;
        }
        // The pauses grow, so that many threads do not keep the line from the holder.
        now = wait_for::<P>(now, pause);
        if word.load(Ordering::Relaxed) == FREE && try_acquire::<P>(word) {
            return true;
        }
        pause = (2 * pause).min(LONGEST_PAUSE * transfer);
    }
    false
}

#[inline]
pub(super) fn release<P: Host>(word: &P::AtomicU32) {
    // spec: Mutex!Unguard
    // A bucket is never freed, so its lock may be used after the store that unlocks it.
    if word.swap(FREE, Ordering::Release) == CONTENDED {
        // Two, so that a chain of wakes, each of which takes some microseconds, grows until it delivers as many threads as
        // the lock can serve. Of the two woken threads, the second acquires the lock after the first, or sleeps again.
        P::futex_wake(word, 2);
    }
}
