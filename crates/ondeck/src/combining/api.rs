//! The combining mutex as programs use it: with data, closures for sections, results and panics.

extern crate std;

use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::AtomicPtr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use super::{RawCombining, Request};
use crate::platform::Native;

/// A mutual-exclusion lock around a `T` for short sections that many cores want: the thread that has the lock runs
/// the sections of those that wait, too (flat combining).
///
/// What it guards then stays in the cache of one core, while with another mutex it goes from core to core with each
/// section, 50 to 300 ns. A thread does at most 64 sections of others before another takes over. Threads
/// are served in the order in which they came.
///
/// Because another thread may run a section, a section is a closure: it and its result are [`Send`], and there is no
/// guard. `docs/other-locks.md` says where it wins and where it loses:
///
/// * Without contention it costs two atomic read-modify-writes and an indirect call, where
///   [`Mutex`](crate::Mutex) costs one.
/// * On few cores, or for sections that take longer than two transfers of a cache line, there is nothing to
///   win.
/// * A thread that waits reads its own memory for as long as a wake takes, and then sleeps. The thread that
///   has done its section wakes it, a system call of some microseconds: with more threads than CPUs
///   [`Mutex`](crate::Mutex) is better.
/// * One thread's time is spent for others. Where each section should be charged to its own thread, as with
///   priorities and profilers, use another mutex.
///
/// In a section thread-local values, [`thread::current`] and locks held are those of the thread that runs it. So
/// is [`thread::panicking`]; but a thread that unwinds runs no section of others.
///
/// A section must not wait for what another thread does after its own section: that may be the thread that runs
/// this one, and does not go on before its end.
///
/// # Panics
///
/// If a section panics, the panic goes on in the thread that called [`with`](Self::with), and the others are not
/// affected. Its message is printed by the thread that ran it. There is no poisoning.
///
/// A section that uses the same lock waits for ever, and so does a signal handler that interrupts `with` and uses it.
///
/// # Memory ordering
///
/// A section happens before the next, and before `with` returns.
///
/// ```
/// use ondeck::CombiningMutex;
///
/// static TOTALS: CombiningMutex<Vec<u64>> = CombiningMutex::new(Vec::new());
///
/// std::thread::scope(|scope| {
///     for number in 0..4 {
///         scope.spawn(move || {
///             let length = TOTALS.with(|totals| {
///                 totals.push(number);
///                 totals.len()
///             });
///             assert!(length > 0);
///         });
///     }
/// });
/// assert_eq!(TOTALS.with(|totals| totals.iter().sum::<u64>()), 6);
/// ```
pub struct CombiningMutex<T: ?Sized> {
    raw: RawCombining<Native>,
    data: UnsafeCell<T>,
}

// SAFETY: sections exclude each other, and may run on any thread.
unsafe impl<T: ?Sized + Send> Sync for CombiningMutex<T> {}
// SAFETY: it owns its data; requests point to it only while it is borrowed.
unsafe impl<T: ?Sized + Send> Send for CombiningMutex<T> {}

/// A section on its way to the thread that runs it.
struct Job<F, R, T: ?Sized> {
    data: *mut T,
    section: Option<F>,
    result: Option<thread::Result<R>>,
}

/// Runs the section.
///
/// # Safety
///
/// It is a job of this type that no other thread uses meanwhile, and so is what its data points to.
unsafe fn run<F: FnOnce(&mut T) -> R, R, T: ?Sized>(job: *mut ()) {
    // SAFETY: as the caller promises.
    let job = unsafe { &mut *job.cast::<Job<F, R, T>>() };
    let Some(section) = job.section.take() else { return };
    // What the section leaves of the data is seen by others, as with a guard that is dropped by a panic.
    job.result = Some(catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as the caller promises.
        section(unsafe { &mut *job.data })
    })));
}

impl<T> CombiningMutex<T> {
    /// A free lock around `data`.
    pub const fn new(data: T) -> Self {
        let raw = RawCombining { tail: AtomicPtr::new(core::ptr::null_mut()) };
        Self { raw, data: UnsafeCell::new(data) }
    }

    /// What it guards.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> CombiningMutex<T> {
    /// Has `section` run under the lock, by this thread or another, and returns its result.
    pub fn with<R: Send>(&self, section: impl FnOnce(&mut T) -> R + Send) -> R {
        self.perform(section).unwrap_or_else(|payload| resume_unwind(payload))
    }

    fn perform<R, F: FnOnce(&mut T) -> R>(&self, section: F) -> thread::Result<R> {
        let mut job = Job { data: self.data.get(), section: Some(section), result: None };
        let mut request = Request::new(run::<F, R, T>, (&raw mut job).cast());
        // What looks at it in a section of another thread, as locks with poisoning do, would be misled.
        if thread::panicking() {
            request = request.without_others();
        }
        // SAFETY: the request is new; the job lives until then, `run` catches panics, and the types can be
        // sent to other threads, as the bounds of `with` say.
        unsafe { self.raw.perform(&request) };
        job.result.expect("the section was run")
    }

    /// What it guards, without a lock: the borrow excludes others.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }
}

impl<T: Default> Default for CombiningMutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for CombiningMutex<T> {
    fn from(data: T) -> Self {
        Self::new(data)
    }
}

impl<T: ?Sized> fmt::Debug for CombiningMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CombiningMutex").field("busy", &self.raw.is_busy()).finish_non_exhaustive()
    }
}
