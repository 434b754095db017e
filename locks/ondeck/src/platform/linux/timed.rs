//! futex(2) with a deadline: its time has 64 bits for the seconds, on every CPU.
//!
//! On 32 bits that is futex_time64, since Linux 5.1. If there is none, the deadline has 32 bits:
//! both clocks that are used here last longer than a process lives.

use core::sync::atomic::AtomicU32;
use core::time::Duration;

/// Calls futex(2) for this word. The deadline is on the clock of the operation; `mask` is for
/// operations that take one.
#[cfg(target_pointer_width = "64")]
pub(super) fn call(
    word: &AtomicU32,
    operation: i32,
    value: u32,
    until: Option<Duration>,
    mask: u32,
) -> (libc::c_long, i32) {
    let time = until.map(|until| libc::timespec {
        tv_sec: i64::try_from(until.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: until.subsec_nanos().into(),
    });
    raw(libc::SYS_futex, word, operation, value, time.as_ref(), mask)
}

#[cfg(not(target_pointer_width = "64"))]
pub(super) fn call(
    word: &AtomicU32,
    operation: i32,
    value: u32,
    until: Option<Duration>,
    mask: u32,
) -> (libc::c_long, i32) {
    use core::sync::atomic::{AtomicBool, Ordering};

    /// The same number on all CPUs, as for all system calls since Linux 5.1.
    const SYS_FUTEX_TIME64: libc::c_long = 422;
    /// Whether the kernel has only the call with times of 32 bits, or a filter refuses the other
    /// one. The filter of Android ends a process that tries the other one. Relaxed: it is
    /// independent of other data.
    static IS_OLD: AtomicBool = AtomicBool::new(cfg!(target_os = "android"));

    let with_64_bits = || {
        let seconds = |until: Duration| i64::try_from(until.as_secs()).unwrap_or(i64::MAX);
        let time = until.map(|until| [seconds(until), until.subsec_nanos().into()]);
        raw(SYS_FUTEX_TIME64, word, operation, value, time.as_ref(), mask)
    };
    let with_32_bits = || {
        let seconds = |until: Duration| i32::try_from(until.as_secs()).unwrap_or(i32::MAX);
        let time = until.map(|until| [seconds(until), until.subsec_nanos().cast_signed()]);
        raw(libc::SYS_futex, word, operation, value, time.as_ref(), mask)
    };
    if IS_OLD.load(Ordering::Relaxed) {
        return with_32_bits();
    }
    let new = with_64_bits();
    if new.0 >= 0 || !matches!(new.1, libc::ENOSYS | libc::EPERM) {
        return new;
    }
    let old = with_32_bits();
    // If both calls fail, the kernel does not have the operation, or does not allow it.
    if old.0 >= 0 || old.1 != new.1 {
        IS_OLD.store(true, Ordering::Relaxed);
    }
    old
}

fn raw<T>(
    number: libc::c_long,
    word: &AtomicU32,
    operation: i32,
    value: u32,
    time: Option<&T>,
    mask: u32,
) -> (libc::c_long, i32) {
    let time = time.map_or(core::ptr::null(), core::ptr::from_ref);
    let none = core::ptr::null::<u32>();
    // SAFETY: `word` is a live aligned 32-bit word, which the kernel reads, or changes as an
    // atomic; `time` is null or points to a live time of the layout that goes with the call's
    // number.
    super::quietly(|| unsafe {
        libc::syscall(number, word.as_ptr(), operation, value, time, none, mask)
    })
}
