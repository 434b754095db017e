//! Refuses processes that the shim cannot serve. The constructor checks this before `main` runs.
//!
//! Most such processes never get here. The kernel and the loader do not load the shim where it
//! could not work: into programs that are linked statically, that are for another architecture,
//! that gain rights (setuid), or whose loader is not glibc's. gcc's AddressSanitizer ends such a
//! program itself.

use core::ffi::{CStr, c_int};
use core::mem::MaybeUninit;

use ondeck_record::elf;

use crate::fatal;
use crate::object::{Cond, Mutex, NONRECURSIVE, RECURSIVE, RwLock};
use crate::real;

unsafe extern "C" {
    fn gnu_get_libc_version() -> *const core::ffi::c_char;
}

/// Ends the process with a message if the shim cannot serve it.
pub(crate) fn unfit_processes() {
    for name in ["libtsan.so", "libclang_rt.tsan"] {
        if elf::is_loaded(name) {
            fatal::end(&[
                "this program is checked by ThreadSanitizer (",
                name,
                "), which would not see the shim's locks; run it without LD_PRELOAD",
            ]);
        }
    }
    if !knows_layout() {
        // SAFETY: returns a string of the C library.
        let version = unsafe { CStr::from_ptr(gnu_get_libc_version()) };
        fatal::end(&[
            "the locks of this C library, glibc ",
            version.to_str().unwrap_or("?"),
            ", have a layout that the shim does not know; run the program without LD_PRELOAD",
        ]);
    }
}

/// Returns whether the C library initializes its objects as the shim assumes.
fn knows_layout() -> bool {
    knows_mutexes() && knows_rwlocks()
}

fn knows_mutexes() -> bool {
    let mut mutex = MaybeUninit::<Mutex>::uninit();
    let mut cond = MaybeUninit::<Cond>::uninit();
    let mut mutex_attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
    let mut cond_attributes = MaybeUninit::<libc::pthread_condattr_t>::uninit();
    // SAFETY: functions of the C library that initialize the given memory; both objects are written
    // in full, and consist of plain numbers.
    unsafe {
        libc::pthread_mutexattr_init(mutex_attributes.as_mut_ptr());
        libc::pthread_mutexattr_settype(mutex_attributes.as_mut_ptr(), RECURSIVE);
        let mutex_result = real::mutex_init(mutex.as_mut_ptr(), mutex_attributes.as_ptr().cast());
        libc::pthread_condattr_init(cond_attributes.as_mut_ptr());
        libc::pthread_condattr_setclock(cond_attributes.as_mut_ptr(), libc::CLOCK_MONOTONIC);
        let cond_result = real::cond_init(cond.as_mut_ptr(), cond_attributes.as_ptr().cast());
        const { assert!(libc::PTHREAD_MUTEX_RECURSIVE as c_int == RECURSIVE) };
        mutex_result == 0
            && cond_result == 0
            && words::<10>(mutex.as_ptr().cast())
                == [0, 0, 0, 0, RECURSIVE.cast_unsigned(), 0, 0, 0, 0, 0]
            && words::<12>(cond.as_ptr().cast()) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]
    }
}

fn knows_rwlocks() -> bool {
    let mut rwlock = MaybeUninit::<RwLock>::uninit();
    let mut attributes = MaybeUninit::<libc::pthread_rwlockattr_t>::uninit();
    let mut word = |shared: bool| {
        // SAFETY: functions of the C library that initialize the given memory; the lock is written
        // in full, and consists of plain numbers.
        unsafe {
            libc::pthread_rwlockattr_init(attributes.as_mut_ptr());
            libc::pthread_rwlockattr_setkind_np(
                attributes.as_mut_ptr(),
                NONRECURSIVE.cast_signed(),
            );
            libc::pthread_rwlockattr_setpshared(attributes.as_mut_ptr(), shared.into());
            let result = real::rwlock_init(rwlock.as_mut_ptr(), attributes.as_ptr().cast());
            (result == 0).then(|| words::<14>(rwlock.as_ptr().cast()))
        }
    };
    let plain = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NONRECURSIVE, 0];
    let shared = |mut words: [u32; 14]| core::mem::take(&mut words[7]) != 0 && words == plain;
    word(false) == Some(plain) && word(true).is_some_and(shared)
}

/// # Safety
///
/// The object has at least this number of words, and is aligned.
unsafe fn words<const COUNT: usize>(start: *const u32) -> [u32; COUNT] {
    // SAFETY: as the caller promises.
    unsafe { start.cast::<[u32; COUNT]>().read() }
}
