//! An event: one thread sets it, other threads wait for it, until it is reset.
//!
//! ```text
//! the byte       bit 0  SET      waits return at once
//!                bit 1  WAITED   a thread may wait: set and cleared under the bucket's lock; never with SET
//!
//! set            0, SET ──► SET            a compare-exchange
//!                WAITED ──► SET            under the bucket's lock; all waiting threads are woken
//! reset          SET ──► 0                 a compare-exchange
//! wait           SET                       a load
//!                0 ──► WAITED, waits       under the bucket's lock
//! ```
//!
//! A wait that was woken returns, even if the event is reset before the thread runs.
//!
//! # Nothing is touched after a wait may return
//!
//! A waiting thread may free the event: the store of the byte is the last access of `set`, and is made under the bucket's
//! lock if a thread may wait.
//!
//! # Memory ordering
//!
//! `set` is a read-modify-write with `Release`, or a store under the bucket's lock, even if the event is already set; a wait
//! reads with `Acquire`. So a wait that returns happens after the set that it returns for. `reset` is `Acquire`: it happens
//! after all sets that it clears. So a thread may reset the event, then check its condition, then wait: if another thread
//! made the condition true before its set, either the check sees that or the wait returns. Changes of `WAITED` alone are
//! `Relaxed`: the event is not set then, so no wait returns by them.
//!
//! # Sources
//!
//! The manual-reset event of Windows and .NET; `absl::Notification` for one that is never reset.

extern crate std;

use core::fmt;
use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::time::Instant;

use crate::mutex::deadline;
use crate::parking::Line;
use crate::platform::{AtomicInt, Host, Native, Ordering, Platform, Timestamp};

const SET: u8 = 1;
const WAITED: u8 = 2;

/// Something that happens once or repeatedly, and that threads wait for: one byte.
///
/// When it is set, all waiting threads continue, and so do later ones until it is reset. It can be a `static`. See the
/// [module](self) for its protocol.
///
/// # Panics
///
/// Never.
///
/// # Memory ordering
///
/// A set happens before the waits that return for it. Sets happen before the reset that clears them.
///
/// # Cost
///
/// A wait for an event that is set is a load. A set and a reset are one atomic read-modify-write each; a set wakes all
/// sleeping threads by one system call.
///
/// ```
/// use ondeck::Event;
///
/// static READY: Event = Event::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| READY.wait());
///     scope.spawn(|| READY.wait());
///     READY.set();
/// });
/// assert!(READY.is_set());
/// assert!(READY.reset());
/// ```
#[repr(transparent)]
pub struct Event<P: Host = Native> {
    state: P::AtomicU8,
}

impl Event {
    /// Creates an event that is not set.
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(0) }
    }

    /// As [`wait`](Self::wait), for at most `timeout`. Returns whether the event was set.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.wait_by(Native::now().after(timeout))
    }

    /// As [`wait`](Self::wait), until `instant` at the latest. Returns whether the event was set.
    pub fn wait_until(&self, instant: Instant) -> bool {
        self.wait_by(deadline(instant))
    }
}

impl<P: Host> Event<P> {
    /// As [`new`](Event::new), on any platform.
    pub fn on_platform() -> Self {
        Self { state: AtomicInt::new(0) }
    }

    fn key(&self) -> usize {
        (&raw const self.state).addr()
    }

    /// Returns whether it is set. If so, the set happened before.
    #[inline]
    pub fn is_set(&self) -> bool {
        // step: is set
        self.state.load(Ordering::Acquire) & SET != 0
    }

    /// Sets the event: all waiting threads continue.
    #[inline]
    pub fn set(&self) {
        if !self.set_unwaited() {
            self.set_waited();
        }
    }

    /// Sets the event unless a thread may wait.
    #[inline]
    fn set_unwaited(&self) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        // step: set
        while state & WAITED == 0 {
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            // Even if it is set: a later reset also happens after this set.
            match self.state.compare_exchange_weak(state, SET, release, relaxed) {
                Ok(_) => return true,
                Err(found) => state = found,
            }
        }
        false
    }

    #[cold]
    fn set_waited(&self) {
        let mut line = Line::<P>::lock(self.key());
        // step: set for waiters
        // The waiting threads may have gone in between.
        if !self.set_unwaited() {
            // The last access to this memory: a thread that `take_all` notifies may free it.
            self.state.store(SET, Ordering::Release);
            line.take_all();
        }
    }

    /// Clears the event. Returns whether it was set. No wait that has been woken waits again.
    #[inline]
    pub fn reset(&self) -> bool {
        // step: reset
        self.state.compare_exchange(SET, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Waits until the event is set.
    #[inline]
    pub fn wait(&self) {
        if !self.is_set() {
            self.wait_slow(None);
        }
    }

    /// As [`wait`](Self::wait), until the deadline at the latest. Returns whether the event was set.
    pub fn wait_by(&self, deadline: Timestamp) -> bool {
        self.is_set() || self.wait_slow(Some(deadline))
    }

    #[cold]
    fn wait_slow(&self, deadline: Option<Timestamp>) -> bool {
        let line = Line::<P>::lock(self.key());
        // step: wait
        let (relaxed, acquire) = (Ordering::Relaxed, Ordering::Acquire);
        if self.state.compare_exchange(0, WAITED, relaxed, acquire) == Err(SET) {
            return true;
        }
        line.wait_together(deadline, |line| {
            if line.oldest().is_none() {
                // It is not set, and a set would need the bucket's lock.
                self.state.store(0, Ordering::Relaxed);
            }
        })
    }
}

impl<P: Host> fmt::Debug for Event<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("set", &self.is_set()).finish()
    }
}

impl Default for Event {
    fn default() -> Self {
        Self::new()
    }
}
