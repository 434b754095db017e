//! The once that programs use.

extern crate std;

use core::ffi::CStr;
use core::fmt;
use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Instant;

use super::{DONE, End, OnceState, POISONED, Poison, RawOnce};
use crate::mutex::deadline;
use crate::observe::{self, Observed, Place};
use crate::platform::{AtomicInt, Host, Native, Platform, Timestamp};

/// An initialization that the first thread to arrive runs once: one byte.
///
/// It can be a `static`. See the [module](super) for its protocol.
///
/// # Panics
///
/// [`call_once`](Self::call_once) and [`wait`](Self::wait) panic if the closure that ran last
/// panicked. In builds with debug assertions, a closure that calls its own `Once` panics; otherwise
/// it waits for ever.
///
/// # Memory ordering
///
/// The closure's work happens before each return of `call_once`, and before any other method
/// reports completion.
///
/// # Cost
///
/// Once it is done, a call is one load. The first call makes two atomic read-modify-writes, at its
/// beginning and its end.
///
/// ```
/// use ondeck::Once;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static BEGUN: Once = Once::new();
/// static TIMES: AtomicU32 = AtomicU32::new(0);
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             BEGUN.call_once(|| {
///                 TIMES.fetch_add(1, Ordering::Relaxed);
///             });
///             assert_eq!(TIMES.load(Ordering::Relaxed), 1);
///         });
///     }
/// });
/// assert!(BEGUN.is_completed());
/// ```
pub struct Once<P: Host = Native>(RawOnce<P>);

// The next thread to arrive learns that a closure panicked.
impl<P: Host> UnwindSafe for Once<P> {}
impl<P: Host> RefUnwindSafe for Once<P> {}

impl Once {
    /// Creates a once that has run no closure.
    pub const fn new() -> Self {
        Self(RawOnce { state: AtomicU8::new(0), place: Place::new() })
    }

    /// As [`new`](Self::new), with a [name](crate::name).
    pub const fn named(name: &'static CStr) -> Self {
        Self(RawOnce { state: AtomicU8::new(0), place: Place::named(name) })
    }

    /// Creates a once that is already done: no closure runs.
    pub const fn new_completed() -> Self {
        Self(RawOnce { state: AtomicU8::new(DONE), place: Place::new() })
    }

    /// As [`wait`](Self::wait), for at most `timeout`. Returns whether it is done.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.wait_by(Native::now().after(timeout))
    }

    /// As [`wait`](Self::wait), until `instant` at the latest. Returns whether it is done.
    pub fn wait_until(&self, instant: Instant) -> bool {
        self.wait_by(deadline(instant))
    }
}

impl<P: Host> Once<P> {
    pub(crate) fn raw(&self) -> &impl Observed {
        &self.0
    }

    /// As [`new`](Once::new), on any platform.
    pub fn on_platform() -> Self {
        Self(RawOnce { state: AtomicInt::new(0), place: Place::new() })
    }

    /// Runs `closure` if it is the first one; waits while another thread runs another closure. When
    /// it returns, a closure has run to its end.
    ///
    /// # Panics
    ///
    /// If `closure` panics, or if the closure that ran last panicked: the once is then poisoned.
    #[inline]
    pub fn call_once<F: FnOnce()>(&self, closure: F) {
        if !self.0.is_done() {
            let mut closure = Some(closure);
            self.0.call(Poison::Panics, &mut |_| closure.take().expect("it runs once")());
        }
    }

    /// As [`call_once`](Self::call_once), but also runs `closure` after one that panicked. The
    /// closure receives the state of the once.
    ///
    /// # Panics
    ///
    /// If `closure` panics.
    #[inline]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, closure: F) {
        if !self.0.is_done() {
            let mut closure = Some(closure);
            self.0.call(Poison::IsIgnored, &mut |state| {
                closure.take().expect("it runs once")(state);
            });
        }
    }

    /// Returns whether the caller is to run what a closure would, and then to call
    /// [`end`](Self::end): the two halves of [`call_once_force`](Self::call_once_force), for other
    /// languages.
    #[doc(hidden)]
    pub fn begin(&self) -> bool {
        let begun = if self.0.is_done() { None } else { self.0.begin(Poison::IsIgnored) };
        begun.map(|(end, _)| core::mem::forget(end)).is_some()
    }

    /// Ends what [`begin`](Self::begin) has begun. If `done` is false, the next caller begins anew.
    ///
    /// # Safety
    ///
    /// A `begin` has returned true, and has not been ended.
    #[doc(hidden)]
    pub unsafe fn end(&self, done: bool) {
        drop(End { once: &self.0, becomes: if done { DONE } else { POISONED } });
    }

    /// Returns whether it is done. If so, the closure's work happened before.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.0.is_done()
    }

    /// Returns how far it has come.
    pub fn state(&self) -> OnceState {
        self.0.state()
    }

    /// Waits until another thread has done it.
    ///
    /// # Panics
    ///
    /// If the closure that ran last panicked.
    pub fn wait(&self) {
        if !self.0.is_done() {
            self.0.wait(Poison::Panics, None);
        }
    }

    /// As [`wait`](Self::wait), but continues to wait after a closure that panicked.
    pub fn wait_force(&self) {
        if !self.0.is_done() {
            self.0.wait(Poison::IsIgnored, None);
        }
    }

    /// As [`wait`](Self::wait), until the deadline at the latest. Returns whether it is done.
    pub fn wait_by(&self, deadline: Timestamp) -> bool {
        self.0.is_done() || self.0.wait(Poison::Panics, Some(deadline))
    }
}

impl<P: Host> fmt::Debug for Once<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut once = f.debug_struct("Once");
        observe::show_name(&self.0, &mut once);
        once.field("state", &self.state()).finish()
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}
