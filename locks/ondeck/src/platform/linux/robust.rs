//! The list of locks that the kernel walks when a thread ends: `set_robust_list`.
//!
//! Each thread has one such list, and the C library has registered it, for its own robust mutexes.
//! So a lock of another library does not register a list but joins that one, by its layout. It is
//! glibc's layout, which is part of its binary interface, because processes with different versions
//! of it share mutexes.
//!
//! ```text
//! offset   0  the futex word          `head.offset` is -32: from a node's `next` to its word
//!         24  prev                    the address of the `next` of the neighbour towards the head
//!         32  next                    the address of the `next` of the neighbour away from the head;
//!                                     bit 0: that one inherits priorities
//! head     -8 prev   0 next   8 offset   16 pending
//! ```
//!
//! The kernel marks the word of each lock in the list that has the thread's number. It also marks
//! the word of `pending`, which is set while a lock is acquired or unlocked. Only the thread itself
//! changes its list, and the kernel reads it when that thread is gone. So only the order of the
//! thread's own accesses matters, and compiler fences suffice.
//!
//! If the list has another layout (musl's offset is -28), or is not registered (a child of the bare
//! system call), locks work, but no thread receives the report that an owner ended.

use core::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

use super::quietly;
use crate::platform::native::thread::Word;

/// The distance from a node's `next` to the futex word.
const OFFSET: isize = -32;

/// The head of a thread's list, as the kernel knows it.
#[repr(C)]
struct Head {
    next: AtomicUsize,
    offset: isize,
    pending: AtomicUsize,
}

/// The place of a lock in the list of its owner, 24 bytes after its word.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Links {
    prev: AtomicUsize,
    next: AtomicUsize,
}

impl Links {
    pub(crate) const fn new() -> Self {
        Self { prev: AtomicUsize::new(0), next: AtomicUsize::new(0) }
    }

    /// Returns the address that represents this lock in a list.
    fn place(&self) -> usize {
        (&raw const self.next).expose_provenance()
    }
}

/// The calling thread's list, if it is there and has the layout above.
#[derive(Clone, Copy)]
pub(crate) struct RobustList(Option<&'static Head>);

impl RobustList {
    /// Returns the list of the calling thread.
    #[inline]
    pub(crate) fn of_caller() -> Self {
        /// The thread has no list.
        const NONE: u64 = 1;
        let known = match Word::RobustList.get() {
            0 => {
                let found =
                    find().map_or(NONE, |head| (&raw const *head).expose_provenance() as u64);
                Word::RobustList.set(found);
                found
            }
            known => known,
        };
        if known == NONE {
            return Self(None);
        }
        // SAFETY: the C library's, in the thread's own block, where it stays while the thread
        // lives.
        Self(Some(unsafe { &*core::ptr::with_exposed_provenance(known as usize) }))
    }

    /// Returns whether there is a list.
    pub(crate) fn is_there(self) -> bool {
        self.0.is_some()
    }

    /// Marks a lock as pending: the calling thread is about to acquire or unlock it. If the thread
    /// ends before [`end`](Self::end), the kernel checks that lock.
    #[inline]
    pub(crate) fn begin(self, links: &Links) {
        if let Some(head) = self.0 {
            head.pending.store(links.place(), Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
        }
    }

    /// Clears the mark of [`begin`](Self::begin).
    #[inline]
    pub(crate) fn end(self) {
        if let Some(head) = self.0 {
            compiler_fence(Ordering::SeqCst);
            head.pending.store(0, Ordering::Relaxed);
        }
    }

    /// Links a lock that the calling thread has acquired.
    ///
    /// # Safety
    ///
    /// It is in no list, and is not moved until it is unlinked.
    #[inline]
    pub(crate) unsafe fn link(self, links: &Links) {
        let Some(head) = self.0 else { return };
        let (first, own) = (head.next.load(Ordering::Relaxed), links.place());
        links.next.store(first, Ordering::Relaxed);
        links.prev.store((&raw const head.next).expose_provenance(), Ordering::Relaxed);
        // SAFETY: the first of the list, or the head, which also has such a word before it.
        unsafe { prev_of(first) }.store(own, Ordering::Relaxed);
        // From here on the kernel finds this lock and all later ones.
        compiler_fence(Ordering::SeqCst);
        head.next.store(own, Ordering::Relaxed);
    }

    /// Unlinks a lock that the calling thread is about to unlock.
    ///
    /// # Safety
    ///
    /// The calling thread has linked it.
    #[inline]
    pub(crate) unsafe fn unlink(self, links: &Links) {
        if self.0.is_none() {
            return;
        }
        let next = links.next.load(Ordering::Relaxed);
        let prev = links.prev.load(Ordering::Relaxed);
        // SAFETY: the neighbours are locks that the thread owns, or the head.
        unsafe {
            prev_of(next).store(prev, Ordering::Relaxed);
            next_at(prev).store(next, Ordering::Relaxed);
        }
        compiler_fence(Ordering::SeqCst);
    }
}

/// Returns the `prev` of the node with its `next` at this place.
///
/// # Safety
///
/// The place is in a list.
unsafe fn prev_of<'a>(place: usize) -> &'a AtomicUsize {
    // SAFETY: it is the word right before.
    unsafe { next_at(place - size_of::<usize>()) }
}

/// Returns the word at this place. The bit of a lock that inherits priorities is ignored.
///
/// # Safety
///
/// As for `prev_of`.
unsafe fn next_at<'a>(place: usize) -> &'a AtomicUsize {
    /// See the top.
    const INHERITS: usize = 1;
    // SAFETY: a word of a lock that the thread owns, or of its own block.
    unsafe { &*core::ptr::with_exposed_provenance(place & !INHERITS) }
}

/// Asks the kernel for the calling thread's list.
#[cold]
fn find() -> Option<&'static Head> {
    const CALLER: libc::pid_t = 0;
    if cfg!(miri) {
        return None;
    }
    let mut head: *const Head = core::ptr::null();
    let mut length = 0_usize;
    // SAFETY: writes two live values.
    let ask = || unsafe {
        libc::syscall(libc::SYS_get_robust_list, CALLER, &raw mut head, &raw mut length)
    };
    let (result, _) = quietly(ask);
    if result != 0 {
        return None;
    }
    // SAFETY: null, or the head that the C library has registered.
    unsafe { head.as_ref() }.filter(|head| length == size_of::<Head>() && head.offset == OFFSET)
}
