//! How much a release of a lock has to look around: one byte for each bucket of the table.
//!
//! ```text
//!            a release that finds nobody,               somebody parks: store, heavy fence
//!            in a bucket that never had a sleeper ┌──────────────────────────────────┐
//!     ┌────────────────────────────────────────► SKIP                                ▼
//!  FENCED ◄──────── somebody parks soon after ──────────────────────────────────── LIGHT
//!     │             another: store, heavy fence   ▲                                │ ▲
//!     │                                           └── 20,000 releases find nobody ─┘ │
//!     └───────────────────────── 2,000 releases in a row, nobody parks ──────────────┘
//! ```
//!
//! | byte | a release, after it has cleared the lock | who parks, before the last look |
//! |---|---|---|
//! | `FENCED` | full fence, then looks at the bucket | full fence |
//! | `LIGHT` | looks at the bucket | heavy fence |
//! | `SKIP` | nothing | sets `LIGHT`, heavy fence |
//!
//! Zero is `FENCED`, the one that is right when nothing is known: in a table that was never used,
//! that a fork has wiped, or on a machine without asymmetric fences, where it is never left.
//!
//! Written under the bucket's lock. A step to the right of the drawing needs no fence: whoever
//! still reads the older byte does more than needed. A step back is followed by a heavy fence: a
//! release that read the older byte had its clearing store made visible by it, so that whoever
//! parks from then on sees the lock free.

/// A release fences, then looks at the bucket.
pub(crate) const FENCED: u8 = 0;
/// A release is done: nobody sleeps in this bucket.
pub(crate) const SKIP: u8 = 1;
/// A release looks at the bucket without a fence of its own.
pub(crate) const LIGHT: u8 = 2;

/// Releases in a row without anybody parking before the fence moves to those who park. A release
/// saves 6 to 10 ns by it, a heavy fence costs 2 to 12 µs and steals up to 5 from every running
/// sibling: it pays back after some 300 to 2,000.
pub(crate) const RELEASES_BEFORE_LIGHT: u32 = 1_000;

/// Releases in a row that find nobody parked before they stop looking. After 64 a prototype spent
/// four fifths of its time in heavy fences; after 20,000 none that could be measured.
pub(crate) const RELEASES_BEFORE_SKIP: u32 = 20_000;
