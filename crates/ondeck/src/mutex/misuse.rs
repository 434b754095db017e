//! Misuse that a debug build reports: a thread locks a mutex that it holds, or unlocks one that is free.
//!
//! Dropping a locked mutex is no misuse: safe code may forget a guard, and the mutex then stays locked.
//!
//! One byte has no room for an owner, so each thread keeps a list of what it holds. It is short and
//! of fixed size: a thread that holds more at once goes unchecked for the rest. Without debug
//! assertions everything here is empty.
//!
//! A mutex may be unlocked by another thread than the one that locked it only through unsafe code
//! (guards cannot be sent); the list of the one that locked it is then wrong. That is found when the
//! address is next locked by it: what is listed but not locked any more is no misuse.

#[cfg(debug_assertions)]
pub(super) use listed::{before_lock, before_unlock, locked};
#[cfg(not(debug_assertions))]
pub(super) use unchecked::{before_lock, before_unlock, locked};

#[cfg(any(debug_assertions, feature = "deadlock_detection"))]
impl<P: crate::platform::Host> Drop for super::RawMutex<P> {
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        listed::dropped(self.address());
        #[cfg(feature = "deadlock_detection")]
        crate::watch::ends::<P>(self.address());
    }
}

#[cfg(debug_assertions)]
mod listed {
    extern crate std;

    use core::cell::Cell;

    use crate::mutex::RawMutex;
    use crate::platform::Native;

    const MOST: usize = 16;

    std::thread_local! {
        /// Addresses of the mutexes that this thread holds; 0 where there is none. Constant and
        /// without a destructor, so that locks work in destructors of others.
        static HELD: Cell<[usize; MOST]> = const { Cell::new([0; MOST]) };
    }

    /// Replaces one `old` of the list by `new`.
    fn replace(old: usize, new: usize) {
        HELD.with(|held| {
            let mut list = held.get();
            if let Some(place) = list.iter_mut().find(|place| **place == old) {
                *place = new;
                held.set(list);
            }
        });
    }

    #[track_caller]
    pub(in crate::mutex) fn before_lock(mutex: &RawMutex<Native>) {
        if HELD.with(|held| held.get().contains(&mutex.address())) {
            assert!(
                !mutex.is_locked(),
                "deadlock: this thread locks a mutex that it holds, {:#x}",
                mutex.address()
            );
            replace(mutex.address(), 0);
        }
    }

    pub(in crate::mutex) fn locked(mutex: &RawMutex<Native>) {
        replace(0, mutex.address());
    }

    #[track_caller]
    pub(in crate::mutex) fn before_unlock(mutex: &RawMutex<Native>) {
        assert!(
            mutex.is_locked(),
            "misuse: unlock of a mutex that is not locked, {:#x}",
            mutex.address()
        );
        replace(mutex.address(), 0);
    }

    /// A thread that has forgotten a guard does not hold what comes to be at the same address.
    pub(super) fn dropped(address: usize) {
        replace(address, 0);
    }
}

#[cfg(not(debug_assertions))]
mod unchecked {
    use crate::mutex::RawMutex;
    use crate::platform::Native;

    #[inline(always)]
    pub(in crate::mutex) fn before_lock(_: &RawMutex<Native>) {}

    #[inline(always)]
    pub(in crate::mutex) fn locked(_: &RawMutex<Native>) {}

    #[inline(always)]
    pub(in crate::mutex) fn before_unlock(_: &RawMutex<Native>) {}
}
