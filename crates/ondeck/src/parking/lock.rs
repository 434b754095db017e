//! The lock of a bucket: held for some tens of nanoseconds, by threads that all want the same lock
//! to make progress.
//!
//! Three states as in Drepper's "Futexes Are Tricky": 0 free, 1 held, 2 held and a thread may
//! sleep. It spins a little first, because its sections are short, and it allocates nothing.

use crate::platform::{AtomicInt, Host, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// How long it spins before it sleeps, in nanoseconds: some sections.
const SPIN_NANOS: u32 = 1_000;

/// How often it looks in that time at most: a clock may be as slow as the whole spin.
const LOOKS: u32 = 200;

#[inline]
pub(super) fn try_acquire<P: Host>(word: &P::AtomicU32) -> bool {
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
    if P::cpus() > 1 {
        let start = P::ticks() as usize;
        for _ in 0..P::spins(LOOKS) {
            if (P::ticks() as usize).wrapping_sub(start) > P::ticks_in(SPIN_NANOS) {
                break;
            }
            P::pause();
            if word.load(Ordering::Relaxed) == FREE && try_acquire::<P>(word) {
                return;
            }
        }
    }
    while word.swap(CONTENDED, Ordering::Acquire) != FREE {
        // Every outcome means the same: try again.
        let _ = P::futex_wait(word, CONTENDED, None);
    }
}

#[inline]
pub(super) fn release<P: Host>(word: &P::AtomicU32) {
    // spec: Mutex!Unguard
    // A bucket is never freed, so its lock may be named after the store that unlocks it.
    if word.swap(FREE, Ordering::Release) == CONTENDED {
        P::futex_wake(word, 1);
    }
}
