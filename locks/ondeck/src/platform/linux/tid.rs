//! The kernel's number of the calling thread, for the words of locks with owners that the kernel
//! knows.
//!
//! Each thread asks once, and remembers. The thread that a fork copies has another number in the
//! child, so a remembered number is valid for one process: next to the number is the process's
//! epoch. The epoch is in a page that the kernel wipes in children (`MADV_WIPEONFORK`), like the
//! parking table: a child finds 0 there, and takes the next epoch.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::quietly;
use crate::platform::native::thread::Word;

/// The page; null while no thread has asked, or if the kernel refuses to map one.
static PAGE: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

/// The last epoch that this process or one of its ancestors has taken.
static LAST: AtomicU32 = AtomicU32::new(0);

/// See [`Native::tid`](super::Native::tid).
#[inline]
pub(super) fn of_caller() -> u32 {
    let known = Word::Tid.get();
    // SAFETY: null, or the page, which is never unmapped.
    let epoch = unsafe { PAGE.load(Ordering::Acquire).as_ref() };
    // Relaxed: if the epoch is the one that this thread remembers, so is the process.
    let epoch = epoch.map_or(0, |epoch| epoch.load(Ordering::Relaxed));
    if epoch != 0 && known >> u32::BITS == u64::from(epoch) { known as u32 } else { ask() }
}

#[cold]
fn ask() -> u32 {
    // SAFETY: gettid has no preconditions.
    let number = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
    // A child's thread may have no list, or another.
    Word::RobustList.set(0);
    // SAFETY: as above.
    if let Some(epoch) = unsafe { page().as_ref() } {
        if epoch.load(Ordering::Relaxed) == 0 {
            let next = LAST.fetch_add(1, Ordering::Relaxed) + 1;
            // Another thread of the same child may have taken one.
            let _ = epoch.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed);
        }
        let epoch = epoch.load(Ordering::Relaxed);
        Word::Tid.set(u64::from(epoch) << u32::BITS | u64::from(number));
    }
    number
}

/// Returns the page, and maps it if it is not there yet; null if the kernel refuses. In that case
/// all threads ask each time.
fn page() -> *const AtomicU32 {
    let before = PAGE.load(Ordering::Acquire);
    if !before.is_null() {
        return before;
    }
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let size = size_of::<AtomicU32>();
    // SAFETY: a new mapping, which replaces no other.
    let map = || unsafe { libc::mmap(ptr::null_mut(), size, access, kind, -1, 0) };
    let (page, _) = quietly(map);
    if page == libc::MAP_FAILED {
        return ptr::null();
    }
    // SAFETY: only this function knows the mapping.
    let advise = || unsafe { libc::madvise(page, size, libc::MADV_WIPEONFORK) };
    let wiped = quietly(advise).0 == 0;
    let first = wiped
        .then(|| PAGE.compare_exchange(before, page.cast(), Ordering::AcqRel, Ordering::Acquire));
    match first {
        Some(Ok(_)) => page.cast_const().cast(),
        other => {
            // SAFETY: no other thread has seen it.
            quietly(|| unsafe { libc::munmap(page, size) });
            other.and_then(Result::err).unwrap_or(ptr::null_mut())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_number_that_the_kernel_says() {
        extern crate std;
        let asked = || {
            // SAFETY: gettid has no preconditions.
            let number = unsafe { libc::gettid() }.cast_unsigned();
            assert_eq!([of_caller(), of_caller()], [number, number]);
            number
        };
        assert_ne!(std::thread::spawn(asked).join().unwrap(), asked());
    }
}
