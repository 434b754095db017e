//! A token for one thread: that thread waits for it, and other threads give it.
//!
//! ```text
//! the word       0 EMPTY · 1 GIVEN · 2^32 - 1 PARKED
//!
//! park           GIVEN ──► EMPTY: returns     one subtraction does both
//!                EMPTY ──► PARKED: sleeps on the word, until GIVEN ──► EMPTY
//! unpark         any ──► GIVEN, and if it was PARKED, a wake by the word's address
//! gives up       any ──► EMPTY: it was in time if it was GIVEN
//! ```
//!
//! Only one thread parks, so there is no queue and no table: the word is the futex. The exchange is the last access of an
//! unpark; the wake names an address and reads nothing. So the parking thread may free the word as soon as it has the token.
//! A late wake then finds no thread, or one that sleeps on another word at this address: all sleeps of this crate check
//! their word again.
//!
//! # Memory ordering
//!
//! Each `unpark` is `Release`, even if the token is already there, and the `park` that takes the token is `Acquire`. So a
//! park that returns with the token happens after all unparks before it.
//!
//! # Sources
//!
//! The standard library's futex parker (`sys/sync/thread_parking/futex.rs`), which has these states, and crossbeam's
//! `Parker` and `Unparker`.

extern crate std;

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use crate::mutex::deadline;
use crate::parking::sleep_while;
use crate::platform::{AtomicInt, Native, Ordering, Platform, Timestamp};

const EMPTY: u32 = 0;
const GIVEN: u32 = 1;
const PARKED: u32 = u32::MAX;

/// The token alone, four bytes; see the [module](self) for its protocol.
///
/// Programs use it as [`Parker`].
#[repr(transparent)]
pub struct RawParker<P: Platform> {
    word: P::AtomicU32,
}

impl<P: Platform> RawParker<P> {
    /// Creates a parker without a token.
    pub fn new() -> Self {
        Self { word: AtomicInt::new(EMPTY) }
    }

    /// Waits for the token and takes it, until the deadline at the latest. Returns whether it has taken the token.
    ///
    /// # Safety
    ///
    /// No other thread parks here at the same time.
    pub unsafe fn park(&self, deadline: Option<Timestamp>) -> bool {
        // step: park
        if self.word.fetch_sub(1, Ordering::Acquire) == GIVEN {
            return true;
        }
        // step: sleep
        sleep_while::<P>(&self.word, PARKED, deadline);
        self.word.swap(EMPTY, Ordering::Acquire) == GIVEN
    }

    /// Gives the token, and wakes the thread that waits for it. Two tokens are one.
    pub fn unpark(&self) {
        let word = &raw const self.word;
        // step: unpark
        if self.word.swap(GIVEN, Ordering::Release) == PARKED {
            P::futex_wake(word, 1);
        }
    }
}

impl<P: Platform> Default for RawParker<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform> fmt::Debug for RawParker<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word.load(Ordering::Relaxed);
        f.debug_struct("RawParker")
            .field("given", &(word == GIVEN))
            .field("parked", &(word == PARKED))
            .finish()
    }
}

/// A place for one thread to wait at, until an [`Unparker`] gives it a token.
///
/// A token that is given before the wait is not lost, and two of them count as one. A wait never ends spuriously. The parker
/// can be sent to another thread, but not shared.
///
/// # Panics
///
/// Never.
///
/// # Memory ordering
///
/// Everything that a thread did before it gave the token happens before the return of the wait that takes it.
///
/// # Cost
///
/// A parker costs one allocation. A park that finds the token and an unpark of a thread that does not sleep cost one atomic
/// read-modify-write each; otherwise they also make a system call each.
///
/// ```
/// use ondeck::Parker;
///
/// let parker = Parker::new();
/// let unparker = parker.unparker().clone();
/// let other = std::thread::spawn(move || unparker.unpark());
/// parker.park();
/// other.join().unwrap();
/// ```
#[derive(Debug)]
pub struct Parker {
    unparker: Unparker,
    /// Not `Sync`: one thread parks.
    alone: PhantomData<Cell<()>>,
}

/// A handle that gives the token to the thread at its [`Parker`]. Any number of threads may have one.
#[derive(Clone, Debug)]
pub struct Unparker(Arc<RawParker<Native>>);

impl Parker {
    /// Creates a parker without a token.
    pub fn new() -> Self {
        Self { unparker: Unparker(Arc::new(RawParker::new())), alone: PhantomData }
    }

    /// Returns the handle by which other threads, or this one, give the token.
    pub fn unparker(&self) -> &Unparker {
        &self.unparker
    }

    /// Waits for the token and takes it.
    pub fn park(&self) {
        self.park_by(None);
    }

    /// As [`park`](Self::park), for at most `timeout`. Returns whether it has taken the token.
    pub fn park_for(&self, timeout: Duration) -> bool {
        self.park_by(Some(Native::now().after(timeout)))
    }

    /// As [`park`](Self::park), until `instant` at the latest. Returns whether it has taken the token.
    pub fn park_until(&self, instant: Instant) -> bool {
        self.park_by(Some(deadline(instant)))
    }

    fn park_by(&self, deadline: Option<Timestamp>) -> bool {
        // SAFETY: a parker is not shared between threads, and this function borrows it.
        unsafe { self.unparker.0.park(deadline) }
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unparker {
    /// Gives the token: the waiting thread continues, or the next wait returns at once.
    pub fn unpark(&self) {
        self.0.unpark();
    }
}
