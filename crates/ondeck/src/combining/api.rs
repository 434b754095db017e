//! The combining mutex that programs use: with data, closures for sections, results and panics.

extern crate std;

use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::AtomicPtr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use super::{RawCombining, Request};
use crate::platform::Native;

/// A mutual-exclusion lock around a `T` for short sections that many cores want: the thread that has the lock also runs the
/// sections of waiting threads (flat combining).
///
/// The protected data then stays in the cache of one core, while with another mutex it moves from core to core with each
/// section, 50 to 300 ns. A thread runs at most 64 sections of others before another thread takes over. Threads are served
/// in the order of arrival.
///
/// Because another thread may run a section, a section is a closure: it and its result are [`Send`], and there is no guard.
/// `docs/other-locks.md` shows where this lock is faster and where it is slower:
///
/// * Without contention it costs two atomic read-modify-writes and an indirect call, where [`Mutex`](crate::Mutex) costs
///   one.
/// * On few cores, or for sections that take longer than two transfers of a cache line, it gains nothing.
/// * A waiting thread reads its own memory for the time of a wake, and then sleeps. The thread that has run its section
///   wakes it by a system call of some microseconds: with more threads than CPUs [`Mutex`](crate::Mutex) is better.
/// * One thread spends its time on the sections of others. If each section must be charged to its own thread, as with
///   priorities and profilers, use another mutex.
///
/// In a section, thread-local values, [`thread::current`] and held locks are those of the thread that runs it.
/// [`thread::panicking`] is also that thread's; but a thread that unwinds runs no section of others.
///
/// A section must not wait for anything that another thread does after its own section: that thread may be the one that runs
/// this section, and cannot continue before its end.
///
/// # Panics
///
/// If a section panics, the panic continues in the thread that called [`with`](Self::with), and the other threads are not
/// affected. The thread that ran the section prints the message. There is no poisoning.
///
/// A section that uses the same lock waits for ever, and so does a signal handler that interrupts `with` and uses it.
///
/// # Forks
///
/// The child of a fork may use it only if no other thread of the parent was in [`with`](Self::with): the queue is on the
/// stacks of such threads, which the child may have given to threads of its own.
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
// SAFETY: it owns its data; requests point to the data only while the mutex is borrowed.
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
/// It is a job of this type, and no other thread uses it or its data during the call.
unsafe fn run<F: FnOnce(&mut T) -> R, R, T: ?Sized>(job: *mut ()) {
    // SAFETY: as the caller promises.
    let job = unsafe { &mut *job.cast::<Job<F, R, T>>() };
    let Some(section) = job.section.take() else { return };
    // Others see the data as the section left it, as with a guard that is dropped by a panic.
    job.result = Some(catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as the caller promises.
        section(unsafe { &mut *job.data })
    })));
}

impl<T> CombiningMutex<T> {
    /// Creates a free lock around `data`.
    pub const fn new(data: T) -> Self {
        let raw = RawCombining { tail: AtomicPtr::new(core::ptr::null_mut()) };
        Self { raw, data: UnsafeCell::new(data) }
    }

    /// Returns the protected data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> CombiningMutex<T> {
    /// Runs `section` under the lock, on this thread or another, and returns its result.
    pub fn with<R: Send>(&self, section: impl FnOnce(&mut T) -> R + Send) -> R {
        self.perform(section).unwrap_or_else(|payload| resume_unwind(payload))
    }

    fn perform<R, F: FnOnce(&mut T) -> R>(&self, section: F) -> thread::Result<R> {
        let mut job = Job { data: self.data.get(), section: Some(section), result: None };
        let mut request = Request::new(run::<F, R, T>, (&raw mut job).cast());
        // In a section on another thread, code that asks whether its thread is panicking, such as locks with poisoning,
        // would be misled.
        if thread::panicking() {
            request = request.without_others();
        }
        // SAFETY: the request is new; the job lives until then; `run` catches panics; and the types can be sent to other
        // threads, by the bounds of `with`.
        unsafe { self.raw.perform(&request) };
        job.result.expect("the section was run")
    }

    /// Returns the protected data without a lock: the borrow excludes other threads.
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
