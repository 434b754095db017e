//! Which locks threads wait for, for how long, and where: numbers that a program asks itself for,
//! with the feature `stats`.
//!
//! Statistics are off until [`enable`], [`on_long_hold`] or [`on_long_wait`] is called. From then
//! on each lock that a thread has to wait for has an entry in a table of 1,024, and [`snapshot`]
//! returns them. [`write_prometheus`] writes them in the text format of Prometheus.
//!
//! [`Mutex`](crate::Mutex), [`FairMutex`](crate::FairMutex), [`PiMutex`](crate::PiMutex),
//! [`ReentrantMutex`](crate::ReentrantMutex), [`RwLock`](crate::RwLock), [`Once`](crate::Once) and
//! the locks of [`poison`](crate::poison) take part, not the methods of raw locks. A lock is known
//! by its address, kind and [name](crate::name): unnamed locks that were at one address one after
//! the other are one.
//!
//! `docs/stats.md` has the cost, and examples for Rust, C and C++.
//!
#![cfg_attr(feature = "stats", doc = "```")]
// Nothing is counted, and the example would wait for ever.
#![cfg_attr(not(feature = "stats"), doc = "```no_run")]
//! use ondeck::{Mutex, mutex::RawMutex, stats};
//!
//! static ACCOUNTS: Mutex<u64> = Mutex::from_raw(RawMutex::named(c"accounts"), 0);
//!
//! stats::enable();
//! let accounts = ACCOUNTS.lock();
//! let waiter = std::thread::spawn(|| drop(ACCOUNTS.lock()));
//! while stats::snapshot().iter().all(|lock| lock.waiting == 0) {
//!     std::thread::yield_now();
//! }
//! drop(accounts);
//! waiter.join().unwrap();
//!
//! let lock = &stats::snapshot()[0];
//! assert_eq!((lock.name, lock.waits, lock.waiting), (c"accounts", 1, 0));
//! println!("{lock}");
//! ```

extern crate std;

use core::ffi::CStr;
use core::fmt;
use core::num::NonZeroUsize;
use core::panic::Location;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::vec::Vec;

pub use crate::observe::Kind as LockKind;
use crate::platform::{Native, Platform};

/// For `ondeck-capi`, whose locks have no room for a name and call the hooks themselves.
#[cfg(feature = "internals")]
pub mod hooks;
#[cfg(not(feature = "internals"))]
pub(crate) mod hooks;
#[cfg(feature = "stats")]
pub(super) mod observer;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod warn;

#[cfg(feature = "internals")]
pub use table::Lock;
#[cfg(not(feature = "internals"))]
pub(crate) use table::Lock;
pub use text::write_prometheus;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Changes when statistics are switched on.
static EPOCH: AtomicU32 = AtomicU32::new(0);

/// The nanoseconds in 2^32 ticks; 0 before the first call of [`scale`].
static SCALE: AtomicU64 = AtomicU64::new(0);

/// Counts from now on, in all threads. What was counted before stays.
pub fn enable() {
    // Not in a thread that unlocks.
    scale();
    if !IS_ON.load(Relaxed) {
        // Relaxed: a thread that sees the flag first ignores what it unlocks now.
        EPOCH.fetch_add(1, Relaxed);
        // The same for the table.
        table::each(|_, entry| entry.holder.store(0, Relaxed));
        IS_ON.store(true, Relaxed);
    }
}

/// Stops counting, and warning. The numbers stay.
pub fn disable() {
    IS_ON.store(false, Relaxed);
}

/// Returns whether locks are counted. One relaxed load.
#[inline(always)]
pub fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// Nanoseconds since a fixed moment.
fn now() -> u64 {
    #[cfg(test)]
    if let Some(now) = tests::NOW.get() {
        return now;
    }
    // A thread may see that statistics are on, and not yet the scale.
    let scale = match SCALE.load(Relaxed) {
        0 => scale(),
        scale => scale,
    };
    ((u128::from(Native::ticks()) * u128::from(scale)) >> 32) as u64
}

#[cold]
fn scale() -> u64 {
    let scale = (u128::from(NANOS_PER_SECOND) << 32) / u128::from(Native::ticks_per_second());
    SCALE.store(scale as u64, Relaxed);
    scale as u64
}

/// Where a program called a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Site(NonZeroUsize);

impl Site {
    /// A line of a source file.
    #[cfg(any(test, feature = "stats"))]
    pub(crate) fn source(location: &'static Location<'static>) -> Option<Self> {
        NonZeroUsize::new(ptr::from_ref(location).expose_provenance()).map(Self)
    }

    /// An instruction; 0 if it is not known. Half of all addresses are enough for the programs of a
    /// system.
    #[cfg(feature = "internals")]
    pub fn code(address: usize) -> Option<Self> {
        NonZeroUsize::new(address << 1 | 1).filter(|_| address != 0).map(Self)
    }

    /// Returns the line, for a lock of Rust.
    pub fn location(self) -> Option<&'static Location<'static>> {
        let location = ptr::with_exposed_provenance::<Location<'static>>(self.0.get());
        // SAFETY: an even number is the address of a static location: see `source`.
        (self.0.get() & 1 == 0).then(|| unsafe { &*location })
    }

    /// Returns the address of the instruction, for a lock of C.
    pub fn address(self) -> Option<usize> {
        (self.0.get() & 1 != 0).then_some(self.0.get() >> 1)
    }

    /// Returns the place, unless it is within the package of the guards: that passes no caller on
    /// for a reentrant mutex.
    fn if_known(self) -> Option<Self> {
        let is_known = self.location().is_none_or(|it| !it.file().contains("/lock_api-0."));
        is_known.then_some(self)
    }

    fn to_word(site: Option<Self>) -> usize {
        site.map_or(0, |site| site.0.get())
    }

    fn of_word(word: usize) -> Option<Self> {
        NonZeroUsize::new(word).and_then(|word| Self(word).if_known())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location() {
            Some(location) => location.fmt(f),
            None => show_code(self.0.get() >> 1, f),
        }
    }
}

/// Shows an instruction: the file that it is from and where in it, for addr2line, or else the
/// address.
fn show_code(address: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    #[cfg(all(unix, not(miri)))]
    {
        // SAFETY: all of its fields may be zero.
        let mut found: libc::Dl_info = unsafe { core::mem::zeroed() };
        // SAFETY: it reads no memory at the address, and writes what it finds.
        let is_known =
            unsafe { libc::dladdr(ptr::without_provenance(address), &raw mut found) } != 0;
        if is_known && !found.dli_fname.is_null() {
            // SAFETY: the loader's name of the file.
            let file = unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy();
            let offset = address.wrapping_sub(found.dli_fbase.addr());
            return write!(f, "{}+{offset:#x}", file.rsplit('/').next().unwrap_or_default());
        }
    }
    write!(f, "{address:#x}")
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A thread that holds a lock alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its [identifier](crate::reentrant::RawThreadId).
    pub thread: usize,
    /// How long it has held the lock.
    pub time: Duration,
    /// Where it has locked it.
    pub site: Option<Site>,
}

/// The numbers of a lock since counting began. They are read one after the other, while threads
/// change them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LockStats {
    /// Its [name](crate::name); empty if it has none.
    pub name: &'static CStr,
    /// Its kind.
    pub kind: LockKind,
    /// Its address.
    pub address: usize,
    /// Where a thread had to wait first.
    pub site: Option<Site>,
    /// Acquisitions that had to wait.
    pub waits: u64,
    /// Waits that ended at a deadline without the lock.
    pub gave_up: u64,
    /// The sum of all [waits](Self::waits).
    pub waited: Duration,
    /// The longest.
    pub longest_wait: Duration,
    /// The longest hold, by one of several readers as well. Of the holds before the first wait only
    /// the last one counts.
    pub longest_hold: Duration,
    /// Where that one began.
    pub longest_hold_site: Option<Site>,
    /// Threads that wait now, and in the child of a fork those that waited in its parent.
    pub waiting: u32,
    /// The thread that holds it now, unless that is not known: a reader, or a thread that has held
    /// it since before the first wait.
    pub holder: Option<Holder>,
    times: Vec<u64>,
}

impl LockStats {
    /// Returns the time within which this part of the [waits](Self::waits), of 1.0, has ended. It
    /// is never less than the right value, and at most an eighth more; in place of 69 seconds or
    /// longer, it is the longest wait.
    pub fn quantile(&self, part: f64) -> Duration {
        let all: u64 = self.times.iter().sum();
        let wanted = ((all as f64 * part).ceil() as u64).max(1);
        let mut sum = 0;
        let bucket = self.times.iter().position(|count| {
            sum += count;
            sum >= wanted
        });
        match bucket {
            Some(bucket) if bucket < table::BUCKETS - 1 => {
                Duration::from_nanos(table::end_of(bucket) - 1).min(self.longest_wait)
            }
            _ => self.longest_wait,
        }
    }

    /// Returns the median of the waits; see [`quantile`](Self::quantile).
    pub fn p50(&self) -> Duration {
        self.quantile(0.5)
    }

    /// Returns the wait that one in a hundred exceeds; see [`quantile`](Self::quantile).
    pub fn p99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// Returns the number of waits that were shorter than 2 to the power of `power` nanoseconds,
    /// for 3 to 35.
    pub fn shorter_than(&self, power: u32) -> u64 {
        self.times.iter().take(table::bucket_of(1 << power.clamp(3, 35))).sum()
    }
}

/// Returns the numbers of all locks that threads have waited for, the lock with the longest sum of
/// waits first.
pub fn snapshot() -> Vec<LockStats> {
    let mut locks = Vec::new();
    table::each(|lock, entry| {
        let (longest_hold, longest_hold_site) = entry.longest_hold();
        let thread = entry.holder.load(Relaxed);
        let time = now().saturating_sub(entry.held_since.load(Relaxed));
        let holder = Holder {
            thread,
            time: Duration::from_nanos(time),
            site: Site::of_word(entry.held_at.load(Relaxed)),
        };
        locks.push(LockStats {
            name: lock.name(),
            kind: lock.kind,
            address: lock.address,
            site: Site::of_word(entry.site.load(Relaxed)),
            waits: entry.waits.load(Relaxed),
            gave_up: entry.gave_up.load(Relaxed),
            waited: Duration::from_nanos(entry.waited.load(Relaxed)),
            longest_wait: Duration::from_nanos(entry.longest_wait.load(Relaxed)),
            longest_hold: Duration::from_nanos(longest_hold),
            longest_hold_site,
            waiting: entry.waiting.load(Relaxed),
            holder: (thread != 0 && is_on()).then_some(holder),
            times: entry.times.iter().map(|count| count.load(Relaxed)).collect(),
        });
    });
    locks.sort_by_key(|lock| core::cmp::Reverse(lock.waited));
    locks
}

/// Returns the number of waits for locks that found no room in the table.
pub fn dropped() -> u64 {
    table::DROPPED.load(Relaxed)
}

/// A hold or a wait that was as long as a program wants to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The lock's [name](crate::name); empty if it has none.
    pub name: &'static CStr,
    /// The lock's kind.
    pub kind: LockKind,
    /// The address at which the lock was.
    pub address: usize,
    /// How long the thread held it, or waited for it.
    pub duration: Duration,
    /// Where that thread called the lock.
    pub site: Option<Site>,
    /// After a hold, where a thread called that waits for it; after a wait, where the thread called
    /// that held the lock when the wait began. `None` if no thread waits, or it is not known.
    pub other: Option<Site>,
    /// The warnings of this kind that were not given since the last one.
    pub suppressed: u64,
}

/// Enables statistics, and has `handler` called after a thread has held a lock for `limit` or
/// longer, contended or not.
///
/// The thread calls it when it has unlocked the lock and holds no other, so it may lock and
/// allocate, but not the locks that the thread holds since before statistics were on. A panic of it
/// is reported by the panic hook, and ends with it. There is one handler: a later call replaces it,
/// and [`Duration::MAX`] ends the warnings, and enables nothing. It is not called
///
/// * more than once in 100 ms, for all locks together; [`Event::suppressed`] has the number of the
///   others;
/// * for what `handler` itself does, and for signal handlers that interrupt the statistics;
/// * while the thread holds another lock that takes part. A thread that has forgotten a guard is
///   never warned again; a thread has one warning due at a time;
/// * for the hold with which a program ends.
///
#[cfg_attr(feature = "stats", doc = "```")]
#[cfg_attr(not(feature = "stats"), doc = "```no_run")]
/// use ondeck::{Mutex, stats};
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::Duration;
///
/// static WARNINGS: AtomicU32 = AtomicU32::new(0);
///
/// stats::on_long_hold(Duration::from_millis(2), |event| {
///     eprintln!("{} {:?} was held for {:?}, from {:?} on", event.kind, event.name, event.duration, event.site);
///     WARNINGS.fetch_add(1, Ordering::Relaxed);
/// });
/// let log = Mutex::new(String::new());
/// let guard = log.lock();
/// std::thread::sleep(Duration::from_millis(3));
/// drop(guard);
/// assert_eq!(WARNINGS.load(Ordering::Relaxed), 1);
/// ```
pub fn on_long_hold(limit: Duration, handler: fn(&Event)) {
    wish(&warn::HOLDS, limit, handler);
}

/// As [`on_long_hold`], for waits of `limit` or longer that ended with the lock: the thread calls
/// `handler` when it has unlocked that lock.
pub fn on_long_wait(limit: Duration, handler: fn(&Event)) {
    wish(&warn::WAITS, limit, handler);
}

fn wish(of: &warn::Wish, limit: Duration, handler: fn(&Event)) {
    of.set(limit, handler);
    if limit != Duration::MAX {
        enable();
    }
}
