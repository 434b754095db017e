//! The mutex's lock and unlock as functions, to inspect the compiler's output:
//! `docs/data/assembly.md`.

use ondeck::mutex::RawMutex;
use ondeck::platform::Linux;

/// [`RawMutex::lock`].
#[unsafe(no_mangle)]
pub extern "C" fn lock(mutex: &RawMutex<Linux>) {
    mutex.lock();
}

/// [`RawMutex::unlock`].
///
/// # Safety
///
/// The calling thread owns the mutex.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlock(mutex: &RawMutex<Linux>) {
    // SAFETY: as the caller promises.
    unsafe { mutex.unlock() };
}
