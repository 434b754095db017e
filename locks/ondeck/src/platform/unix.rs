//! The parts that Unix systems have in common: errno, a last message, forks, the environment.

use core::ffi::CStr;

use super::Timestamp;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Returns the time on a clock that never fails and never goes backwards.
pub(super) fn clock(clock: libc::clockid_t) -> Timestamp {
    let mut time = core::mem::MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: clock_gettime writes the timespec it is given.
    if unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) } != 0 {
        // SAFETY: the calling thread's own errno, valid while it lives.
        die("clock_gettime", unsafe { *errno() });
    }
    // SAFETY: clock_gettime returned 0, so it has written the timespec.
    let time = unsafe { time.assume_init() };
    // Such a clock counts from boot: neither part is negative. They have 32 or 64 bits.
    #[allow(clippy::unnecessary_cast, reason = "not on systems with 32 bits")]
    Timestamp::from_nanos(time.tv_sec as u64 * NANOS_PER_SECOND + time.tv_nsec as u64)
}

/// Makes the child of each fork, whose only thread is the caller, call a function.
pub(super) fn in_children(handler: extern "C" fn()) {
    // SAFETY: the handler is a function of this library, which is never unloaded while locks are in
    // use.
    let (error, _) = quietly(|| unsafe { libc::pthread_atfork(None, None, Some(handler)) });
    if error != 0 {
        // There is no memory for a few words. If the program continued, it could fork later, and
        // its child would wait for threads that it does not have: far from here, and without a sign
        // of it.
        die("pthread_atfork", error);
    }
}

/// Passes the value of an environment variable to a closure. No thread may change the environment
/// during the call.
pub(super) fn with_variable(name: &CStr, use_it: impl FnOnce(&[u8])) {
    // SAFETY: the name ends with a zero byte. No thread changes the environment during the call.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if !value.is_null() {
        // SAFETY: a string that ends with a zero byte; it is used before a thread can change it.
        use_it(unsafe { CStr::from_ptr(value) }.to_bytes());
    }
}

/// Returns the address of the calling thread's errno in the C library.
fn errno() -> *mut libc::c_int {
    // SAFETY: takes nothing, and returns a pointer that is valid while the thread lives.
    unsafe {
        cfg_select! {
            any(target_os = "android", target_os = "netbsd", target_os = "openbsd") => {
                libc::__errno()
            }
            any(target_vendor = "apple", target_os = "freebsd") => { libc::__error() }
            any(target_os = "illumos", target_os = "solaris") => { libc::___errno() }
            target_os = "haiku" => { libc::_errnop() }
            _ => { libc::__errno_location() }
        }
    }
}

/// Returns the result of a call of the C library, and the errno that it leaves if it fails. The
/// calling thread's errno stays as it was: a program that locks between its own call and its check
/// of errno must find its own value.
pub(super) fn quietly<T>(call: impl FnOnce() -> T) -> (T, i32) {
    // SAFETY: the calling thread's own errno, valid while it lives.
    let own = unsafe { &mut *errno() };
    let before = *own;
    let result = call();
    // SAFETY: as above; borrowed again, because the call has also written there.
    let own = unsafe { &mut *errno() };
    (result, core::mem::replace(own, before))
}

/// Aborts the process with a message, for a failure that only a bug can cause.
///
/// It neither allocates, locks nor unwinds, because it is called from the middle of a lock.
#[cold]
pub(super) fn die(operation: &str, errno: i32) -> ! {
    const PARTS: u8 = 5;
    let mut digits = [0_u8; 11];
    let mut rest = errno.unsigned_abs();
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let parts: [&[u8]; PARTS as usize] =
        [b"ondeck: ", operation.as_bytes(), b" failed with errno ", &digits[start..], b"\n"];
    let parts = parts
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // In one call, because every thread may come here at once, and each line must stay whole.
    // SAFETY: each pointer and length is of one live slice; writev(2) only reads them.
    unsafe { libc::writev(libc::STDERR_FILENO, parts.as_ptr(), PARTS.into()) };
    // SAFETY: abort has no preconditions.
    unsafe { libc::abort() }
}
