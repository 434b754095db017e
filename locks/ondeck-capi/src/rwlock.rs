//! The C functions of `ondeck_rwlock_t`, each a wrapper of [`RawRwLock`]. C has no place for a
//! `Shared`: an unlock finds in the row of its thread whether the read is visible.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr;

use libc::{EAGAIN, EBUSY};
use ondeck::platform::Native;
use ondeck::rwlock::{RawRwLock, last_reader_left};
use ondeck::stats::LockKind;

use crate::deadline::acquire;
use crate::names;

/// A reader-writer lock: four bytes. Its initial value is `ONDECK_RWLOCK_INIT`, which is zero, so a
/// static one needs no initializer. It may be freed by a thread that has just unlocked it, if no
/// other uses it.
///
/// It must not be shared between processes. A writer that waits keeps later readers out, so a
/// thread that has a read lock must not take another. One thread may hold it as upgradable, beside
/// readers, and then become the writer. Only the thread that locked it may unlock it.
#[repr(C)]
pub struct RwLock {
    /// 0 while it is free. Private to the functions of this header.
    pub word: UnsafeCell<u32>,
}

const _: () = assert!(size_of::<RwLock>() == size_of::<RawRwLock<Native>>());
const _: () = assert!(align_of::<RwLock>() == align_of::<RawRwLock<Native>>());

/// Converts C's pointer to the lock.
///
/// # Safety
///
/// `lock` points to a lock that outlives the use of the borrow.
unsafe fn raw<'a>(lock: *const RwLock) -> &'a RawRwLock<Native> {
    // SAFETY: both types are one word that is only accessed atomically. The caller promises that it
    // is alive.
    unsafe { &*lock.cast() }
}

/// For statistics.
fn of(lock: &RawRwLock<Native>) -> (usize, LockKind) {
    (ptr::from_ref(lock).addr(), LockKind::RwLock)
}

/// Acquires by `attempt`, or else waits by `block`.
fn waits(lock: &RawRwLock<Native>, attempt: impl FnOnce() -> bool, block: impl FnOnce()) {
    names::acquire(of(lock), attempt, block);
}

fn error(has: bool, otherwise: c_int) -> c_int {
    if has { 0 } else { otherwise }
}

/// Initializes a free lock, regardless of the previous contents.
///
/// # Safety
///
/// `lock` points to memory for a lock, which no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_init(lock: *mut RwLock) {
    // SAFETY: as the caller promises.
    unsafe { lock.write(RwLock { word: UnsafeCell::new(0) }) };
    names::set(lock.addr(), ptr::null());
}

/// Ends the use of a lock, and takes its name away. Returns 0, or EBUSY if it is locked: it then
/// stays usable.
///
/// # Safety
///
/// `lock` points to a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_destroy(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { raw(lock) }.is_locked() {
        return EBUSY;
    }
    names::set(lock.addr(), ptr::null());
    0
}

/// Waits for a read lock. Returns 0, or EAGAIN if 2^23 are held.
///
/// # Safety
///
/// `lock` points to a lock that the calling thread has not locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_rdlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    if lock.has_most_readers() {
        return EAGAIN;
    }
    waits(lock, || lock.try_lock_shared().is_some(), || _ = lock.lock_shared());
    0
}

/// Takes a read lock if there is no writer. Returns 0, EBUSY, or EAGAIN if 2^23 are held.
///
/// # Safety
///
/// `lock` points to a lock.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_tryrdlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    error(lock.try_lock_shared().is_some(), if lock.has_most_readers() { EAGAIN } else { EBUSY })
}

/// As `ondeck_rwlock_rdlock`, until a deadline as that of `ondeck_mutex_clocklock`. Returns 0,
/// EAGAIN, ETIMEDOUT or EINVAL.
///
/// # Safety
///
/// As for `ondeck_rwlock_rdlock`; `deadline` points to a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_clockrdlock(
    lock: *mut RwLock,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    if lock.has_most_readers() {
        return EAGAIN;
    }
    let at_once = || lock.try_lock_shared().is_some();
    let until = |time| lock.try_lock_shared_until(time).is_some();
    // SAFETY: as the caller promises.
    unsafe { acquire(Some(of(lock)), clock, deadline, at_once, until) }
}

/// Unlocks a read lock. Returns 0, always.
///
/// # Safety
///
/// The calling thread has a read lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_rdunlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    // SAFETY: as the caller promises; no function keeps a `Shared`.
    unsafe { lock.unlock_shared(lock.forgotten()) };
    0
}

/// Waits for the write lock. Returns 0, always.
///
/// # Safety
///
/// `lock` points to a lock that the calling thread has not locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_wrlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    waits(lock, || lock.try_lock_exclusive(), || lock.lock_exclusive());
    0
}

/// Takes the write lock if no thread holds the lock. Returns 0 or EBUSY.
///
/// # Safety
///
/// `lock` points to a lock.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_trywrlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    error(unsafe { raw(lock) }.try_lock_exclusive(), EBUSY)
}

/// As `ondeck_rwlock_wrlock`, until a deadline. Returns 0, ETIMEDOUT or EINVAL.
///
/// # Safety
///
/// As for `ondeck_rwlock_wrlock`; `deadline` points to a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_clockwrlock(
    lock: *mut RwLock,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    let at_once = || lock.try_lock_exclusive();
    // SAFETY: as the caller promises.
    unsafe {
        acquire(Some(of(lock)), clock, deadline, at_once, |time| {
            lock.try_lock_exclusive_until(time)
        })
    }
}

/// Unlocks the write lock. Returns 0, always.
///
/// # Safety
///
/// The calling thread has the write lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_wrunlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw(lock).unlock_exclusive() };
    0
}

/// Waits for the upgradable read lock: beside readers, at most one thread has it. Returns 0, or
/// EAGAIN if 2^23 read locks are held.
///
/// # Safety
///
/// `lock` points to a lock that the calling thread has not locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_uplock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    if !lock.try_lock_upgradable() {
        if lock.has_most_readers() {
            return EAGAIN;
        }
        waits(lock, || false, || lock.lock_upgradable());
    }
    0
}

/// Takes the upgradable read lock if no thread writes or has it. Returns 0, EBUSY, or EAGAIN if
/// 2^23 read locks are held.
///
/// # Safety
///
/// `lock` points to a lock.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_tryuplock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    error(lock.try_lock_upgradable(), if lock.has_most_readers() { EAGAIN } else { EBUSY })
}

/// As `ondeck_rwlock_uplock`, until a deadline. Returns 0, EAGAIN, ETIMEDOUT or EINVAL.
///
/// # Safety
///
/// As for `ondeck_rwlock_uplock`; `deadline` points to a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_clockuplock(
    lock: *mut RwLock,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    if lock.has_most_readers() {
        return EAGAIN;
    }
    let at_once = || lock.try_lock_upgradable();
    let until = |time| lock.try_lock_upgradable_until(time);
    // SAFETY: as the caller promises.
    unsafe { acquire(Some(of(lock)), clock, deadline, at_once, until) }
}

/// Unlocks the upgradable read lock. Returns 0, always.
///
/// # Safety
///
/// The calling thread has the upgradable read lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_upunlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw(lock).unlock_upgradable() };
    0
}

/// Turns the upgradable read lock into the write lock, after all readers have left. No other writer
/// comes in between. Returns 0, always.
///
/// # Safety
///
/// As for `ondeck_rwlock_upunlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_upgrade(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    // SAFETY: as the caller promises; the second runs only if the first did not change the lock.
    waits(lock, || unsafe { lock.try_upgrade() }, || unsafe { lock.upgrade() });
    0
}

/// As `ondeck_rwlock_upgrade`, if there are no readers. Returns 0, or EBUSY: the thread then still
/// has the upgradable read lock.
///
/// # Safety
///
/// As for `ondeck_rwlock_upunlock`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_tryupgrade(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    error(unsafe { raw(lock).try_upgrade() }, EBUSY)
}

/// As `ondeck_rwlock_upgrade`, until a deadline. Returns 0; or ETIMEDOUT or EINVAL: the thread then
/// still has the upgradable read lock.
///
/// # Safety
///
/// As for `ondeck_rwlock_upunlock`; `deadline` points to a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_rwlock_clockupgrade(
    lock: *mut RwLock,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    // SAFETY: as the caller promises; the second runs only if the first did not change the lock.
    let at_once = || unsafe { lock.try_upgrade() };
    // SAFETY: as above.
    let until = |time| unsafe { lock.try_upgrade_until(time) };
    // SAFETY: as the caller promises.
    unsafe { acquire(Some(of(lock)), clock, deadline, at_once, until) }
}

/// Turns the write lock into a read lock. No writer comes in between. Returns 0, always.
///
/// # Safety
///
/// As for `ondeck_rwlock_wrunlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_downgrade(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let _ = unsafe { raw(lock).downgrade() };
    0
}

/// Turns the write lock into the upgradable read lock. No writer comes in between. Returns 0,
/// always.
///
/// # Safety
///
/// As for `ondeck_rwlock_wrunlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_downgrade_to_up(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw(lock).downgrade_to_upgradable() };
    0
}

/// Turns the upgradable read lock into a read lock. Returns 0, always.
///
/// # Safety
///
/// As for `ondeck_rwlock_upunlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_downgrade_up(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let _ = unsafe { raw(lock).downgrade_upgradable() };
    0
}

/// As `ondeck_rwlock_rdlock`, after an inlined attempt has failed.
///
/// # Safety
///
/// As for `ondeck_rwlock_rdlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_rdlock_contended(lock: *mut RwLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    // Before anything that needs a stack frame, because each read of a biased lock comes here.
    if lock.is_biased() && lock.try_lock_shared().is_some() { 0 } else { read_otherwise(lock) }
}

#[cold]
#[inline(never)]
fn read_otherwise(lock: &RawRwLock<Native>) -> c_int {
    if lock.has_most_readers() {
        return EAGAIN;
    }
    waits(lock, || lock.try_lock_shared().is_some(), || _ = lock.lock_shared_after_attempt());
    0
}

/// As `ondeck_rwlock_wrlock`, after an inlined attempt has found another word than 0.
///
/// # Safety
///
/// As for `ondeck_rwlock_wrlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_wrlock_contended(lock: *mut RwLock, found: u32) {
    // SAFETY: as the caller promises.
    let lock = unsafe { raw(lock) };
    waits(lock, || lock.try_lock_exclusive(), || lock.lock_exclusive_after_attempt(found));
}

/// As `ondeck_rwlock_wrunlock`, after an inlined attempt has failed.
///
/// # Safety
///
/// As for `ondeck_rwlock_wrunlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_wrunlock_contended(lock: *mut RwLock) {
    // SAFETY: as the caller promises.
    unsafe { raw(lock).unlock_exclusive_after_attempt() };
}

/// Completes an inlined unlock of the last read lock beside a writer that sleeps. The lock may be
/// freed already: `lock` is only an address.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_rwlock_rdunlocked(lock: *const RwLock) {
    last_reader_left::<Native>(lock.addr());
}
