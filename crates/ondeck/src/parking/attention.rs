//! How much a release of a lock has to look around: one byte for each bucket of the table.
//!
//! ```text
//!            a release that finds nobody,               somebody parks: store, heavy fence
//!            in a bucket that never had a sleeper ┌──────────────────────────────────┐
//!     ┌────────────────────────────────────────► SKIP                                ▼
//!  FENCED ◄──────── somebody parks soon after ──────────────────────────────────── LIGHT
//!     │             another: store, heavy fence   ▲                                │ ▲
//!     │                                           └── 20,000 releases find nobody ─┘ │
//!     └───────────────────────── 1,000 releases in a row, nobody parks ──────────────┘
//!
//!  FENCED, LIGHT ── an overdue sleeper was not handed the lock: store, heavy fence if it was LIGHT ──► HAND_OVER
//!  HAND_OVER ── an owner has handed it over, or found nobody to hand it to ──► FENCED
//! ```
//!
//! | byte | a release, after it has cleared the lock | who parks, before the last look |
//! |---|---|---|
//! | `FENCED` | full fence, then looks at the bucket | full fence |
//! | `LIGHT` | looks at the bucket | heavy fence, or sets `FENCED` and then a heavy fence |
//! | `SKIP` | nothing | sets `LIGHT`, heavy fence |
//! | `HAND_OVER` | as `FENCED`; but first, instead of clearing the lock, it hands it over | full fence |
//!
//! Zero is `FENCED`, the one that is right when nothing is known: in a table that was never used,
//! that a fork has wiped, or on a machine without asymmetric fences, where it is never left.
//!
//! Written under the bucket's lock. A step to the right of the drawing needs no fence: whoever
//! still reads the older byte does more than needed. A step back is followed by a heavy fence: a
//! release that read the older byte had its clearing store made visible by it, so that whoever
//! parks from then on sees the lock free. `HAND_OVER` stands where `FENCED` does.

use super::bucket::{Bucket, Guard};
use crate::platform::{AtomicInt, Host, Ordering};

/// A release fences, then looks at the bucket.
pub(crate) const FENCED: u8 = 0;
/// A release is done: nobody sleeps in this bucket.
pub(crate) const SKIP: u8 = 1;
/// A release looks at the bucket without a fence of its own.
pub(crate) const LIGHT: u8 = 2;
/// An owner looks whether it is its lock that somebody has waited too long for, and hands it over.
/// The bucket's `demand` says for which lock; both are set and cleared together.
pub(crate) const HAND_OVER: u8 = 3;

/// Releases in a row without anybody parking before the fence moves to those who park. A release
/// saves 6 to 10 ns by it; a heavy fence costs 2 to 12 µs and takes up to 5 from every running
/// sibling. It pays back after some 300 to 2,000.
const RELEASES_BEFORE_LIGHT: u32 = 1_000;

/// Releases in a row that find nobody parked before they stop looking. After 64 a prototype spent
/// four fifths of its time in heavy fences; after 20,000 none that could be measured.
const RELEASES_BEFORE_SKIP: u32 = 20_000;

/// Makes what the caller has just written to a bucket known to releases of the lock at `address`,
/// before it looks at that lock for the last time.
pub(crate) fn announce<P: Host>(guard: &Guard<'_, P>, address: usize) {
    let byte = P::attention(address);
    let releases = guard.take_releases();
    // spec: Mutex!Announce
    // spec: Mutex!Fence
    // spec: Mutex!Heavy
    // spec: Mutex!HeavyWait
    match byte.load(Ordering::Relaxed) {
        FENCED | HAND_OVER => P::fence(Ordering::SeqCst),
        SKIP => {
            byte.store(LIGHT, Ordering::Relaxed);
            P::heavy_fence();
        }
        // Nobody has parked for a while, so that the heavy fence pays.
        _ if releases >= P::spins(RELEASES_BEFORE_LIGHT) && P::may_relax() => P::heavy_fence(),
        _ => {
            byte.store(FENCED, Ordering::Relaxed);
            P::heavy_fence();
        }
    }
}

/// Lets releases of the lock at `address` do less from now on, if they may: `releases` of them have
/// looked at the bucket since somebody parked.
pub(crate) fn relax<P: Host>(bucket: &Bucket<P>, address: usize, releases: u32) {
    let byte = P::attention(address);
    // The first time is free of the limit: it happens once for each bucket.
    let fresh = bucket.never_parked() && P::fences_are_asymmetric();
    let enough = match byte.load(Ordering::Relaxed) {
        FENCED => RELEASES_BEFORE_LIGHT,
        LIGHT => RELEASES_BEFORE_SKIP,
        _ => return,
    };
    if releases < P::spins(enough) && !fresh {
        return;
    }
    // spec: Mutex!RelaxLock
    // Whoever has the bucket's lock parks, or does the same as this.
    let Some(guard) = bucket.try_lock() else { return };
    // spec: Mutex!Relax
    if byte.load(Ordering::Relaxed) == HAND_OVER {
        // The next release will see to it.
    } else if !fresh && !P::may_relax() {
        guard.take_releases();
    } else if !bucket.has_parked() && (fresh || releases >= P::spins(RELEASES_BEFORE_SKIP)) {
        byte.store(SKIP, Ordering::Relaxed);
    } else if byte.load(Ordering::Relaxed) == FENCED {
        // Release: a release that skips its fence because of this sees who has parked before.
        byte.store(LIGHT, Ordering::Release);
    }
}

/// Asks for the lock at `address` to be handed over, by the next owner that looks before it releases
/// it: somebody has waited for too long, and others were faster when it was to have the lock.
pub(crate) fn demand<P: Host>(guard: &Guard<'_, P>, address: usize) {
    let byte = P::attention(address);
    let before = byte.load(Ordering::Relaxed);
    // spec: Mutex!Demand
    guard.set_demand(address);
    byte.store(HAND_OVER, Ordering::Relaxed);
    // Not `SKIP`, which is only stored while nobody sleeps in the bucket: the caller knows who does.
    if before == LIGHT {
        // A step back: see the module.
        P::heavy_fence();
    }
}

/// What was asked for is done, or nobody sleeps for it any more.
pub(crate) fn meet_demand<P: Host>(guard: &Guard<'_, P>, address: usize) {
    let byte = P::attention(address);
    // The caller has read `HAND_OVER` without the bucket's lock: it may have been met since.
    if byte.load(Ordering::Relaxed) == HAND_OVER {
        guard.set_demand(0);
        byte.store(FENCED, Ordering::Relaxed);
    }
}
