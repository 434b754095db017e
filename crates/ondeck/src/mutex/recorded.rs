//! Locking and unlocking of the mutexes that programs use, with what the recorder of contention is told.
//!
//! Only with the feature `profile`; else these are the mutex's own functions. One byte has no room for a
//! count or a mark, so acquisitions are not counted, waits are recorded when they end, and an unlock is
//! recorded where it finds that threads may be parked.

#[cfg(not(feature = "profile"))]
pub(super) use plain::{lock, lock_until, unlock};
#[cfg(feature = "profile")]
pub(crate) use recording::recorded;
#[cfg(feature = "profile")]
pub(super) use recording::{lock, lock_until, unlock};

#[cfg(feature = "profile")]
mod recording {
    use ondeck_record::layout::kind::ONDECK;

    use crate::mutex::RawMutex;
    use crate::platform::{Host, Native, Timestamp};

    #[inline]
    pub(in crate::mutex) fn lock(mutex: &RawMutex<Native>) {
        if !mutex.try_lock() {
            wait_for(mutex);
        } else if ondeck_record::is_on() && Native::bucket(mutex.address()).has_queues() {
            ondeck_record::acquired(mutex.address(), 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_for(mutex: &RawMutex<Native>) {
        let wait = ondeck_record::begin(mutex.address(), ONDECK, None);
        mutex.lock();
        wait.acquired(None);
    }

    pub(in crate::mutex) fn lock_until(mutex: &RawMutex<Native>, deadline: Timestamp) -> bool {
        if mutex.try_lock() {
            return true;
        }
        let wait = ondeck_record::begin(mutex.address(), ONDECK, None);
        let is_owner = mutex.try_lock_until(deadline);
        if is_owner {
            wait.acquired(None);
        } else {
            wait.gave_up();
        }
        is_owner
    }

    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub(in crate::mutex) unsafe fn unlock(mutex: &RawMutex<Native>) {
        recorded(mutex.address(), || {
            // SAFETY: as the caller promises.
            unsafe { mutex.unlock() }
        });
    }

    /// Unlocks the mutex at `address` by `unlock`.
    #[inline]
    pub(crate) fn recorded(address: usize, unlock: impl FnOnce()) {
        // A thread that begins to wait just now is seen by the next unlock.
        let may_wait = Native::bucket(address).has_queues();
        let held = (may_wait && ondeck_record::is_on())
            .then(|| ondeck_record::before_plain_unlock(address, ONDECK))
            .flatten();
        unlock();
        if let Some(held) = held {
            held.after();
        }
    }
}

#[cfg(not(feature = "profile"))]
mod plain {
    use crate::mutex::RawMutex;
    use crate::platform::{Native, Timestamp};

    #[inline(always)]
    pub(in crate::mutex) fn lock(mutex: &RawMutex<Native>) {
        mutex.lock();
    }

    #[inline(always)]
    pub(in crate::mutex) fn lock_until(mutex: &RawMutex<Native>, deadline: Timestamp) -> bool {
        mutex.try_lock_until(deadline)
    }

    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline(always)]
    pub(in crate::mutex) unsafe fn unlock(mutex: &RawMutex<Native>) {
        // SAFETY: as the caller promises.
        unsafe { mutex.unlock() };
    }
}
