//! A closure that waits for its own once: told in builds with debug assertions.
//!
//! Each thread keeps a short list of the onces whose closures it runs. Beyond its end a thread goes
//! unchecked. Other platforms are not checked: their threads may share a thread of the machine.

use crate::platform::Host;

#[cfg(debug_assertions)]
pub(super) use listed::{begins, check, ends};
#[cfg(not(debug_assertions))]
pub(super) use unchecked::{begins, check, ends};

#[cfg(debug_assertions)]
mod listed {
    extern crate std;

    use core::any::TypeId;
    use core::cell::Cell;

    use super::Host;
    use crate::platform::Native;

    std::thread_local! {
        /// Addresses; 0 where there is none. Constant and without a destructor.
        static RUNNING: Cell<[usize; 8]> = const { Cell::new([0; 8]) };
    }

    fn replace<P: Host>(old: usize, new: usize) {
        if TypeId::of::<P>() == TypeId::of::<Native>() {
            let mut list = RUNNING.get();
            if let Some(place) = list.iter_mut().find(|place| **place == old) {
                *place = new;
                RUNNING.set(list);
            }
        }
    }

    pub(in crate::once) fn begins<P: Host>(key: usize) {
        replace::<P>(0, key);
    }

    pub(in crate::once) fn ends<P: Host>(key: usize) {
        replace::<P>(key, 0);
    }

    /// The calling thread is about to wait for the thread that runs a closure.
    pub(in crate::once) fn check<P: Host>(key: usize) {
        assert!(
            TypeId::of::<P>() != TypeId::of::<Native>() || !RUNNING.get().contains(&key),
            "deadlock: the closure of a `Once` waits for the same `Once`, {key:#x}"
        );
    }
}

#[cfg(not(debug_assertions))]
mod unchecked {
    use super::Host;

    #[inline(always)]
    pub(in crate::once) fn begins<P: Host>(_: usize) {}

    #[inline(always)]
    pub(in crate::once) fn ends<P: Host>(_: usize) {}

    #[inline(always)]
    pub(in crate::once) fn check<P: Host>(_: usize) {}
}
