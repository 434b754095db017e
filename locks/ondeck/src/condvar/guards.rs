//! The guards with which a thread can wait at a condition variable.

use core::ptr;

use super::{RawCondvar, Waiter};
use crate::mutex::RawMutex;
#[cfg(feature = "internals")]
use crate::observe::wrapped::Wrapped;
use crate::observe::{self, Observed};
use crate::platform::{Native, Timestamp};
use crate::{FairMutexGuard, MutexGuard, ReentrantMutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// A guard with which a thread can wait at a [`Condvar`](super::Condvar): that of a
/// [`Mutex`](crate::Mutex), a [`FairMutex`](crate::FairMutex) or a
/// [`ReentrantMutex`](crate::ReentrantMutex), and the read and the write guard of a
/// [`RwLock`](crate::RwLock).
///
/// A mapped guard is none of them: another thread may have removed its part of the data by the end
/// of the wait. Another read guard of the same thread keeps an `RwLock` read-locked during the
/// wait, and so keeps out the writer that it waits for.
///
/// If an `RwLock` has its [greatest number](crate::RwLock#panics) of read guards when a wait wants
/// its own back, the process ends.
pub trait Waitable: sealed::Guard {}

impl<G: sealed::Guard> Waitable for G {}

mod sealed {
    use super::{Native, RawCondvar, Timestamp};

    pub trait Guard {
        /// Waits with the lock unlocked. Returns whether the wait was notified.
        #[track_caller]
        fn wait_at(&mut self, condvar: &RawCondvar<Native>, deadline: Option<Timestamp>) -> bool;
    }
}

impl<T: ?Sized> sealed::Guard for MutexGuard<'_, T> {
    fn wait_at(&mut self, condvar: &RawCondvar<Native>, deadline: Option<Timestamp>) -> bool {
        // SAFETY: the guard, which nothing else uses now, holds the mutex, and does again after the
        // wait.
        unsafe {
            let mutex = Self::mutex(self).raw();
            wait_observed(condvar, mutex, mutex, deadline)
        }
    }
}

macro_rules! waits_unlocked {
    ($($Guard:ident)*) => {$(
        impl<T: ?Sized> sealed::Guard for $Guard<'_, T> {
            fn wait_at(
                &mut self,
                condvar: &RawCondvar<Native>,
                deadline: Option<Timestamp>,
            ) -> bool {
                condvar.wait_with(deadline, |sleep| Self::unlocked(self, sleep))
            }
        }
    )*};
}
waits_unlocked!(FairMutexGuard RwLockReadGuard RwLockWriteGuard);

impl<T: ?Sized> sealed::Guard for ReentrantMutexGuard<'_, T> {
    fn wait_at(&mut self, condvar: &RawCondvar<Native>, deadline: Option<Timestamp>) -> bool {
        let mutex = Self::remutex(self);
        let notified = condvar.wait_with(deadline, |sleep| {
            Self::unlocked(self, || (!mutex.is_owned_by_current_thread()).then(sleep))
        });
        let Some(notified) = notified else {
            panic!(
                "deadlock: this thread waits with one of several guards of a reentrant mutex, {:#x}",
                ptr::from_ref(mutex).cast::<()>().addr()
            )
        };
        notified
    }
}

/// [`RawCondvar::wait`], observed as a wait with the mutex `observed`.
///
/// # Safety
///
/// The calling thread owns the mutex.
#[track_caller]
unsafe fn wait_observed(
    condvar: &RawCondvar<Native>,
    mutex: &RawMutex<Native>,
    observed: &impl Observed,
    deadline: Option<Timestamp>,
) -> bool {
    let waiter = Waiter::new(condvar, Some(mutex), deadline);
    // SAFETY: as the caller promises; the waiter stays here until the wait is over.
    let begin = || unsafe { waiter.begin() };
    // SAFETY: it has begun.
    let sleep = || unsafe { waiter.sleep() };
    observe::wait(observed, begin, sleep, || waiter.waited_for_mutex())
}

#[cfg(feature = "internals")]
impl<const MAY_MOVE: bool> Wrapped<'_, RawMutex<Native>, MAY_MOVE> {
    /// As [`RawCondvar::wait`], with this mutex.
    ///
    /// # Safety
    ///
    /// The calling thread owns the mutex.
    #[inline]
    pub unsafe fn wait(self, condvar: &RawCondvar<Native>, deadline: Option<Timestamp>) -> bool {
        // SAFETY: as the caller promises.
        unsafe { wait_observed(condvar, self.0, &self, deadline) }
    }
}
