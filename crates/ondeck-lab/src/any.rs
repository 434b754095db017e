//! A mutex of any type, called through pointers to its functions.
//!
//! Workloads that time single pairs are compiled for each lock, so that the lock's fast path is inlined into their
//! loop. In all other workloads a pair is a small part of an operation, and a call through a pointer costs the same
//! one or two nanoseconds for every lock; these workloads are compiled once.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use ondeck::platform::Platform;
use ondeck_zoo::{LockInfo, RawCondvar, RawLock};

/// The functions of a type of mutex on a platform.
pub type AnyMutex<P> = &'static dyn Calls<P>;

/// The functions of the mutex `L`.
pub fn any<P: Platform, L: RawLock<P>>() -> AnyMutex<P> {
    const { &Typed::<L>(PhantomData) }
}

/// The sizes of a mutex, of its condition variable and of its context.
#[derive(Clone, Copy, Debug)]
pub struct Layouts {
    /// The mutex.
    pub lock: Layout,
    /// Its condition variable.
    pub condvar: Layout,
    /// What a thread brings to an acquisition.
    pub context: Layout,
}

/// The functions of a type of mutex, of its condition variable and of its context. Addresses point to values of
/// these types, aligned as [`layouts`](Self::layouts) requires.
///
/// # Safety
///
/// Callers rely on the layouts and on the lock: the functions are those of the one [`RawLock`] that `of` names.
pub unsafe trait Calls<P: Platform>: Send + Sync {
    /// The facts of the lock.
    fn info(&self) -> LockInfo;

    /// The type of the lock.
    fn of(&self) -> TypeId;

    /// Whether its owner may lock it again.
    fn is_reentrant(&self) -> bool;

    /// The sizes of the values.
    fn layouts(&self) -> Layouts;

    /// Makes an unlocked mutex at that address.
    ///
    /// # Safety
    ///
    /// The memory is unused, and stays valid for as long as the value exists.
    unsafe fn make_lock(&self, lock: *mut u8);

    /// Makes a condition variable at that address.
    ///
    /// # Safety
    ///
    /// As for [`make_lock`](Self::make_lock).
    unsafe fn make_condvar(&self, condvar: *mut u8);

    /// Makes a context at that address.
    ///
    /// # Safety
    ///
    /// As for [`make_lock`](Self::make_lock).
    unsafe fn make_context(&self, context: *mut u8);

    /// Drops a mutex.
    ///
    /// # Safety
    ///
    /// The mutex exists, and nothing uses it any more.
    unsafe fn drop_lock(&self, lock: *mut u8);

    /// Drops a condition variable.
    ///
    /// # Safety
    ///
    /// As for [`drop_lock`](Self::drop_lock).
    unsafe fn drop_condvar(&self, condvar: *mut u8);

    /// Drops a context.
    ///
    /// # Safety
    ///
    /// As for [`drop_lock`](Self::drop_lock).
    unsafe fn drop_context(&self, context: *mut u8);

    /// [`RawLock::lock`].
    ///
    /// # Safety
    ///
    /// As for [`RawLock::lock`]; both values exist.
    unsafe fn lock(&self, lock: *const u8, context: *const u8);

    /// [`RawLock::unlock`].
    ///
    /// # Safety
    ///
    /// As for [`RawLock::unlock`]; both values exist.
    unsafe fn unlock(&self, lock: *const u8, context: *const u8);

    /// [`RawCondvar::wait`].
    ///
    /// # Safety
    ///
    /// As for [`RawCondvar::wait`]; all three values exist.
    unsafe fn wait(&self, condvar: *const u8, lock: *const u8, context: *const u8);

    /// [`RawCondvar::notify_one`].
    ///
    /// # Safety
    ///
    /// The condition variable exists.
    unsafe fn notify_one(&self, condvar: *const u8);

    /// [`RawCondvar::notify_all`].
    ///
    /// # Safety
    ///
    /// The condition variable exists.
    unsafe fn notify_all(&self, condvar: *const u8);
}

impl<P: Platform> fmt::Debug for dyn Calls<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.info().name)
    }
}

/// The functions of `L`.
struct Typed<L>(PhantomData<fn() -> L>);

// SAFETY: all functions are those of `L`. In each, the caller promises that the values exist and have the types of this impl.
unsafe impl<P: Platform, L: RawLock<P>> Calls<P> for Typed<L> {
    fn info(&self) -> LockInfo {
        L::INFO
    }

    fn of(&self) -> TypeId {
        TypeId::of::<L>()
    }

    fn is_reentrant(&self) -> bool {
        L::IS_REENTRANT
    }

    fn layouts(&self) -> Layouts {
        Layouts {
            lock: Layout::new::<L>(),
            condvar: Layout::new::<L::Condvar>(),
            context: Layout::new::<L::Context>(),
        }
    }

    unsafe fn make_lock(&self, lock: *mut u8) {
        // SAFETY: the caller gives unused memory of the type's layout.
        unsafe { lock.cast::<L>().write(L::new()) }
    }

    unsafe fn make_condvar(&self, condvar: *mut u8) {
        // SAFETY: as above.
        unsafe { condvar.cast::<L::Condvar>().write(L::Condvar::new()) }
    }

    unsafe fn make_context(&self, context: *mut u8) {
        // SAFETY: as above.
        unsafe { context.cast::<L::Context>().write(L::Context::default()) }
    }

    unsafe fn drop_lock(&self, lock: *mut u8) {
        // SAFETY: the value exists, and nothing uses it any more.
        unsafe { lock.cast::<L>().drop_in_place() }
    }

    unsafe fn drop_condvar(&self, condvar: *mut u8) {
        // SAFETY: as above.
        unsafe { condvar.cast::<L::Condvar>().drop_in_place() }
    }

    unsafe fn drop_context(&self, context: *mut u8) {
        // SAFETY: as above.
        unsafe { context.cast::<L::Context>().drop_in_place() }
    }

    unsafe fn lock(&self, lock: *const u8, context: *const u8) {
        // SAFETY: the values exist; the caller promises what `lock` requires.
        unsafe { (*lock.cast::<L>()).lock(&*context.cast()) }
    }

    unsafe fn unlock(&self, lock: *const u8, context: *const u8) {
        // SAFETY: as above.
        unsafe { (*lock.cast::<L>()).unlock(&*context.cast()) }
    }

    unsafe fn wait(&self, condvar: *const u8, lock: *const u8, context: *const u8) {
        // SAFETY: as above.
        unsafe { (*condvar.cast::<L::Condvar>()).wait(&*lock.cast(), &*context.cast()) }
    }

    unsafe fn notify_one(&self, condvar: *const u8) {
        // SAFETY: the condition variable exists.
        unsafe { (*condvar.cast::<L::Condvar>()).notify_one() }
    }

    unsafe fn notify_all(&self, condvar: *const u8) {
        // SAFETY: as above.
        unsafe { (*condvar.cast::<L::Condvar>()).notify_all() }
    }
}

/// Memory that shares no cache line with other data.
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    /// Allocates memory for a value of that layout. Starts at an even line, because the adjacent-line prefetcher of x86
    /// fetches lines in pairs.
    pub(crate) fn of(layout: Layout) -> Self {
        let layout = layout.align_to(128).expect("a valid alignment").pad_to_align();
        // An allocator need not support an allocation of no bytes.
        let layout = Layout::from_size_align(layout.size().max(1), layout.align())
            .expect("the alignment is that of a valid layout");
        // SAFETY: the size is not 0.
        let start = unsafe { alloc(layout) };
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }

    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.layout.size());
        // SAFETY: the offset is within the allocation.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// What a thread brings to acquisitions, one at a time.
pub struct Context<P: Platform> {
    calls: AnyMutex<P>,
    of: TypeId,
    memory: Memory,
}

impl<P: Platform> Context<P> {
    pub(crate) fn of(calls: AnyMutex<P>) -> Self {
        let memory = Memory::of(calls.layouts().context);
        // SAFETY: the memory is this context's own.
        unsafe { calls.make_context(memory.at(0)) };
        Self { calls, of: calls.of(), memory }
    }

    /// Its address, for acquisitions of mutexes of that type.
    ///
    /// # Panics
    ///
    /// If it is a context for mutexes of another type, whose functions would take its memory for something else.
    #[inline]
    pub(crate) fn address(&self, of: TypeId) -> *const u8 {
        assert!(self.of == of, "a context of another mutex");
        self.memory.at(0)
    }
}

impl<P: Platform> fmt::Debug for Context<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Context").field(&self.calls).finish()
    }
}

impl<P: Platform> Drop for Context<P> {
    fn drop(&mut self) {
        // SAFETY: it was made with this context, which nothing uses any more.
        unsafe { self.calls.drop_context(self.memory.at(0)) };
    }
}
