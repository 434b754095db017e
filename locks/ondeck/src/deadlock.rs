//! Detection of deadlocks, and of patterns that may become one, with the feature
//! `deadlock_detection`.
//!
//! It is switched on at run time, for all locks together, by `ONDECK_DEADLOCK=report` or `=abort`
//! in the environment, or by [`enable`]. It reports, once each,
//!
//! * **deadlocks**: threads that wait for each other in a cycle, and a thread that waits for a lock
//!   which it holds itself;
//! * **lock-order inversions**, before they deadlock: a lock is acquired while another is held, and
//!   elsewhere the other way round, possibly through further locks and by other threads at other
//!   times;
//! * **reads within reads** of one reader-writer lock, which deadlock if a writer waits in between,
//!   unless they are [recursive](crate::rwlock::ReadRecursive).
//!
//! A report has the stack of each acquisition and of each wait. It is printed, or passed to
//! [a function](on_report). `docs/deadlock.md` describes the reports and the limits of the
//! detection.
//!
//! [`Mutex`](crate::Mutex), [`FairMutex`](crate::FairMutex), [`PiMutex`](crate::PiMutex),
//! [`ReentrantMutex`](crate::ReentrantMutex), [`RwLock`](crate::RwLock), [`Once`](crate::Once) and
//! the locks of [`poison`](crate::poison) take part. A thread that waits for a condition waits for
//! its mutex. Locks without an owner, such as [`Semaphore`](crate::Semaphore), do not; nor does
//! [`ipc`](crate::ipc), whose owners may be of other processes; nor do the methods of raw locks,
//! such as [`RawMutex::lock`](crate::mutex::RawMutex::lock), other than by the traits of
//! [`lock_api`].
//!
//! # Cost
//!
//! Without the feature there is none. With it, two words of memory in each lock, and while
//! detection is off one relaxed load and a branch for each lock and each unlock. While it is on:
//! microseconds for each pair.
//!
//! ```
//! use ondeck::deadlock::{self, Mode, ReportKind};
//! use ondeck::Mutex;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! static INVERSIONS: AtomicU32 = AtomicU32::new(0);
//!
//! deadlock::on_report(|report| {
//!     assert_eq!(report.kind, ReportKind::Inversion);
//!     INVERSIONS.fetch_add(1, Ordering::Relaxed);
//! });
//! deadlock::enable(Mode::Report);
//!
//! let (left, right) = (Mutex::new(1), Mutex::new(2));
//! let sum = *left.lock() + *right.lock();
//! for _ in 0..2 {
//!     let right = right.lock();
//!     assert_eq!(*right + *left.lock(), sum);
//! }
//! assert_eq!(INVERSIONS.load(Ordering::Relaxed), 1);
//! # deadlock::disable();
//! ```

use crate::name::{AnyLock, raw};
use crate::observe::Observed;

pub use ondeck_deadlock::{
    Edge, Held, Holding, Lock, LockKind, Mode, Report, ReportKind, Stack, Thread, Want, check,
    disable, enable, is_on, on_report, print_reports, with_ignored,
};

/// Excludes a lock from all reports until it is moved or [forgotten](forget). Any thread may call
/// this at any time, even while detection is off.
///
/// It silences false reports of a program that has another reason why its threads cannot be there
/// at the same time. To silence an order of locks rather than a lock, see [`with_ignored`].
///
/// ```
/// static LOG: ondeck::Mutex<String> = ondeck::Mutex::new(String::new());
///
/// ondeck::deadlock::ignore(&LOG);
/// ```
pub fn ignore(lock: &impl AnyLock) {
    let raw = raw(lock);
    ondeck_deadlock::meets(raw.name(), raw.place().note());
    ondeck_deadlock::ignore(raw.name());
}

/// Forgets the facts about a lock: which thread holds it, and after which locks it was acquired.
///
/// A lock that moves, and one that is gone, is forgotten when another lock is used at its address.
/// Call this to forget it at once.
pub fn forget(lock: &impl AnyLock) {
    ondeck_deadlock::forget(raw(lock).name());
}
