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
//! ```
//!
//! | byte | a release, after it has cleared the lock | who parks, before the last look |
//! |---|---|---|
//! | `FENCED` | full fence, then looks at the bucket | full fence |
//! | `LIGHT` | looks at the bucket | heavy fence, or sets `FENCED` and then a heavy fence |
//! | `SKIP` | nothing | sets `LIGHT`, heavy fence |
//!
//! Zero is `FENCED`, the one that is right when nothing is known: in a table that was never used,
//! that a fork has wiped, or on a machine without asymmetric fences, where it is never left.
//!
//! Written under the bucket's lock. A step to the right of the drawing needs no fence: whoever
//! still reads the older byte does more than needed. A step back is followed by a heavy fence: a
//! release that read the older byte had its clearing store made visible by it, so that whoever
//! parks from then on sees the lock free.

use super::bucket::{Bucket, Guard};
use crate::platform::{AtomicInt, Ordering, Platform};

/// A release fences, then looks at the bucket.
pub(crate) const FENCED: u8 = 0;
/// A release is done: nobody sleeps in this bucket.
pub(crate) const SKIP: u8 = 1;
/// A release looks at the bucket without a fence of its own.
pub(crate) const LIGHT: u8 = 2;

/// Releases in a row without anybody parking before the fence moves to those who park. A release
/// saves 6 to 10 ns by it; a heavy fence costs 2 to 12 µs and takes up to 5 from every running
/// sibling. It pays back after some 300 to 2,000.
const RELEASES_BEFORE_LIGHT: u32 = 1_000;

/// Releases in a row that find nobody parked before they stop looking. After 64 a prototype spent
/// four fifths of its time in heavy fences; after 20,000 none that could be measured.
const RELEASES_BEFORE_SKIP: u32 = 20_000;

/// Makes what the caller has just written to a bucket known to releases of the lock at `address`,
/// before it looks at that lock for the last time.
pub(crate) fn announce<P: Platform>(guard: &Guard<'_, P>, address: usize) {
    let byte = P::attention(address);
    let releases = guard.take_releases();
    match byte.load(Ordering::Relaxed) {
        FENCED => P::fence(Ordering::SeqCst),
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
pub(crate) fn relax<P: Platform>(bucket: &Bucket<P>, address: usize, releases: u32) {
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
    // Whoever has the bucket's lock parks, or does the same as this.
    let Some(guard) = bucket.try_lock() else { return };
    if !fresh && !P::may_relax() {
        guard.take_releases();
    } else if !bucket.has_parked() && (fresh || releases >= P::spins(RELEASES_BEFORE_SKIP)) {
        byte.store(SKIP, Ordering::Relaxed);
    } else if byte.load(Ordering::Relaxed) == FENCED {
        // Release: a release that skips its fence because of this sees who has parked before.
        byte.store(LIGHT, Ordering::Release);
    }
}
