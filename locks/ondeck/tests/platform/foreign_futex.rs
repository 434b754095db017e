//! A wake that finds a futex of another kind at its address: the lock's memory was freed, and is
//! reused for a futex that inherits priorities.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use ondeck::platform::{Linux, Platform};

/// Makes futex calls like other libraries; private, as in this crate.
fn futex(word: &AtomicU32, operation: i32, value: u32, other: Option<&AtomicU32>) -> libc::c_long {
    // SAFETY: both words are live; no operation here has a timeout, and if a count replaces it,
    // that count is 0.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            0_usize,
            other.map_or(ptr::null_mut(), AtomicU32::as_ptr),
            0,
        )
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn tid() -> u32 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() }.cast_unsigned()
}

/// Returns whether the kernel has futexes that inherit priorities.
fn has_inheritance() -> bool {
    let free = AtomicU32::new(0);
    let has = futex(&free, libc::FUTEX_TRYLOCK_PI, 0, None) == 0;
    if !has {
        println!("skipped: the kernel has no futexes that inherit priorities");
    }
    has
}

/// Waits until the kernel refuses a plain wake at the address, which it does once the waiter of the
/// other kind has arrived.
fn until_refused(word: &AtomicU32) {
    while futex(word, libc::FUTEX_WAKE, 1, None) == 0 {
        thread::yield_now();
    }
    assert_eq!(errno(), libc::EINVAL);
}

#[test]
fn a_wake_at_a_lock_that_inherits_priorities_wakes_no_thread() {
    if !has_inheritance() {
        return;
    }
    let word = AtomicU32::new(tid());
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(futex(&word, libc::FUTEX_LOCK_PI, 0, None), 0, "errno {}", errno());
            assert_eq!(futex(&word, libc::FUTEX_UNLOCK_PI, 0, None), 0, "errno {}", errno());
        });
        until_refused(&word);
        assert_eq!(Linux::futex_wake(&raw const word, 1), 0);
        assert_eq!(Linux::futex_wake(&raw const word, u32::MAX), 0);
        assert_eq!(futex(&word, libc::FUTEX_UNLOCK_PI, 0, None), 0, "errno {}", errno());
    });
    assert_eq!(word.load(Ordering::Relaxed), 0);
}

#[test]
fn a_wake_at_a_condition_that_inherits_priorities_wakes_no_thread() {
    if !has_inheritance() {
        return;
    }
    let condition = AtomicU32::new(0);
    let mutex = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let waited = futex(&condition, libc::FUTEX_WAIT_REQUEUE_PI, 0, Some(&mutex));
            assert_eq!(waited, 0, "errno {}", errno());
            assert_eq!(mutex.load(Ordering::Relaxed) & libc::FUTEX_TID_MASK, tid());
            assert_eq!(futex(&mutex, libc::FUTEX_UNLOCK_PI, 0, None), 0, "errno {}", errno());
        });
        until_refused(&condition);
        assert_eq!(Linux::futex_wake(&raw const condition, 1), 0);
        let moved = futex(&condition, libc::FUTEX_CMP_REQUEUE_PI, 1, Some(&mutex));
        assert_eq!(moved, 1, "errno {}", errno());
    });
}

/// The kernel refuses an address outside of user space, and one that is not aligned.
#[test]
fn a_wake_at_no_address_of_a_program_wakes_no_thread() {
    assert_eq!(Linux::futex_wake(ptr::without_provenance(usize::MAX - 3), 1), 0);
    assert_eq!(Linux::futex_wake(ptr::without_provenance(1), 1), 0);
}
