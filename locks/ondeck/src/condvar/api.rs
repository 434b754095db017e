//! The condition variable that programs use.

extern crate std;

use core::fmt;
use core::ops::DerefMut;
use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::time::Instant;

use super::RawCondvar;
use super::guards::Waitable;
use crate::mutex::deadline;
use crate::platform::{Native, Platform, Timestamp};

/// A condition variable for [`Mutex`](crate::Mutex) and, at the cost of a wake for each notified
/// waiter that sleeps, for the locks whose guards are [`Waitable`]: one byte.
///
/// Its methods are those of parking_lot's. A wait never ends spuriously: either it is notified, or
/// its time is over, never both. Waiters may use different locks, also of different types, even at
/// the same time. It can be a `static`.
///
/// A notified waiter that still runs competes for its lock. One that sleeps is moved to the queue
/// of its [`Mutex`], and woken if it has another lock. If no thread waits, a notification is a
/// load. It makes no system call for a waiter that still runs, nor for waiters that sleep for a
/// `Mutex` if another thread is already responsible for those. Otherwise it makes one for all
/// waiters with one `Mutex`, and one for each sleeping waiter with another lock.
///
/// [`Mutex`]: crate::Mutex
///
/// # Panics
///
/// A wait with a [`ReentrantMutex`](crate::ReentrantMutex) that the calling thread has locked more
/// than once: its other guards would keep the mutex locked. No notification is lost by that, and
/// the thread has the guard still.
///
/// # Memory ordering
///
/// The condition variable orders nothing by itself; the lock does. A condition that a thread waits
/// for with a read guard has to be changed by a thread with a write guard: readers are not ordered
/// among each other, so a reader's notification may come before the wait.
///
/// ```
/// use ondeck::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *READY.lock() = true;
///         CHANGED.notify_one();
///     });
///     let mut ready = READY.lock();
///     CHANGED.wait_while(&mut ready, |ready| !*ready);
///     assert!(*ready);
/// });
/// ```
///
/// A guard that gives a `&T` waits in a loop:
///
/// ```
/// use ondeck::{Condvar, RwLock};
///
/// static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());
/// static ADDED: Condvar = Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let mut names = NAMES.read();
///         while names.is_empty() {
///             ADDED.wait(&mut names);
///         }
///         assert_eq!(*names, ["one"]);
///     });
///     NAMES.write().push("one");
///     ADDED.notify_all();
/// });
/// ```
pub struct Condvar {
    raw: RawCondvar<Native>,
}

/// Whether a wait timed out.
///
/// ```
/// use ondeck::{Condvar, Mutex};
/// use std::time::Duration;
///
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// let waited = changed.wait_while_for(&mut ready.lock(), |ready| !*ready, Duration::from_millis(1));
/// assert!(waited.timed_out());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait timed out. If not, it was notified.
    #[inline]
    pub const fn timed_out(self) -> bool {
        self.0
    }
}

impl RawCondvar<Native> {
    /// A condition variable without waiters.
    #[allow(clippy::declare_interior_mutable_const, reason = "what constructors begin with")]
    pub const NEW: Self = Self { waited: AtomicU8::new(0) };
}

impl Condvar {
    /// Creates a condition variable without waiters.
    #[inline]
    pub const fn new() -> Self {
        Self { raw: RawCondvar::NEW }
    }

    /// Notifies one waiter: the newest, or the oldest if that has waited for a millisecond. Returns
    /// whether there was one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        self.raw.notify_one() != 0
    }

    /// Notifies all waiters. Returns their number.
    #[inline]
    pub fn notify_all(&self) -> usize {
        self.raw.notify_all()
    }

    /// Unlocks the guard's lock, waits for a notification, and locks it again.
    ///
    /// # Panics
    ///
    /// As the [type](Self#panics).
    #[inline]
    #[track_caller]
    pub fn wait<G: Waitable>(&self, guard: &mut G) {
        self.wait_by(guard, None);
    }

    /// [Waits](Self::wait) while `condition` returns true for the data.
    #[inline]
    #[track_caller]
    pub fn wait_while<G: Waitable + DerefMut>(
        &self,
        guard: &mut G,
        condition: impl FnMut(&mut G::Target) -> bool,
    ) {
        self.wait_while_by(guard, condition, None);
    }

    /// As [`wait`](Self::wait), until `timeout` at most.
    ///
    /// # Panics
    ///
    /// As `wait`.
    #[inline]
    #[track_caller]
    pub fn wait_until<G: Waitable>(&self, guard: &mut G, timeout: Instant) -> WaitTimeoutResult {
        self.wait_by(guard, Some(deadline(timeout)))
    }

    /// As [`wait`](Self::wait), for `timeout` at most.
    ///
    /// # Panics
    ///
    /// As `wait`.
    #[inline]
    #[track_caller]
    pub fn wait_for<G: Waitable>(&self, guard: &mut G, timeout: Duration) -> WaitTimeoutResult {
        self.wait_by(guard, Some(Native::now().after(timeout)))
    }

    /// As [`wait_while`](Self::wait_while), until `timeout` at most. Returns whether it timed out
    /// with the condition true.
    #[inline]
    #[track_caller]
    pub fn wait_while_until<G: Waitable + DerefMut>(
        &self,
        guard: &mut G,
        condition: impl FnMut(&mut G::Target) -> bool,
        timeout: Instant,
    ) -> WaitTimeoutResult {
        self.wait_while_by(guard, condition, Some(deadline(timeout)))
    }

    /// As [`wait_while`](Self::wait_while), for `timeout` at most. Returns whether it timed out
    /// with the condition true.
    #[inline]
    #[track_caller]
    pub fn wait_while_for<G: Waitable + DerefMut>(
        &self,
        guard: &mut G,
        condition: impl FnMut(&mut G::Target) -> bool,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        self.wait_while_by(guard, condition, Some(Native::now().after(timeout)))
    }

    #[inline]
    #[track_caller]
    fn wait_by<G: Waitable>(
        &self,
        guard: &mut G,
        deadline: Option<Timestamp>,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult(!guard.wait_at(&self.raw, deadline))
    }

    #[inline]
    #[track_caller]
    fn wait_while_by<G: Waitable + DerefMut>(
        &self,
        guard: &mut G,
        mut condition: impl FnMut(&mut G::Target) -> bool,
        deadline: Option<Timestamp>,
    ) -> WaitTimeoutResult {
        let mut waited = WaitTimeoutResult(false);
        while condition(guard) {
            if waited.timed_out() {
                return waited;
            }
            waited = self.wait_by(guard, deadline);
        }
        WaitTimeoutResult(false)
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
