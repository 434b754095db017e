//! A counting semaphore.
//!
//! ```text
//! the word       bit 0      WAITED    threads are in the line: set and cleared under the bucket's lock
//!                bit 1      FAIR      of a fair semaphore, always
//!                bits 2-30  permits   that are free, 2^29 - 1 at most
//!                bit 31     RESERVED  with WAITED: the free permits are kept for the oldest thread. As a sign, so that one
//!                                     comparison finds the permits that an arriving thread may acquire
//!
//! acquire n      permits >= n, not RESERVED ──► permits - n       a compare-exchange
//!                also RESERVED, if woken before and the oldest     under the bucket's lock
//!                else ──► + WAITED; FAIR: + RESERVED              in the line with n, under the bucket's lock
//! release n      not WAITED ──► permits + n                       a compare-exchange
//!                WAITED ──► as below                              a compare-exchange under the bucket's lock
//! gives up       as a release of 0                                under the bucket's lock
//! ```
//!
//! A release that finds threads in the line takes the oldest of them, as many as its permits
//! suffice for:
//!
//! * To compete for their permits, which stay free. An arriving thread may acquire them first. The
//!   next release wakes no thread for these permits again: the line knows how many free ones no
//!   thread was woken for, the *spare* ones.
//! * With their permits, if the semaphore is fair or the oldest has waited for a millisecond. If
//!   there are not enough permits for the oldest, `RESERVED` keeps the free ones for it.
//!
//! # Order
//!
//! A woken thread takes microseconds to run. If the permits were kept for it, one permit that
//! several threads want over and over would change hands only as often as a CPU changes threads. So
//! an arriving thread, or one that has just released, may acquire before waiting threads. Once the
//! oldest thread in the line has waited for a millisecond, it is granted its permits, whatever
//! their number; after such a grant there is none for a millisecond. A thread that was woken to
//! compete is not in the line at that time and may miss such a turn, which then goes to the next
//! oldest.
//!
//! In the line a thread stays after an older one, even if that one wants more permits than there
//! are.
//!
//! # No wake is lost
//!
//! The oldest thread in the line wants more permits than are spare. The others that are free are
//! for the threads woken before: each of them takes its permits, or comes back to the line, where
//! they are spare again, or gives up there and serves the others. If other threads have taken
//! permits, these count as those of woken threads: that wakes a thread too many, and none too few.
//! A woken thread that does not run leaves its permits to those that arrive, or are overdue, or
//! find them free at the end of a slice of their sleep. A thread that takes some then wakes others
//! for what is left, as if all of it were spare. If a thread that comes back is the oldest again
//! when it comes back, it may take what was kept for a younger one: no other thread would serve it.
//! If it is not, it first serves those before it.
//!
//! # Nothing is touched after a thread may continue
//!
//! A thread that acquires a permit may free the semaphore when no other thread uses it. A release
//! changes the word once, in its last access, and a thread that was granted its permits is notified
//! after that.
//!
//! # Memory ordering
//!
//! A release is `Release`, an acquisition `Acquire`, and so is the exchange by which a thread sets
//! `WAITED`. All changes of the word are read-modify-writes, which continue a release sequence. So
//! an acquisition happens after all releases whose permits it could have received. A granted thread
//! has not read the word since: releases after it set `WAITED` were made under the bucket's lock,
//! and the one that grants the permits notifies it by `Release`.
//!
//! A load before an exchange is `Relaxed`, because the exchange checks its value, and so is an
//! exchange that fails.
//!
//! # Sources
//!
//! Edsger Dijkstra, "Cooperating Sequential Processes". Two orders: java.util.concurrent's
//! `Semaphore`. Permits that are handed to the oldest waiter: tokio's batch semaphore. glibc's
//! allows barging (`sem_post`, whose use after the last wait once touched freed memory, bug 12674:
//! the reason for the rule above).

extern crate std;

use core::fmt;
use core::sync::atomic::AtomicU32;
use core::time::Duration;
use std::time::Instant;

use crate::mutex::deadline;
use crate::parking::{Line, Waited};
use crate::platform::{AtomicInt, Host, Native, Ordering, Platform, Timestamp};
use crate::spin::{Waits, poll};

const WAITED: u32 = 1;
const FAIR: u32 = 2;
const RESERVED: u32 = 1 << 31;
const MARKS: u32 = WAITED | RESERVED | FAIR;
/// One permit.
const ONE: u32 = 4;

/// What the header for C and C++ inlines: the bit that sends a release to the line, and one permit.
#[doc(hidden)]
pub const INLINED: [u32; 2] = [WAITED, ONE];

/// How long a thread waits before it is granted its permits, and the least time between two such
/// grants.
const OVERDUE_NANOS: u32 = 1_000_000;

/// The maximum number of permits of a semaphore.
pub const MOST_PERMITS: u32 = (RESERVED - 1) / ONE;

/// A number of permits, which threads acquire and release: four bytes.
///
/// Any thread may release, even one that has acquired nothing. A thread may acquire before waiting
/// threads, but none is passed over for long; [`fair`](Self::fair) creates a semaphore that serves
/// threads in order. It can be a `static`. See the [module](self) for its protocol.
///
/// # Panics
///
/// If a number of permits is more than [`MOST_PERMITS`], or a release makes it so.
///
/// # Memory ordering
///
/// Everything that a thread did before a release happens before an acquisition that would have been
/// impossible without it, and before all later acquisitions.
///
/// # Cost
///
/// An acquisition that need not wait costs one atomic read-modify-write, and so does a release if
/// no thread waits. A thread polls for the time of a wake before it sleeps. A release with sleeping
/// threads wakes as many as it has permits for, each by a system call.
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
    /// Creates a semaphore with `permits` free permits.
    ///
    /// # Panics
    ///
    /// If `permits` is more than [`MOST_PERMITS`].
    pub const fn new(permits: u32) -> Self {
        assert!(permits <= MOST_PERMITS, "a semaphore has 2^29 - 1 permits at most");
        Self { word: AtomicU32::new(permits * ONE) }
    }

    /// Creates a semaphore with `permits` free permits, which grants them in the order in which
    /// threads began to wait, whatever their number of permits. While a thread waits for many
    /// permits, [`try_acquire`](Self::try_acquire) fails.
    ///
    /// The order has a price: each permit that a thread waits for rests until that thread runs.
    /// While threads always wait, a pair takes as long as the wake of a thread, microseconds
    /// instead of nanoseconds. `docs/data/costs.md` has figures.
    ///
    /// # Panics
    ///
    /// If `permits` is more than [`MOST_PERMITS`].
    pub const fn fair(permits: u32) -> Self {
        let Self { word } = Self::new(permits);
        Self { word: AtomicU32::new(word.into_inner() | FAIR) }
    }

    /// As [`acquire`](Self::acquire), for at most `timeout`. Returns whether it has the permit.
    pub fn try_acquire_for(&self, timeout: Duration) -> bool {
        self.try_acquire_many_for(1, timeout)
    }

    /// As [`acquire`](Self::acquire), until `instant` at the latest. Returns whether it has the
    /// permit.
    pub fn try_acquire_until(&self, instant: Instant) -> bool {
        self.try_acquire_many_until(1, instant)
    }

    /// As [`acquire_many`](Self::acquire_many), for at most `timeout`. Returns whether it has the
    /// permits.
    pub fn try_acquire_many_for(&self, permits: u32, timeout: Duration) -> bool {
        self.try_acquire_many(permits)
            || self.try_acquire_many_by(permits, Native::now().after(timeout))
    }

    /// As [`acquire_many`](Self::acquire_many), until `instant` at the latest. Returns whether it
    /// has the permits.
    pub fn try_acquire_many_until(&self, permits: u32, instant: Instant) -> bool {
        self.try_acquire_many(permits) || self.try_acquire_many_by(permits, deadline(instant))
    }
}

impl<P: Host> Semaphore<P> {
    /// As [`new`](Semaphore::new), on any platform.
    ///
    /// # Panics
    ///
    /// If `permits` is more than [`MOST_PERMITS`].
    pub fn on_platform(permits: u32) -> Self {
        Self { word: AtomicInt::new(in_word(permits)) }
    }

    /// As [`fair`](Semaphore::fair), on any platform.
    ///
    /// # Panics
    ///
    /// If `permits` is more than [`MOST_PERMITS`].
    pub fn fair_on_platform(permits: u32) -> Self {
        Self { word: AtomicInt::new(in_word(permits) | FAIR) }
    }

    fn key(&self) -> usize {
        (&raw const self.word).addr()
    }

    /// Waits until the calling thread has a permit.
    #[inline]
    pub fn acquire(&self) {
        self.acquire_many(1);
    }

    /// Acquires `permits` permits in one step, after waiting until they are free.
    ///
    /// A request for more permits than there ever are waits for ever, and so do all later requests.
    #[inline]
    pub fn acquire_many(&self, permits: u32) {
        if !self.try_acquire_many(permits) {
            self.acquire_slow(permits, None);
        }
    }

    /// Acquires a permit if one is free, and not kept for a waiting thread. Returns whether it did.
    #[inline]
    pub fn try_acquire(&self) -> bool {
        self.try_acquire_many(1)
    }

    /// Acquires `permits` permits if they are free and not kept for a waiting thread. Returns
    /// whether it did.
    #[inline]
    pub fn try_acquire_many(&self, permits: u32) -> bool {
        let wanted = in_word(permits);
        let mut word = self.word.load(Ordering::Relaxed);
        // step: try acquire
        while has(word, wanted) {
            let left = word - wanted;
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, left, acquire, relaxed) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
        false
    }

    /// As [`acquire`](Self::acquire), until the deadline at the latest. Returns whether it has the
    /// permit.
    pub fn try_acquire_by(&self, deadline: Timestamp) -> bool {
        self.try_acquire_many_by(1, deadline)
    }

    /// As [`acquire_many`](Self::acquire_many), until the deadline at the latest. Returns whether
    /// it has the permits.
    pub fn try_acquire_many_by(&self, permits: u32, deadline: Timestamp) -> bool {
        self.try_acquire_many(permits) || self.acquire_slow(permits, Some(deadline))
    }

    #[cold]
    fn acquire_slow(&self, permits: u32, deadline: Option<Timestamp>) -> bool {
        let wanted = in_word(permits);
        let mut since = None;
        let is_fair = self.word.load(Ordering::Relaxed) & FAIR != 0;
        loop {
            let waits = Waits::now::<P>();
            if !is_fair && poll::<P>(&waits, waits.short, || self.try_acquire_many(permits)) {
                return true;
            }
            let mut line = Line::<P>::lock(self.key());
            // Under the lock, so that an arriving thread is the newest.
            let comes_back = since.is_some();
            let since = *since.get_or_insert_with(|| P::ticks() as usize);
            let is_older = comes_back && line.is_older(since);
            if comes_back {
                line.set_spare(line.spare().saturating_add(wanted as usize));
            }
            if comes_back && !is_older {
                // The caller's permits may suffice for a thread before it, which no release has
                // seen: one that came in the same tick, or by a clock that is behind.
                self.serve(&mut line, 0).expect("no more permits than there are");
            }
            // In the child of a fork, the line may be empty although the word shows waiting
            // threads.
            let stale = if line.oldest().is_none() { WAITED | RESERVED } else { 0 };
            // What is kept is kept for the oldest thread. That is the caller, if `RESERVED` was set
            // after it had been woken.
            let own = if is_older { RESERVED } else { 0 };
            // step: wait
            loop {
                let word = self.word.load(Ordering::Relaxed);
                let known = word & !stale;
                let takes = has(known & !own, wanted);
                let waits = if is_fair { WAITED | RESERVED } else { WAITED };
                let next = if takes { known - wanted } else { known | waits };
                let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
                if word == next && !takes
                    || self.word.compare_exchange(word, next, acquire, relaxed).is_ok()
                {
                    if takes && comes_back {
                        line.set_spare(line.spare().saturating_sub(wanted as usize));
                    }
                    if takes {
                        return true;
                    }
                    break;
                }
            }
            if !is_fair {
                // It has already polled.
                line.sleep_at_once();
            }
            let gives_up = |line: &mut Line<P>| {
                // Later threads may want fewer permits, also of those that are left when the caller
                // has taken some.
                self.serve(line, 0).expect("no more permits than there are");
            };
            // A thread that was woken for the permits may be stopped.
            let takes: &dyn Fn() -> bool = &|| self.try_acquire_many(permits);
            let takes = (!is_fair).then_some(takes);
            match line.wait_since(since, comes_back, wanted as usize, deadline, takes, gives_up) {
                Waited::Taken => return true,
                Waited::TimedOut => return false,
                Waited::Woken => (),
            }
        }
    }

    /// Gives back `permits` permits, for the threads that have waited longest or for those that
    /// arrive.
    ///
    /// # Panics
    ///
    /// If there would then be more than [`MOST_PERMITS`] free ones. Then none is given back.
    #[inline]
    pub fn release(&self, permits: u32) {
        if let Err(word) = self.try_release(permits) {
            too_many(word, permits);
        }
    }

    /// As [`release`](Self::release), but returns the word as an error if there would be too many
    /// free permits.
    #[doc(hidden)]
    #[inline]
    pub fn try_release(&self, permits: u32) -> Result<(), u32> {
        let more = in_word(permits);
        let mut word = self.word.load(Ordering::Relaxed);
        // step: release
        while word & WAITED == 0 {
            let sum = sum(word, more).ok_or(word)?;
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, sum, release, relaxed) {
                Ok(_) => return Ok(()),
                Err(found) => word = found,
            }
        }
        self.release_slow(more)
    }

    /// Returns after the bucket's lock is given up: a caller that panics runs the program's hook,
    /// which may need the bucket.
    #[cold]
    fn release_slow(&self, more: u32) -> Result<(), u32> {
        let mut line = Line::<P>::lock(self.key());
        self.serve(&mut line, more)
    }

    /// Adds permits, and takes from the line the threads that continue, to compete or with their
    /// permits. Returns `Err` with the word if there would be too many permits.
    fn serve(&self, line: &mut Line<P>, more: u32) -> Result<(), u32> {
        let (now, overdue) = (P::ticks() as usize, P::ticks_in(OVERDUE_NANOS));
        let is_overdue = line.is_overdue(now, overdue);
        // step: serve
        let (count, grants, spare) = loop {
            let word = self.word.load(Ordering::Relaxed);
            let before = word & !MARKS;
            let free = sum(before, more).ok_or(word)?;
            let is_fair = word & FAIR != 0;
            let grants = is_fair || is_overdue;
            let spare = (before as usize).min(line.spare()) as u32 + more;
            let spare = match line.oldest() {
                _ if is_fair => free,
                // It also has the permits of woken threads.
                Some(oldest) if is_overdue && oldest <= free as usize => spare.max(oldest as u32),
                _ => spare,
            };
            let (mut left, mut count, mut others) = (spare, 0, 0);
            for wanted in line.tokens() {
                let wanted = wanted as u32;
                if wanted > left {
                    others = WAITED;
                    break;
                }
                (left, count) = (left - wanted, count + 1);
            }
            if others != 0 && grants && (is_fair || count == 0) {
                others |= RESERVED;
            }
            let granted = if grants { spare - left } else { 0 };
            let next = (free - granted) | others | word & FAIR;
            // Release: for threads that find permits there. The last access: the taken threads are
            // notified when the line is dropped.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if self.word.compare_exchange(word, next, release, relaxed).is_ok() {
                break (count, grants, left);
            }
        };
        if !grants {
            line.let_compete();
        }
        for _ in 0..count {
            line.take();
        }
        line.set_spare(spare as usize);
        if grants && count != 0 {
            line.rest_until(now.wrapping_add(overdue));
        }
        Ok(())
    }

    /// Returns how many permits are free at this moment. Some may be kept for a thread that waits
    /// for more.
    pub fn available(&self) -> u32 {
        free(self.word.load(Ordering::Relaxed))
    }
}

/// Returns a number of permits, shifted to its place in the word.
#[inline(always)]
fn in_word(permits: u32) -> u32 {
    assert!(permits <= MOST_PERMITS, "{permits} permits are more than a semaphore can have");
    permits * ONE
}

/// Returns the number of free permits.
fn free(word: u32) -> u32 {
    (word & !MARKS) / ONE
}

/// Returns whether an arriving thread may acquire the permits. A word with `RESERVED` is negative.
#[inline(always)]
fn has(word: u32, wanted: u32) -> bool {
    word.cast_signed() >= wanted.cast_signed()
}

/// Returns the word, which has no `RESERVED`, with `more` permits, or `None` if there would be too
/// many.
#[inline(always)]
fn sum(word: u32, more: u32) -> Option<u32> {
    let sum = word + more;
    (sum & RESERVED == 0).then_some(sum)
}

#[cold]
fn too_many(word: u32, more: u32) -> ! {
    let free = free(word);
    panic!("a release of {more} permits beside {free} free ones: {MOST_PERMITS} at most");
}

impl<P: Host> fmt::Debug for Semaphore<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}
