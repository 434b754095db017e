//! Onces: one thread initializes, and the others wait for it.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_int;

use super::{PEER, pthread_once};
use crate::{LockInfo, Origin, Waiting};

/// What makes sure that an initialization runs once.
pub trait RawOnce: Sized + Send + Sync + 'static {
    /// The facts of this once.
    const INFO: LockInfo;

    /// One that has not run.
    fn new() -> Self;

    /// Runs `init` if no call has run before; returns when the first call's has ended. What that did is seen
    /// by this thread.
    fn call(&self, init: impl FnOnce());
}

/// What is to be done with every type of once; see [`Visitor`](crate::Visitor).
pub trait OnceVisitor {
    /// Called once for each.
    fn visit<O: RawOnce>(&mut self);
}

/// Shows every once to `visitor`.
pub fn for_each_once(visitor: &mut impl OnceVisitor) {
    visitor.visit::<ondeck::Once>();
    visitor.visit::<StdOnce>();
    visitor.visit::<ParkingLotOnce>();
    #[cfg(target_env = "gnu")]
    visitor.visit::<GlibcOnce>();
}

/// This project's own.
impl RawOnce for ondeck::Once {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_once",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        touches_after_release: false,
        source: "this project, ondeck::Once",
        teaches: "A call that comes later is one load, and the threads that wait for the first are in a table",
        ..PEER
    };

    fn new() -> Self {
        Self::new()
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        self.call_once(init);
    }
}

/// `std::sync::Once`.
#[derive(Debug)]
pub struct StdOnce(std::sync::Once);

impl RawOnce for StdOnce {
    const INFO: LockInfo = LockInfo {
        name: "std_once",
        source: "Rust's standard library, std::sync::Once",
        teaches: "A call that comes later is one load and one comparison",
        ..PEER
    };

    fn new() -> Self {
        Self(std::sync::Once::new())
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        self.0.call_once(init);
    }
}

/// `parking_lot::Once`.
#[derive(Debug)]
pub struct ParkingLotOnce(parking_lot::Once);

impl RawOnce for ParkingLotOnce {
    const INFO: LockInfo = LockInfo {
        name: "parking_lot_once",
        waiting: Waiting::SpinsThenSleeps,
        source: "The crate parking_lot 0.13, Once, by Amanieu d'Antras",
        teaches: "One byte, with the threads that wait for the first call in a table",
        ..PEER
    };

    fn new() -> Self {
        Self(parking_lot::Once::new())
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        self.0.call_once(init);
    }
}

/// `pthread_once_t` of the C library.
///
/// It runs a function without an argument. The closure reaches that function by a variable of the thread,
/// which each call here sets, so that a call costs one store more than in C.
#[cfg(target_env = "gnu")]
#[derive(Debug)]
pub struct GlibcOnce(UnsafeCell<c_int>);

// SAFETY: it is made to be used from many threads, and is reached only by its own function.
#[cfg(target_env = "gnu")]
unsafe impl Sync for GlibcOnce {}

thread_local! {
    /// What the initialization that may run next on this thread does.
    static INIT: Cell<Option<*mut dyn FnMut()>> = const { Cell::new(None) };
}

extern "C" fn run() {
    if let Some(init) = INIT.take() {
        // SAFETY: `call` has set it for this very call of `pthread_once`, and is borrowing the closure.
        unsafe { (*init)() };
    }
}

#[cfg(target_env = "gnu")]
impl RawOnce for GlibcOnce {
    const INFO: LockInfo = LockInfo {
        name: "glibc_once",
        source: "The GNU C library, pthread_once_t",
        teaches: "A call into the library for each call, and a futex that all waiters share",
        ..PEER
    };

    fn new() -> Self {
        // PTHREAD_ONCE_INIT.
        Self(UnsafeCell::new(0))
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        let mut init = Some(init);
        let mut run_once = || {
            if let Some(init) = init.take() {
                init();
            }
        };
        let closure: *mut (dyn FnMut() + '_) = &raw mut run_once;
        // SAFETY: only the lifetime changes. `run` uses the pointer before `pthread_once` returns, or it is
        // never used: the next call sets another before its own.
        #[expect(clippy::transmute_ptr_to_ptr, reason = "a cast cannot change a lifetime")]
        let closure: *mut (dyn FnMut() + 'static) = unsafe { std::mem::transmute(closure) };
        INIT.set(Some(closure));
        // SAFETY: the word was initialized as PTHREAD_ONCE_INIT is.
        let code = unsafe { pthread_once(self.0.get(), run) };
        assert_eq!(code, 0, "pthread_once");
    }
}
