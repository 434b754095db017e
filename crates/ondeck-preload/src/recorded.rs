//! Locking and unlocking of the mutexes that are ours, with what the recorder is told: see `ondeck_record`.
//!
//! While it is off, that is one load for each lock, and one for each unlock, of the mutex's own line.

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

    /// The kind as the recorder knows it.
    fn recorded_kind(&self) -> u32 {
        self.raw_kind().cast_unsigned() & 3
    }
}

/// The calling thread has just locked the mutex, which was free.
#[inline(always)]
pub(crate) fn count(mutex: &Mutex) {
    if ondeck_record::is_on() {
        let turn = count_once(mutex);
        // Relaxed: a thread that begins to wait from now on says itself when that was.
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

/// The calling thread has just locked the mutex, for which it has waited.
fn count_waited(mutex: &Mutex) {
    if ondeck_record::is_on() {
        count_once(mutex);
    }
}

/// Counts an acquisition, and returns its number.
#[inline(always)]
fn count_once(mutex: &Mutex) -> u64 {
    // Not a read-modify-write: the owner alone writes it.
    let count = mutex.acquisitions.load(Ordering::Relaxed).wrapping_add(1);
    mutex.acquisitions.store(count, Ordering::Relaxed);
    count
}

/// Waits until the mutex is the calling thread's.
pub(crate) fn lock(mutex: &Mutex) {
    if mutex.lock.try_lock() {
        return count(mutex);
    }
    let wait = ondeck_record::begin(mutex.address(), mutex.recorded_kind(), Some(mutex.words()));
    mutex.lock.lock();
    wait.acquired(Some(mutex.words()));
    count_waited(mutex);
}

/// As [`lock`], of a mutex that was found locked, but gives up at the deadline; says whether the calling
/// thread has it.
pub(crate) fn lock_until(mutex: &Mutex, until: Timestamp) -> bool {
    let wait = ondeck_record::begin(mutex.address(), mutex.recorded_kind(), Some(mutex.words()));
    let is_owner = mutex.lock.try_lock_until(until);
    if is_owner {
        wait.acquired(Some(mutex.words()));
        count_waited(mutex);
    } else {
        wait.gave_up();
    }
    is_owner
}

/// Whether the unlock is to be recorded: asked by the owner.
#[inline(always)]
pub(crate) fn is_requested(mutex: &Mutex) -> bool {
    // Relaxed: a request that is missed is seen by the next unlock.
    mutex.request.load(Ordering::Relaxed) != 0
}

/// As [`is_requested`], of a mutex of the usual kind, and leaves out what need not be asked for.
#[inline(always)]
pub(crate) fn is_requested_now(mutex: &Mutex) -> bool {
    let request = mutex.request.load(Ordering::Relaxed);
    if request == 0 {
        return false;
    }
    // Keeps the usual way free of a branch that is taken.
    hint::cold_path();
    !lease::passes(request, &mutex.count)
}

/// For an owner that is about to unlock: what to call `after` on then.
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

/// The calling thread has locked the mutex again, at the end of a wait for a condition variable.
pub(crate) fn relocked(mutex: &Mutex, waiter: &Waiter<Linux>) {
    if ondeck_record::is_on()
        && let Some(nanos) = waiter.waited_for_mutex()
    {
        let words = Some(mutex.words());
        ondeck_record::relocked(mutex.address(), mutex.recorded_kind(), words, nanos);
    }
    count(mutex);
}

/// A mutex was initialized by the calling thread.
pub(crate) fn note_creation(mutex: &Mutex) {
    let created = ondeck_record::created(mutex.address(), mutex.recorded_kind());
    if created != 0 {
        mutex.created.store(created, Ordering::Relaxed);
    }
}
