//! The zoo's locks behind one opaque type, for experiments.
//!
//! A lock of the zoo is a type of Rust, of any size. Here it is on the heap, and its functions are
//! called by pointers: a pair costs some nanoseconds more than the lock does. Locks of other
//! libraries are left out, because C can call those itself.
//!
//! # Contexts
//!
//! A queue lock wants a node of each thread that waits ([`RawLock::Context`]), which functions of C
//! do not bring. A thread takes one of its own spare ones, makes one if it has none, and leaves it
//! in the lock's object once it owns the lock. Its unlock finds it there.

use core::cell::{Cell, RefCell};
use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use std::any::Any;
use std::ffi::CString;
use std::sync::OnceLock;

use ondeck::platform::Native;
use ondeck_zoo::locks::for_each_hosted;
use ondeck_zoo::{RawLock, Visitor};

use crate::errno;

/// A lock of the zoo.
pub struct ZooLock(Box<dyn AnyLock>);

trait AnyLock: Send + Sync {
    fn lock(&self);
    /// None if this lock has no such attempt.
    fn try_lock(&self) -> Option<bool>;
    /// # Safety
    ///
    /// The calling thread owns the lock.
    unsafe fn unlock(&self);
}

/// A lock, and the context of its owner.
struct Kept<L: RawLock<Native>> {
    lock: L,
    /// Null while it is free. Only the owner accesses it, after its lock and before its unlock.
    context: Cell<*mut L::Context>,
}

// SAFETY: the lock is `Sync`. The context is accessed by the owner only, and a lock hands it from
// one to the next.
unsafe impl<L: RawLock<Native>> Sync for Kept<L> {}
// SAFETY: a context is left here only while the lock is owned, and then the object does not move.
unsafe impl<L: RawLock<Native>> Send for Kept<L> {}

impl<L: RawLock<Native>> Kept<L> {
    fn new() -> Self {
        Self { lock: L::new(), context: Cell::new(ptr::null_mut()) }
    }
}

impl<L: RawLock<Native>> AnyLock for Kept<L> {
    fn lock(&self) {
        let context = take_spare::<L::Context>();
        // SAFETY: no other acquisition has it, and it stays on the heap until the unlock.
        unsafe { self.lock.lock(&context) };
        self.context.set(Box::into_raw(context));
    }

    fn try_lock(&self) -> Option<bool> {
        if !L::INFO.has_try_lock {
            return None;
        }
        let context = take_spare::<L::Context>();
        // SAFETY: as in `lock`.
        let owner = unsafe { self.lock.try_lock(&context) };
        if owner {
            self.context.set(Box::into_raw(context));
        } else {
            keep_spare(context);
        }
        Some(owner)
    }

    unsafe fn unlock(&self) {
        let context = self.context.replace(ptr::null_mut());
        // SAFETY: the owner's, which left it here when it locked, from a box.
        let context = unsafe { Box::from_raw(context) };
        // SAFETY: the caller owns the lock, by this context.
        unsafe { self.lock.unlock(&context) };
        keep_spare(context);
    }
}

thread_local! {
    /// Contexts of this thread that serve no acquisition, of all types.
    static SPARE: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// A context of this thread; a new one if it has no spare one, or if the thread is ending.
#[allow(clippy::unnecessary_box_returns, reason = "the lock points to it where it is")]
fn take_spare<C: Default + 'static>() -> Box<C> {
    if size_of::<C>() == 0 {
        // Nothing is allocated for these.
        return Box::default();
    }
    let found = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let place = spare.iter().rposition(|context| context.is::<C>())?;
        spare.swap_remove(place).downcast::<C>().ok()
    });
    found.ok().flatten().unwrap_or_default()
}

fn keep_spare<C: Default + 'static>(context: Box<C>) {
    if size_of::<C>() != 0 {
        // A thread that is ending has no place for it, and frees it.
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push(context));
    }
}

/// Finds the lock of a name, and makes one.
struct Find<'a> {
    name: &'a CStr,
    found: Option<Box<dyn AnyLock>>,
}

impl Visitor<Native> for Find<'_> {
    fn visit<L: RawLock<Native>>(&mut self) {
        if self.name.to_bytes() == L::INFO.name.as_bytes() {
            self.found = Some(Box::new(Kept::<L>::new()));
        }
    }
}

struct Names(Vec<CString>);

impl Visitor<Native> for Names {
    fn visit<L: RawLock<Native>>(&mut self) {
        self.0.extend(CString::new(L::INFO.name));
    }
}

fn names() -> &'static [CString] {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = Names(Vec::new());
        for_each_hosted::<Native>(&mut names);
        names.0
    })
}

/// The name of the zoo's lock number `index`, from 0; NULL if there are no more.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_zoo_name(index: usize) -> *const c_char {
    names().get(index).map_or(ptr::null(), |name| name.as_ptr())
}

/// Makes a free lock of the zoo: the one of this name, one of `ondeck_zoo_name`. NULL with errno
/// EINVAL if there is none of this name. It is freed by `ondeck_zoo_lock_free`.
///
/// These are for experiments: a queue lock allocates in the first lock of a thread, and if there is
/// no memory the process is aborted.
///
/// # Safety
///
/// `name` points to a string that ends with a zero, or is NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_zoo_lock_new(name: *const c_char) -> *mut ZooLock {
    if !name.is_null() {
        // SAFETY: as the caller promises.
        let mut find = Find { name: unsafe { CStr::from_ptr(name) }, found: None };
        for_each_hosted::<Native>(&mut find);
        if let Some(lock) = find.found {
            return Box::into_raw(Box::new(ZooLock(lock)));
        }
    }
    errno::set(libc::EINVAL);
    ptr::null_mut()
}

/// Frees a lock of the zoo. NULL is no lock, and allowed.
///
/// # Safety
///
/// `lock` is NULL, or is of `ondeck_zoo_lock_new` and no thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_zoo_lock_free(lock: *mut ZooLock) {
    if !lock.is_null() {
        // SAFETY: as the caller promises, it is of `ondeck_zoo_lock_new`, from a box.
        drop(unsafe { Box::from_raw(lock) });
    }
}

/// Waits until the lock is the calling thread's. Returns 0, always.
///
/// # Safety
///
/// `lock` is of `ondeck_zoo_lock_new`, and the calling thread has not locked it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_zoo_lock_lock(lock: *mut ZooLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { &*lock };
    errno::keep(|| lock.0.lock());
    0
}

/// Locks it if it is free. Returns 0; EBUSY if it is not, or if another thread is just locking or
/// unlocking it; or ENOTSUP if this lock has no such attempt.
///
/// # Safety
///
/// As for `ondeck_zoo_lock_lock`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_zoo_lock_trylock(lock: *mut ZooLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { &*lock };
    match errno::keep(|| lock.0.try_lock()) {
        Some(true) => 0,
        Some(false) => libc::EBUSY,
        None => libc::ENOTSUP,
    }
}

/// Unlocks it. Returns 0, always. Some locks of the zoo touch their memory after another thread can
/// have locked them: see that every thread has returned from its unlock before the lock is freed.
///
/// # Safety
///
/// `lock` is of `ondeck_zoo_lock_new`, and the calling thread has locked it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_zoo_lock_unlock(lock: *mut ZooLock) -> c_int {
    // SAFETY: as the caller promises.
    let lock = unsafe { &*lock };
    // SAFETY: as the caller promises.
    errno::keep(|| unsafe { lock.0.unlock() });
    0
}
