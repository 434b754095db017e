//! The common part of mutexes written in C and C++: storage for the library's object, and C
//! functions.
//!
//! Each object begins with zeros, as in its library. C++ requires a call of the constructor, which
//! stores zeros and nothing else, and of the destructor, which reads marks of debug builds that are
//! not set. Moving the object, which C++ forbids, is sound while no thread has used it: it holds
//! zeros, and nothing points to it.

use std::cell::UnsafeCell;
use std::ffi::c_void;

/// The storage of an object.
#[derive(Debug)]
pub(in crate::peers) struct Storage<T>(UnsafeCell<T>);

// SAFETY: each object is made to be used from many threads, and is reached only by its own
// functions.
unsafe impl<T> Send for Storage<T> {}
// SAFETY: as for `Send`.
unsafe impl<T> Sync for Storage<T> {}

impl<T> Storage<T> {
    pub(in crate::peers) fn new(zeros: T) -> Self {
        Self(UnsafeCell::new(zeros))
    }

    #[inline(always)]
    pub(in crate::peers) fn pointer(&self) -> *mut c_void {
        self.0.get().cast()
    }

    pub(in crate::peers) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

/// Implements `RawLock` for a mutex, and `RawCondvar` for its condition variable if it has one. The
/// C functions take pointers to the storage, which has the size and alignment of the object: the
/// shim asserts that.
macro_rules! cpp_mutex {
    (
        $(#[$doc:meta])*
        $Lock:ident($Type:ty = $zeros:expr) {
            lock: $lock:ident, $try_lock:ident, $unlock:ident;
            $(prepare: $prepare:expr,)?
            info: LockInfo { $($fact:tt)* },
        }
        $(
            $(#[$condvar_doc:meta])*
            $Condvar:ident { wait: $wait:ident, one: $one:ident, all: $all:ident }
        )?
    ) => {
        unsafe extern "C" {
            fn $lock(mutex: *mut c_void);
            fn $try_lock(mutex: *mut c_void) -> c_int;
            fn $unlock(mutex: *mut c_void);
            $(
                fn $wait(condvar: *mut c_void, mutex: *mut c_void);
                fn $one(condvar: *mut c_void);
                fn $all(condvar: *mut c_void);
            )?
        }

        $(#[$doc])*
        // SAFETY, as a lock: in its exclusive mode it is a mutex.
        #[derive(Debug)]
        pub struct $Lock(Storage<$Type>);

        raw_lock! {
            unsafe impl RawLock<Native> for $Lock {
                INFO: LockInfo { origin: Origin::Peer, waiting: Waiting::SpinsThenSleeps, $($fact)* },
                $(Condvar: $Condvar,)?
                new: {
                    $($prepare;)?
                    Self(Storage::new($zeros))
                },
                // SAFETY: zeros are an unlocked mutex, which this thread does not hold.
                lock: |this, ()| unsafe { $lock(this.0.pointer()) },
                // SAFETY: as in `lock`.
                try_lock: |this, ()| unsafe { $try_lock(this.0.pointer()) != 0 },
                // SAFETY: the mutex is held by this thread.
                unlock: |this, ()| unsafe { $unlock(this.0.pointer()) },
                is_idle: |this| *this.0.get_mut() == $zeros,
            }
        }

        $(
            $(#[$condvar_doc])*
            // SAFETY, as a condition variable: it is one for this mutex.
            #[derive(Debug)]
            pub struct $Condvar(Storage<$Type>);

            raw_condvar! {
                unsafe impl RawCondvar<Native, $Lock> for $Condvar {
                    new: Self(Storage::new($zeros)),
                    // SAFETY: both are initialized, and the mutex is held by this thread.
                    wait: |this, lock, ()| unsafe { $wait(this.0.pointer(), lock.0.pointer()) },
                    // SAFETY: the condition variable is initialized.
                    notify_one: |this| unsafe { $one(this.0.pointer()) },
                    // SAFETY: as above.
                    notify_all: |this| unsafe { $all(this.0.pointer()) },
                }
            }
        )?
    };
}
pub(super) use cpp_mutex;
