//! A mutex of any type, called through pointers to its functions.
//!
//! Workloads that time single pairs are compiled for each lock, so that the lock's fast path is
//! inlined into their loop. In all other workloads a pair is a small part of an operation, and a
//! call through a pointer costs the same one or two nanoseconds for every lock; these workloads are
//! compiled once.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use ondeck::platform::Platform;
use ondeck_zoo::{LockInfo, RawCondvar, RawLock};

/// The functions of a type of mutex on a platform.
pub type AnyMutex<P> = &'static Calls<P>;

/// The functions of a type of mutex and of its condition variable. An address that a function
/// receives points to a value of the type in question; apart from that, a caller promises what the
/// function of the trait requires.
pub struct Calls<P: Platform> {
    /// The facts of the mutex.
    pub info: LockInfo,
    /// The type of the mutex, to which everything here belongs.
    pub(crate) of: TypeId,
    /// Whether its owner may lock it again.
    pub(crate) is_reentrant: bool,
    pub(crate) mutex: Values,
    pub(crate) condvar: Values,
    /// What a thread brings to an acquisition.
    pub(crate) context: Values,
    /// [`RawLock::lock`] of a mutex with a context.
    pub(crate) lock: unsafe fn(*const u8, *const u8),
    /// [`RawLock::unlock`] of a mutex with a context.
    pub(crate) unlock: unsafe fn(*const u8, *const u8),
    /// [`RawCondvar::wait`] of a condition variable with a mutex and a context.
    pub(crate) wait: unsafe fn(*const u8, *const u8, *const u8),
    /// [`RawCondvar::notify_one`].
    pub(crate) notify_one: unsafe fn(*const u8),
    /// [`RawCondvar::notify_all`].
    pub(crate) notify_all: unsafe fn(*const u8),
    platform: PhantomData<fn() -> P>,
}

/// How values of a type are made and dropped.
pub(crate) struct Values {
    pub(crate) layout: Layout,
    /// Makes one in unused memory of that layout, which stays valid for as long as the value
    /// exists.
    pub(crate) make: unsafe fn(*mut u8),
    /// Drops one that nothing uses any more.
    pub(crate) drop: unsafe fn(*mut u8),
}

impl Values {
    const fn of<T>(make: unsafe fn(*mut u8)) -> Self {
        // SAFETY: the caller promises that the value exists, and that nothing uses it any more.
        let drop = |value: *mut u8| unsafe { value.cast::<T>().drop_in_place() };
        Self { layout: Layout::new::<T>(), make, drop }
    }
}

/// The functions of the mutex `L`.
pub fn any<P: Platform, L: RawLock<P>>() -> AnyMutex<P> {
    const {
        &Calls {
            info: L::INFO,
            of: TypeId::of::<L>(),
            is_reentrant: L::IS_REENTRANT,
            // SAFETY: the caller gives unused memory of the type's layout.
            mutex: Values::of::<L>(|at| unsafe { at.cast::<L>().write(L::new()) }),
            condvar: Values::of::<L::Condvar>(|at| {
                // SAFETY: as above.
                unsafe { at.cast::<L::Condvar>().write(L::Condvar::new()) }
            }),
            context: Values::of::<L::Context>(|at| {
                // SAFETY: as above.
                unsafe { at.cast::<L::Context>().write(L::Context::default()) }
            }),
            // SAFETY: the values exist; the caller promises what `lock` requires.
            lock: |lock, context| unsafe { (*lock.cast::<L>()).lock(&*context.cast()) },
            // SAFETY: as above.
            unlock: |lock, context| unsafe { (*lock.cast::<L>()).unlock(&*context.cast()) },
            wait: |condvar, lock, context| {
                // SAFETY: as above.
                unsafe { (*condvar.cast::<L::Condvar>()).wait(&*lock.cast(), &*context.cast()) }
            },
            // SAFETY: the condition variable exists.
            notify_one: |condvar| unsafe { (*condvar.cast::<L::Condvar>()).notify_one() },
            // SAFETY: as above.
            notify_all: |condvar| unsafe { (*condvar.cast::<L::Condvar>()).notify_all() },
            platform: PhantomData,
        }
    }
}

impl<P: Platform> fmt::Debug for Calls<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.info.name)
    }
}

/// Memory that shares no cache line with other data.
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    /// Allocates memory for a value of that layout. Starts at an even line, because the
    /// adjacent-line prefetcher of x86 fetches lines in pairs.
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
    memory: Memory,
}

impl<P: Platform> Context<P> {
    pub(crate) fn of(calls: AnyMutex<P>) -> Self {
        let memory = Memory::of(calls.context.layout);
        // SAFETY: the memory is this context's own.
        unsafe { (calls.context.make)(memory.at(0)) };
        Self { calls, memory }
    }

    /// Its address, for acquisitions of mutexes of that type.
    ///
    /// # Panics
    ///
    /// If it is a context for mutexes of another type, whose functions would take its memory for
    /// something else.
    #[inline]
    pub(crate) fn address(&self, of: TypeId) -> *const u8 {
        assert!(self.calls.of == of, "a context of another mutex");
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
        unsafe { (self.calls.context.drop)(self.memory.at(0)) };
    }
}
