//! Warnings of long holds and long waits.

use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use core::time::Duration;

use super::table::Lock;
use super::{Event, NANOS_PER_SECOND, Site, now};

/// At most one warning of a kind is given in this time.
const INTERVAL: u64 = NANOS_PER_SECOND / 10;

/// The program's wish to be warned.
pub(super) struct Wish {
    /// Nanoseconds; `u64::MAX` for none.
    limit: AtomicU64,
    /// A `fn(&Event)`.
    handler: AtomicPtr<()>,
    /// When the next warning may be given.
    next: AtomicU64,
    /// Warnings that were not given, since the last one.
    suppressed: AtomicU64,
}

pub(super) static HOLDS: Wish = Wish::none();
pub(super) static WAITS: Wish = Wish::none();

impl Wish {
    const fn none() -> Self {
        Self {
            limit: AtomicU64::new(u64::MAX),
            handler: AtomicPtr::new(ptr::null_mut()),
            next: AtomicU64::new(0),
            suppressed: AtomicU64::new(0),
        }
    }

    pub(super) fn set(&self, limit: Duration, handler: fn(&Event)) {
        self.handler.store(handler as *mut (), Ordering::Relaxed);
        let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // Release: publishes the handler.
        self.limit.store(nanos, Ordering::Release);
    }

    #[inline]
    pub(super) fn is_long(&self, nanos: u64) -> bool {
        // Acquire: see `set`.
        nanos >= self.limit.load(Ordering::Acquire)
    }

    /// Returns the warning of a hold or a wait, if it is long.
    pub(super) fn long(
        &'static self,
        lock: Lock,
        nanos: u64,
        (site, other): (Option<Site>, Option<Site>),
    ) -> Option<Long> {
        self.is_long(nanos).then_some(Long { wish: self, lock, nanos, site, other })
    }
}

/// A hold or a wait that was long.
#[derive(Clone, Copy)]
pub(super) struct Long {
    wish: &'static Wish,
    lock: Lock,
    nanos: u64,
    site: Option<Site>,
    other: Option<Site>,
}

/// Counts a warning that is not given.
pub(super) fn suppress(long: &Long) {
    long.wish.suppressed.fetch_add(1, Ordering::Relaxed);
}

impl Long {
    /// Calls the program's function, unless it was called just now.
    pub(super) fn tell(&self) {
        let (wish, now) = (self.wish, now());
        let next = wish.next.load(Ordering::Relaxed);
        let takes = || {
            let after = now.saturating_add(INTERVAL);
            wish.next.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        if now < next || !takes() {
            return suppress(self);
        }
        let handler = wish.handler.load(Ordering::Relaxed);
        // SAFETY: `set` has stored it before the limit that this was longer than.
        let handler = unsafe { mem::transmute::<*mut (), fn(&Event)>(handler) };
        handler(&Event {
            name: self.lock.name(),
            kind: self.lock.kind,
            address: self.lock.address,
            duration: Duration::from_nanos(self.nanos),
            site: self.site.and_then(Site::if_known),
            other: self.other,
            suppressed: wish.suppressed.swap(0, Ordering::Relaxed),
        });
    }
}
