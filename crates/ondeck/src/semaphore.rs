//! A counting semaphore whose permits are granted in the order of waiting.
//!
//! ```text
//! the word       bit 0      WAITED   a thread may wait: set and cleared under the bucket's lock
//!                bits 1-31  permits  that are free, 2^31 - 1 at most
//!
//! acquire n      permits >= n, not WAITED ──► permits - n         a compare-exchange
//!                else ──► WAITED, in the line with n              under the bucket's lock
//! release n      not WAITED ──► permits + n                       a compare-exchange
//!                WAITED ──► permits + n, less what the oldest want, as long as there is enough;
//!                           without WAITED if none is left        under the bucket's lock
//! ```
//!
//! While `WAITED` is set, the word changes only under the lock of the bucket. So the word and the line
//! change in one step.
//!
//! # Order
//!
//! Threads are granted their permits in the order in which they began to wait, whatever they want: while
//! one waits for many permits, those that come later wait behind it even if there are enough for them, and
//! [`try_acquire`](Semaphore::try_acquire) fails. So a large request never starves. A thread that gives
//! up lets those behind it have what there is.
//!
//! # Nothing is touched after a thread may go on
//!
//! A thread that was granted its permits may free the semaphore: the release has stored the word before
//! it tells the thread, and does not touch the semaphore after that.
//!
//! # Memory ordering
//!
//! A release is `Release`, an acquisition `Acquire`, and so is the exchange by which a thread sets
//! `WAITED`. All changes of the word up to there are read-modify-writes, which continue a release
//! sequence; later ones are made under the bucket's lock, which orders them after that exchange. So an
//! acquisition happens after all releases whose permits it could have got. A granted thread reads
//! that from its node, which it is told by `Release`.
//!
//! # Sources
//!
//! Edsger Dijkstra, "Cooperating Sequential Processes". Permits that are handed to the oldest waiter: tokio's
//! batch semaphore; glibc's barges (`sem_post`, whose use after the last wait once touched freed memory, bug
//! 12674: the reason for the rule above).

extern crate std;

use core::fmt;
use core::sync::atomic::AtomicU32;
use core::time::Duration;
use std::time::Instant;

use crate::mutex::deadline;
use crate::parking::Line;
use crate::platform::{AtomicInt, Host, Native, Ordering, Platform, Timestamp};

const WAITED: u32 = 1;
/// One permit.
const ONE: u32 = 2;

/// The most permits that a semaphore can have.
pub const MOST_PERMITS: u32 = u32::MAX / ONE;

/// A number of permits, which threads acquire and release: four bytes.
///
/// Any thread may release, also one that has acquired nothing. Waiting threads are granted their permits
/// in the order in which they came. It can be a `static`. See the [module](self) for its protocol.
///
/// # Panics
///
/// If a number of permits is more than [`MOST_PERMITS`], or becomes that by a release.
///
/// # Memory ordering
///
/// What a thread did before a release happens before an acquisition that could not have been made without
/// it, and before all later ones.
///
/// # Cost
///
/// One atomic read-modify-write for an acquisition that need not wait, and one for a release for which
/// no thread waits. A release wakes each thread that it grants permits to by a system call.
///
/// ```
/// use ondeck::Semaphore;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static PLACES: Semaphore = Semaphore::new(2);
/// static INSIDE: AtomicU32 = AtomicU32::new(0);
///
/// std::thread::scope(|scope| {
///     for _ in 0..5 {
///         scope.spawn(|| {
///             PLACES.acquire();
///             assert!(INSIDE.fetch_add(1, Ordering::Relaxed) < 2);
///             INSIDE.fetch_sub(1, Ordering::Relaxed);
///             PLACES.release(1);
///         });
///     }
/// });
/// assert_eq!(PLACES.available(), 2);
/// ```
#[repr(transparent)]
pub struct Semaphore<P: Host = Native> {
    word: P::AtomicU32,
}

impl Semaphore {
    /// A semaphore with so many free permits.
    ///
    /// # Panics
    ///
    /// If there are more than [`MOST_PERMITS`].
    pub const fn new(permits: u32) -> Self {
        assert!(permits <= MOST_PERMITS, "a semaphore has 2^31 - 1 permits at most");
        Self { word: AtomicU32::new(permits * ONE) }
    }

    /// As [`acquire`](Self::acquire), for a time at most; says whether it has the permit.
    pub fn try_acquire_for(&self, timeout: Duration) -> bool {
        self.try_acquire_many_for(1, timeout)
    }

    /// As [`acquire`](Self::acquire), until `instant` at most; says whether it has the permit.
    pub fn try_acquire_until(&self, instant: Instant) -> bool {
        self.try_acquire_many_until(1, instant)
    }

    /// As [`acquire_many`](Self::acquire_many), for a time at most; says whether it has the permits.
    pub fn try_acquire_many_for(&self, permits: u32, timeout: Duration) -> bool {
        self.try_acquire_many(permits)
            || self.try_acquire_many_by(permits, Native::now().after(timeout))
    }

    /// As [`acquire_many`](Self::acquire_many), until `instant` at most; says whether it has the
    /// permits.
    pub fn try_acquire_many_until(&self, permits: u32, instant: Instant) -> bool {
        self.try_acquire_many(permits) || self.try_acquire_many_by(permits, deadline(instant))
    }
}

impl<P: Host> Semaphore<P> {
    /// As [`new`](Semaphore::new), on any platform.
    ///
    /// # Panics
    ///
    /// If there are more than [`MOST_PERMITS`].
    pub fn on_platform(permits: u32) -> Self {
        Self { word: AtomicInt::new(in_word(permits)) }
    }

    fn key(&self) -> usize {
        (&raw const self.word).addr()
    }

    /// Waits until a permit is the calling thread's.
    #[inline]
    pub fn acquire(&self) {
        self.acquire_many(1);
    }

    /// Waits until so many permits at once are the calling thread's. With 0 it still waits behind those
    /// that wait.
    ///
    /// A request for more permits than there ever are waits for ever, and all later ones behind it.
    #[inline]
    pub fn acquire_many(&self, permits: u32) {
        if !self.try_acquire_many(permits) {
            self.acquire_slow(permits, None);
        }
    }

    /// Acquires a permit if one is free and no thread waits; says whether it did.
    #[inline]
    pub fn try_acquire(&self) -> bool {
        self.try_acquire_many(1)
    }

    /// Acquires so many permits if they are free and no thread waits; says whether it did.
    #[inline]
    pub fn try_acquire_many(&self, permits: u32) -> bool {
        let wanted = in_word(permits);
        let mut word = self.word.load(Ordering::Relaxed);
        // step: try acquire
        while word & WAITED == 0 && word >= wanted {
            let left = word - wanted;
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, left, acquire, relaxed) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
        false
    }

    /// As [`acquire`](Self::acquire), until the deadline at most; says whether it has the permit.
    pub fn try_acquire_by(&self, deadline: Timestamp) -> bool {
        self.try_acquire_many_by(1, deadline)
    }

    /// As [`acquire_many`](Self::acquire_many), until the deadline at most; says whether it has the
    /// permits.
    pub fn try_acquire_many_by(&self, permits: u32, deadline: Timestamp) -> bool {
        self.try_acquire_many(permits) || self.acquire_slow(permits, Some(deadline))
    }

    #[cold]
    fn acquire_slow(&self, permits: u32, deadline: Option<Timestamp>) -> bool {
        let wanted = in_word(permits);
        let line = Line::<P>::lock(self.key());
        // step: wait
        loop {
            let word = self.word.load(Ordering::Relaxed);
            // The line may be empty although the word says otherwise: in the child of a fork.
            let is_first = word & WAITED == 0 || line.oldest().is_none();
            let takes = is_first && word & !WAITED >= wanted;
            let next = if takes { (word & !WAITED) - wanted } else { word | WAITED };
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            if word == next && !takes
                || self.word.compare_exchange(word, next, acquire, relaxed).is_ok()
            {
                if takes {
                    return true;
                }
                break;
            }
        }
        line.wait(wanted as usize, deadline, |line| {
            // Those behind may want less.
            let free = self.word.load(Ordering::Relaxed) & !WAITED;
            self.grant(line, free);
        })
    }

    /// Gives back so many permits, and grants them to the threads that have waited longest.
    ///
    /// # Panics
    ///
    /// If there would then be more than [`MOST_PERMITS`] free ones: none is given back.
    #[inline]
    pub fn release(&self, permits: u32) {
        let more = in_word(permits);
        let mut word = self.word.load(Ordering::Relaxed);
        // step: release
        while word & WAITED == 0 {
            let sum = sum(word, more).unwrap_or_else(|| too_many(word, more));
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, sum, release, relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
        self.release_slow(more);
    }

    #[cold]
    fn release_slow(&self, more: u32) {
        let mut line = Line::<P>::lock(self.key());
        // step: release to waiters
        let mut word = self.word.load(Ordering::Relaxed);
        let sum = loop {
            let Some(sum) = sum(word & !WAITED, more) else {
                // A panic runs the program's hook, which may want the bucket.
                drop(line);
                too_many(word, more);
            };
            if word & WAITED != 0 {
                break sum;
            }
            // Those that waited have gone meanwhile.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            match self.word.compare_exchange(word, sum, release, relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        };
        self.grant(&mut line, sum);
    }

    /// Grants these permits, and leaves the others in the word, which says `WAITED` so far.
    fn grant(&self, line: &mut Line<P>, free: u32) {
        let mut free = free;
        // step: grant
        while let Some(wanted) = line.oldest().map(|wanted| wanted as u32)
            && wanted <= free
        {
            free -= wanted;
            line.take();
        }
        let waited = if line.oldest().is_some() { WAITED } else { 0 };
        // Release: for threads that find permits there. The last access: those that were taken are told
        // when the line is dropped.
        self.word.store(free | waited, Ordering::Release);
    }

    /// How many permits are free at this moment. Some may be kept for a thread that waits for more.
    pub fn available(&self) -> u32 {
        self.word.load(Ordering::Relaxed) / ONE
    }
}

/// So many permits as they are in the word.
#[inline(always)]
fn in_word(permits: u32) -> u32 {
    assert!(permits <= MOST_PERMITS, "{permits} permits are more than a semaphore can have");
    permits * ONE
}

/// The word with `more` permits; `None` if there would be too many.
#[inline(always)]
fn sum(word: u32, more: u32) -> Option<u32> {
    word.checked_add(more)
}

#[cold]
fn too_many(word: u32, more: u32) -> ! {
    let (free, more) = (word / ONE, more / ONE);
    panic!("a release of {more} permits beside {free} free ones: {MOST_PERMITS} at most");
}

impl<P: Host> fmt::Debug for Semaphore<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}
