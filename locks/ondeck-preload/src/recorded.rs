//! Locks and unlocks mutexes of ours, with the calls of the recorder: see `ondeck_record`.
//!
//! While the recorder is off, it costs one load for each lock, and one load of the mutex's own line
//! for each unlock.

use core::sync::atomic::Ordering;
use core::{hint, ptr};

use ondeck::condvar::Waiter;
use ondeck::platform::{Linux, Timestamp};
use ondeck_record::{Held, Words, lease};

use crate::object::Mutex;

impl Mutex {
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    fn words(&self) -> Words<'_> {
        Words {
            request: &self.request,
            acquisitions: &self.acquisitions,
            lease: (self.raw_kind() == 0).then_some(&self.count),
            created: &self.created,
        }
    }

    /// Returns the kind in the recorder's terms.
    fn recorded_kind(&self) -> u32 {
        self.raw_kind().cast_unsigned() & 3
    }
}

/// Called when the thread has just locked the mutex, which was free.
#[inline(always)]
pub(crate) fn count(mutex: &Mutex) {
    if ondeck_record::is_on() {
        let turn = count_once(mutex);
        // Relaxed: a thread that begins to wait from now on records the time itself.
        let request = mutex.request.load(Ordering::Relaxed);
        if request != 0 {
            hint::cold_path();
            let passes = mutex.raw_kind() == 0 && lease::will_pass(request, &mutex.count);
            if !passes {
                ondeck_record::acquired(mutex.address(), turn);
            }
        }
    }
}

/// Called when the thread has just locked the mutex, for which it has waited.
fn count_waited(mutex: &Mutex) {
    if ondeck_record::is_on() {
        count_once(mutex);
    }
}

/// Counts an acquisition, and returns its number.
#[inline(always)]
fn count_once(mutex: &Mutex) -> u64 {
    // Not a read-modify-write: only the owner writes it.
    let count = mutex.acquisitions.load(Ordering::Relaxed).wrapping_add(1);
    mutex.acquisitions.store(count, Ordering::Relaxed);
    count
}

/// Locks the mutex, waiting until it is free.
pub(crate) fn lock(mutex: &Mutex) {
    if mutex.lock.try_lock() {
        return count(mutex);
    }
    let wait =
        ondeck_record::begin(mutex.address(), mutex.recorded_kind(), c"", Some(mutex.words()));
    mutex.lock.lock();
    wait.acquired(Some(mutex.words()));
    count_waited(mutex);
}

/// As [`lock`], for a mutex that was found locked, but gives up at the deadline. Returns whether
/// the mutex was locked.
pub(crate) fn lock_until(mutex: &Mutex, until: Timestamp) -> bool {
    let wait =
        ondeck_record::begin(mutex.address(), mutex.recorded_kind(), c"", Some(mutex.words()));
    let is_owner = mutex.lock.try_lock_until(until);
    if is_owner {
        wait.acquired(Some(mutex.words()));
        count_waited(mutex);
    } else {
        wait.gave_up();
    }
    is_owner
}

/// Returns whether the unlock must be recorded. For owners.
#[inline(always)]
pub(crate) fn is_requested(mutex: &Mutex) -> bool {
    // Relaxed: the next unlock sees a request that this one misses.
    mutex.request.load(Ordering::Relaxed) != 0
}

/// As [`is_requested`], for a mutex of the usual kind, without the unnecessary checks.
#[inline(always)]
pub(crate) fn is_requested_now(mutex: &Mutex) -> bool {
    let request = mutex.request.load(Ordering::Relaxed);
    if request == 0 {
        return false;
    }
    // Keeps the common path free of taken branches.
    hint::cold_path();
    !lease::passes(request, &mutex.count)
}

/// Returns the record on which an owner that is about to unlock calls `after` afterwards.
pub(crate) fn before_unlock(mutex: &Mutex) -> Option<Held> {
    if !is_requested(mutex) {
        return None;
    }
    ondeck_record::before_unlock(mutex.address(), mutex.recorded_kind(), mutex.words())
}

/// Unlocks.
///
/// # Safety
///
/// The calling thread owns the mutex.
pub(crate) unsafe fn unlock(mutex: &Mutex) {
    let held = before_unlock(mutex);
    // SAFETY: as the caller promises.
    unsafe { mutex.lock.unlock() };
    if let Some(held) = held {
        held.after();
    }
}

/// Called when the thread has locked the mutex again, at the end of a wait for a condition
/// variable.
pub(crate) fn relocked(mutex: &Mutex, waiter: &Waiter<Linux>) {
    if ondeck_record::is_on()
        && let Some(nanos) = waiter.waited_for_mutex()
    {
        let words = Some(mutex.words());
        ondeck_record::relocked(mutex.address(), mutex.recorded_kind(), c"", words, nanos);
    }
    count(mutex);
}

/// Called when the thread has initialized a mutex.
pub(crate) fn note_creation(mutex: &Mutex) {
    let created = ondeck_record::created(mutex.address(), mutex.recorded_kind());
    if created != 0 {
        mutex.created.store(created, Ordering::Relaxed);
    }
}
