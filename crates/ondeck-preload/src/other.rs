//! `ONDECK_LOCK=NAME`: another lock in the place of ondeck's, for experiments.
//!
//! A lock of `ondeck-zoo` can be chosen if its state fits into what a mutex has left, if zeros are an unlocked
//! lock, if it has an attempt, and if it brings nothing to an acquisition that has to live until the unlock. The
//! state is in the first four bytes of the mutex, or in the eight bytes from 24 on.
//!
//! A deadline is kept by attempts with sleeps between them. Condition variables are ondeck's, with the mutex
//! unlocked and locked beside the wait. Some locks touch their memory after an unlock; a program that frees a
//! mutex as soon as it could lock it for the last time must not use those: `docs/preload.md` says which they are.

use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use core::time::Duration;

use ondeck::platform::{Linux, Platform, Timestamp};
use ondeck_zoo::{RawLock, Visitor, locks};

use crate::fatal;
use crate::object::Mutex;
use crate::thread::{self, CONTEXT_SIZE};

/// The functions of a lock.
pub(crate) struct Functions {
    lock: unsafe fn(*const Mutex),
    try_lock: unsafe fn(*const Mutex) -> bool,
    unlock: unsafe fn(*const Mutex),
}

static CHOSEN: AtomicPtr<Functions> = AtomicPtr::new(ptr::null_mut());

/// What `ONDECK_LOCK` asks for: true if it is another lock than ondeck's, which is chosen then. Ends the
/// process if there is no such lock.
pub(crate) fn choose() -> bool {
    let Some(name) = variable(c"ONDECK_LOCK") else { return false };
    if name.is_empty() || name == b"ondeck" {
        return false;
    }
    let mut search = Search { name, found: None };
    locks::for_each_portable::<Linux>(&mut search);
    let Some(functions) = search.found else { refuse(name) };
    CHOSEN.store(ptr::from_ref(functions).cast_mut(), Ordering::Release);
    true
}

/// The value of a variable of the environment; none before the C library has it.
fn variable(name: &CStr) -> Option<&'static [u8]> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the C library's variable: null, or a list that ends with a null pointer. It is read by the first
    // call of all, or by the constructor, before the program could change it.
    let mut entry = unsafe { environ };
    // SAFETY: as above.
    while let Some(text) = unsafe { entry.as_ref() }.filter(|text| !text.is_null()) {
        // SAFETY: each entry is a string, which stays where it is.
        let text = unsafe { CStr::from_ptr(*text) }.to_bytes();
        if let Some(value) =
            text.strip_prefix(name.to_bytes()).and_then(|rest| rest.strip_prefix(b"="))
        {
            return Some(value);
        }
        // SAFETY: this was not the end of the list.
        entry = unsafe { entry.add(1) };
    }
    None
}

fn refuse(name: &[u8]) -> ! {
    struct List;
    impl Visitor<Linux> for List {
        fn visit<L: RawLock<Linux>>(&mut self) {
            if fits::<L>() {
                fatal::write(", ");
                fatal::write(L::INFO.name);
            }
        }
    }
    fatal::write(fatal::NAME);
    fatal::write("ONDECK_LOCK=");
    fatal::write(core::str::from_utf8(name).unwrap_or("?"));
    fatal::write(" is no lock that fits into a pthread_mutex_t; there are ondeck");
    locks::for_each_portable::<Linux>(&mut List);
    fatal::write("\n");
    fatal::exit()
}

struct Search<'a> {
    name: &'a [u8],
    found: Option<&'static Functions>,
}

impl Visitor<Linux> for Search<'_> {
    fn visit<L: RawLock<Linux>>(&mut self) {
        if fits::<L>() && L::INFO.name.as_bytes() == self.name {
            self.found =
                Some(&Functions { lock: lock::<L>, try_lock: try_lock::<L>, unlock: unlock::<L> });
        }
    }
}

/// The one lock with a context that the shim can keep for it: Go's uses a thread's node only while that thread
/// waits, and a count in it at an unlock. So one node serves all acquisitions of a thread.
fn has_own_context(name: &str) -> bool {
    name == "go_spinbit"
}

fn fits<L: RawLock<Linux>>() -> bool {
    let has_room = match size_of::<L>() {
        0..=4 => align_of::<L>() <= 4,
        size => size <= 8 && align_of::<L>() <= 8,
    };
    let has_context = size_of::<L::Context>() == 0
        || has_own_context(L::INFO.name)
            && size_of::<L::Context>() <= CONTEXT_SIZE
            && align_of::<L::Context>() <= CONTEXT_SIZE;
    has_room && has_context && L::INFO.has_try_lock && is_zero::<L>()
}

/// Whether zeros are an unlocked lock.
fn is_zero<L: RawLock<Linux>>() -> bool {
    let mut bytes = [0_u64; 1];
    if size_of::<L>() > size_of_val(&bytes) {
        return false;
    }
    // SAFETY: it fits, and is forgotten; a lock is plain atomics.
    unsafe { bytes.as_mut_ptr().cast::<L>().write_unaligned(L::new()) };
    bytes == [0]
}

/// The lock in a mutex.
///
/// # Safety
///
/// It fits, and `mutex` points to a mutex.
unsafe fn state<'a, L: RawLock<Linux>>(mutex: *const Mutex) -> &'a L {
    let offset = if size_of::<L>() <= 4 { 0 } else { 24 };
    // SAFETY: as the caller promises; these bytes of a mutex are the lock's alone.
    unsafe { &*mutex.byte_add(offset).cast() }
}

/// The calling thread's context.
///
/// # Safety
///
/// The lock fits.
unsafe fn context<'a, L: RawLock<Linux>>() -> &'a L::Context {
    if size_of::<L::Context>() == 0 {
        // SAFETY: it has no bytes.
        return unsafe { ptr::NonNull::dangling().as_ref() };
    }
    // SAFETY: the calling thread's own bytes, which are large enough, and zeros are Go's context.
    unsafe { &*thread::context().cast() }
}

/// # Safety
///
/// As of [`RawLock::lock`], but for the context.
unsafe fn lock<L: RawLock<Linux>>(mutex: *const Mutex) {
    // SAFETY: as the caller promises; see `has_own_context`.
    unsafe { state::<L>(mutex).lock(context::<L>()) };
}

/// # Safety
///
/// As of [`RawLock::try_lock`], but for the context.
unsafe fn try_lock<L: RawLock<Linux>>(mutex: *const Mutex) -> bool {
    // SAFETY: as the caller promises; see `has_own_context`.
    unsafe { state::<L>(mutex).try_lock(context::<L>()) }
}

/// # Safety
///
/// As of [`RawLock::unlock`], but for the context.
unsafe fn unlock<L: RawLock<Linux>>(mutex: *const Mutex) {
    // SAFETY: as the caller promises; see `has_own_context`.
    unsafe { state::<L>(mutex).unlock(context::<L>()) };
}

impl Functions {
    /// The chosen lock's.
    ///
    /// # Safety
    ///
    /// One was chosen.
    pub(crate) unsafe fn chosen() -> &'static Self {
        // Acquire: pairs with the choice, perhaps another thread's.
        // SAFETY: as the caller promises.
        unsafe { &*CHOSEN.load(Ordering::Acquire) }
    }

    pub(crate) fn lock(&self, mutex: &Mutex) {
        // SAFETY: the calling thread does not own it, or waits for ever as with any plain mutex.
        unsafe { (self.lock)(mutex) };
    }

    pub(crate) fn try_lock(&self, mutex: &Mutex) -> bool {
        // SAFETY: as above.
        unsafe { (self.try_lock)(mutex) }
    }

    /// # Safety
    ///
    /// The calling thread owns the lock.
    pub(crate) unsafe fn unlock(&self, mutex: &Mutex) {
        // SAFETY: as the caller promises.
        unsafe { (self.unlock)(mutex) };
    }

    /// Attempts until the deadline, more and more rarely.
    pub(crate) fn try_lock_until(&self, mutex: &Mutex, deadline: Timestamp) -> bool {
        const LONGEST: Duration = Duration::from_millis(1);
        let mut pause = Duration::from_micros(20);
        while !self.try_lock(mutex) {
            let now = Linux::now();
            if now >= deadline {
                return false;
            }
            // No thread wakes it: every outcome means that the time is over, or a signal came.
            let _ = Linux::futex_wait(&AtomicU32::new(0), 0, Some(now.after(pause).min(deadline)));
            pause = (pause * 2).min(LONGEST);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    #[test]
    fn the_locks_that_fit_are_those_of_the_documentation() {
        struct Names(Vec<&'static str>, Vec<&'static str>);
        impl Visitor<Linux> for Names {
            fn visit<L: RawLock<Linux>>(&mut self) {
                if fits::<L>() {
                    self.0.push(L::INFO.name);
                    if L::INFO.touches_after_release {
                        self.1.push(L::INFO.name);
                    }
                }
            }
        }
        let mut names = Names(Vec::new(), Vec::new());
        locks::for_each_portable::<Linux>(&mut names);
        for name in ["three_state_futex", "go_spinbit", "ticket_mutex", "semaphore_mutex"] {
            assert!(names.0.contains(&name), "{name}");
        }
        for name in ["mcs", "clh", "anderson_array", "srw_list"] {
            assert!(!names.0.contains(&name), "{name}");
        }
        // docs/preload.md warns of these.
        names.1.sort_unstable();
        assert_eq!(
            names.1,
            [
                "go_spinbit",
                "lockless_four_state",
                "lockless_three_state",
                "ticket_mutex",
                "word_lock"
            ]
        );
    }

    #[test]
    fn each_thread_has_a_context_of_zeros() {
        let zeros = || {
            // SAFETY: the calling thread's own bytes.
            let bytes = unsafe { core::slice::from_raw_parts(thread::context(), CONTEXT_SIZE) };
            bytes.iter().all(|&byte| byte == 0)
                && thread::context().addr().is_multiple_of(CONTEXT_SIZE)
        };
        assert!(zeros());
        // SAFETY: as above.
        unsafe { thread::context().write(1) };
        assert!(!zeros());
        assert!(std::thread::spawn(zeros).join().unwrap());
    }
}
