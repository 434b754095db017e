//! The once as programs use it.

extern crate std;

use core::fmt;
use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Instant;

use super::{DONE, OnceState, Poison, RawOnce};
use crate::mutex::deadline;
use crate::platform::{AtomicInt, Host, Native, Platform, Timestamp};

/// Something that is done once, by the first thread that comes: one byte.
///
/// It can be a `static`. See the [module](super) for its protocol.
///
/// # Panics
///
/// [`call_once`](Self::call_once) and [`wait`](Self::wait) if the closure that ran last panicked. In
/// builds with debug assertions a closure that calls its own `Once`, which else waits for ever.
///
/// # Memory ordering
///
/// What the closure did happens before each return of `call_once`, and of whatever else says that it is
/// done.
///
/// # Cost
///
/// One load once it is done. The first call makes two atomic read-modify-writes, its beginning and its
/// end.
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

// A closure that panicked is told to the next thread that comes.
impl<P: Host> UnwindSafe for Once<P> {}
impl<P: Host> RefUnwindSafe for Once<P> {}

impl Once {
    /// A once that nothing was done for.
    pub const fn new() -> Self {
        Self(RawOnce { state: AtomicU8::new(0) })
    }

    /// A once for which everything is done already: no closure runs.
    pub const fn new_completed() -> Self {
        Self(RawOnce { state: AtomicU8::new(DONE) })
    }

    /// As [`wait`](Self::wait), for a time at most; says whether it is done.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.wait_by(Native::now().after(timeout))
    }

    /// As [`wait`](Self::wait), until `instant` at most; says whether it is done.
    pub fn wait_until(&self, instant: Instant) -> bool {
        self.wait_by(deadline(instant))
    }
}

impl<P: Host> Once<P> {
    /// As [`new`](Once::new), on any platform.
    pub fn on_platform() -> Self {
        Self(RawOnce { state: AtomicInt::new(0) })
    }

    /// Runs `closure` if it is the first one; waits while another thread runs its own. When it returns, a
    /// closure has run to its end.
    ///
    /// # Panics
    ///
    /// If `closure` does, and if the closure that ran last did: the once is then poisoned.
    #[inline]
    pub fn call_once<F: FnOnce()>(&self, closure: F) {
        if !self.0.is_done() {
            let mut closure = Some(closure);
            self.0.call(Poison::Panics, &mut |_| closure.take().expect("it runs once")());
        }
    }

    /// As [`call_once`](Self::call_once), but also runs `closure` after one that panicked. The closure is
    /// told which it is.
    ///
    /// # Panics
    ///
    /// If `closure` does.
    #[inline]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, closure: F) {
        if !self.0.is_done() {
            let mut closure = Some(closure);
            self.0.call(Poison::IsIgnored, &mut |state| {
                closure.take().expect("it runs once")(state);
            });
        }
    }

    /// Whether it is done. If so, what the closure did happened before.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.0.is_done()
    }

    /// How far it has come.
    pub fn state(&self) -> OnceState {
        self.0.state()
    }

    /// Waits until it is done, by another thread.
    ///
    /// # Panics
    ///
    /// If the closure that ran last panicked.
    pub fn wait(&self) {
        if !self.0.is_done() {
            self.0.wait(Poison::Panics, None);
        }
    }

    /// As [`wait`](Self::wait), but waits on after a closure that panicked.
    pub fn wait_force(&self) {
        if !self.0.is_done() {
            self.0.wait(Poison::IsIgnored, None);
        }
    }

    /// As [`wait`](Self::wait), until the deadline at most; says whether it is done.
    pub fn wait_by(&self, deadline: Timestamp) -> bool {
        self.0.is_done() || self.0.wait(Poison::Panics, Some(deadline))
    }
}

impl<P: Host> fmt::Debug for Once<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}
