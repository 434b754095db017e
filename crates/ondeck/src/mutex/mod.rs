//! The one-byte mutex: an uncontended lock and unlock are one atomic read-modify-write together.
//!
//! ```text
//! the mutex      0 free · 1 owned. Set by test-and-set, cleared by the owner's plain store.
//! the table      by the mutex's address: attention, who is awake, who sleeps (see `parking`)
//!
//! lock           test-and-set ── was 0 ──► owner
//!                     │ was 1
//!                     ▼
//! lock_slow      nobody awake for this lock ──► on deck: polls, for some microseconds
//!                somebody is, or polled enough ──► parked: sleeps on its node until it is woken
//!                                                  to be on deck, or handed the lock
//!
//! unlock         store 0; light fence; attention? ── SKIP ──► done
//!                     │ FENCED, LIGHT
//!                     ▼
//! look_around    somebody on deck, or nobody parked ──► done
//!                else, under the bucket's lock: the newest sleeper goes on deck and is woken;
//!                or the oldest, once it has waited for 1 ms, is handed the lock
//! ```
//!
//! | file | what |
//! |---|---|
//! | `raw.rs` | the byte: the fast paths |
//! | `wait.rs` | finding it taken: on deck, parked, timed out |
//! | `deck.rs` | polling on deck |
//! | `release.rs` | releasing with somebody waiting: whom to wake, when to hand over |
//! | `api.rs` | what programs use: [`Mutex`] and its guards |
//! | `misuse.rs` | what a debug build tells |
//!
//! # Why a release may skip, and no wake is lost
//!
//! Who goes to sleep first makes itself known, then looks at the byte once more; a release first
//! clears the byte, then looks whether somebody is known. It is Dekker's pattern, and needs a full
//! fence between the two steps on both sides, or an asymmetric pair. `parking::attention` says which
//! of the two holds; a release with nothing to do has the free half.
//!
//! What makes a waiter known are two words of the bucket: `parked` and `on_deck`.
//!
//! * A release that reads `on_deck` as its own address wakes nobody. That waiter polls; should it go
//!   to sleep after all, it first counts itself in `parked`, then clears `on_deck`, then has its
//!   fence, then looks at the byte. Either it sees the byte cleared, or the release saw the mark
//!   gone, and with it the count.
//! * A waiter on deck that becomes the owner clears the mark without a fence: what it skipped, its
//!   own release will look after.
//! * A waiter on deck that gives up clears the mark as if to sleep, and looks around itself, as a
//!   release does.
//!
//! # At most one awake
//!
//! A waiter is awake for as long as `on_deck` names its lock: from before it polls, or from before
//! it is woken, until it owns the lock or is about to sleep. The mark is set by a compare-exchange
//! from 0. With two locks in one bucket one of them finds the mark taken, and does without: it hands
//! the lock over to whom it would have woken.
//!
//! # Nobody starves
//!
//! Barging is allowed, and the newest sleeper is woken first, for its caches. Once the oldest has
//! waited for a millisecond, a release takes the byte back under the bucket's lock and gives it to
//! that one, at most every half a millisecond in a bucket. If somebody was faster, the table asks for
//! the lock (`HAND_OVER`): the next owner that looks, before it releases, hands it over instead. Who
//! has waited for that long and was woken in vain goes back to its place by age. So once a waiter is
//! overdue only those who have waited longer come first, and at each turn one that was faster.
//!
//! When a release finds out that somebody is overdue is left to a sample: one release in 128 of those
//! that find a waiter on deck, and each that finds none.
//!
//! # Nothing is touched after the release
//!
//! After the store that clears the byte a release uses the address as a key and nothing else. A
//! handover takes the byte again: under the bucket's lock, while a waiter of this mutex is linked
//! there, so the mutex is in use and cannot be gone.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` store that cleared the byte, or, when the
//! lock is handed over, with the `Release` store of the node's status.
//!
//! # Sources
//!
//! One awake waiter: Rhys Hiltner's and Michael Pratt's work on Go's runtime mutex ("runtime: lock2
//! scaling", golang/go issue 68578), and before it the designated waker of Abseil and nsync. The
//! queue outside of the lock: WebKit's `WTF::ParkingLot` by Filip Pizlo and Amanieu d'Antras'
//! parking_lot. The fences: Dave Dice, Hui Huang and Mingyao Yang, "Asymmetric Dekker
//! Synchronization". Few active threads and rare promotion: Dave Dice, "Malthusian Locks".

mod api;
mod deck;
mod misuse;
mod raw;
mod release;
mod wait;

#[cfg(feature = "arc_lock")]
pub use api::ArcMutexGuard;
pub(crate) use api::deadline;
pub use api::{MappedMutexGuard, Mutex, MutexGuard};
pub use raw::RawMutex;
pub(crate) use release::{choose, overdue, patience};
