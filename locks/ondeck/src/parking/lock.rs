//! The lock of a bucket. Threads hold it for some tens of nanoseconds, and all of them need it to
//! make progress.
//!
//! Three states as in Drepper's "Futexes Are Tricky": 0 free, 1 held, 2 held and a thread may
//! sleep. It allocates nothing.
//!
//! A thread polls first for the time of a wake. Hundreds of threads that begin to wait for one lock
//! at the same moment each park within some hundred nanoseconds this way. If they slept here, each
//! would be woken by the one before it, and all others would wait for that wake.

use super::Host;
use super::futex::sleep_while;
use crate::machine::{AtomicInt, Ordering};
use crate::spin::{Waits, poll};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// The longest pause between two attempts, in transfers of a cache line.
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
    let waits = Waits::now::<P>();
    // The pauses grow, so that many threads do not keep the line from the holder.
    let waits = Waits { long: LONGEST_PAUSE * waits.short, ..waits };
    let attempt = || word.load(Ordering::Relaxed) == FREE && try_acquire::<P>(word);
    if waits.polling != 0 && poll::<P>(&waits, waits.short, attempt) {
        return;
    }
    while word.swap(CONTENDED, Ordering::Acquire) != FREE {
        sleep_while::<P>(word, CONTENDED, None);
    }
}

#[inline]
pub(super) fn release<P: Host>(word: &P::AtomicU32) {
    // spec: Mutex!Unguard
    // A bucket is never freed, so its lock may be used after the store that unlocks it.
    if word.swap(FREE, Ordering::Release) == CONTENDED {
        // Two, so that a chain of wakes, each of which takes some microseconds, grows until it
        // delivers as many threads as the lock can serve. Of the two woken threads, the second
        // acquires the lock after the first, or sleeps again.
        P::futex_wake(word, 2);
    }
}
