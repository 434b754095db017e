//! What runs once.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::fmt;
use core::ops::Deref;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};

use super::monitor::Monitor;
use super::std;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    New,
    Poisoned,
    InProgress,
    Done,
}

impl OnceState {
    pub fn poisoned(self) -> bool {
        self == Self::Poisoned
    }

    pub fn is_poisoned(self) -> bool {
        self.poisoned()
    }

    pub fn done(self) -> bool {
        self == Self::Done
    }
}

pub struct Once(Monitor<OnceState>);

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl Once {
    pub const fn new() -> Self {
        Self(Monitor::new(OnceState::New))
    }

    pub const fn named(_: &'static CStr) -> Self {
        Self::new()
    }

    pub const fn new_completed() -> Self {
        Self(Monitor::new(OnceState::Done))
    }

    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, closure: F) {
        self.call(|state| {
            assert!(!state.poisoned(), "a `Once` is poisoned: the closure that ran last panicked");
            closure();
        });
    }

    #[track_caller]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, closure: F) {
        self.call(closure);
    }

    /// A panic of the closure poisons; that of `call_once` leaves it poisoned.
    #[track_caller]
    fn call(&self, closure: impl FnOnce(OnceState)) {
        let before = self.0.take(|state| match *state {
            OnceState::InProgress => None,
            OnceState::Done => Some(OnceState::Done),
            before => {
                *state = OnceState::InProgress;
                Some(before)
            }
        });
        if before.done() {
            return;
        }
        let result = catch_unwind(AssertUnwindSafe(|| closure(before)));
        let after = if result.is_ok() { OnceState::Done } else { OnceState::Poisoned };
        self.0.change(|state| *state = after);
        result.unwrap_or_else(|panic| resume_unwind(panic));
    }

    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.state().done()
    }

    #[track_caller]
    pub fn state(&self) -> OnceState {
        self.0.read(|state| *state)
    }

    #[track_caller]
    pub fn wait(&self) {
        self.0.wait(|state| {
            assert!(!state.poisoned(), "a `Once` is poisoned: the closure that ran last panicked");
            state.done()
        });
    }

    #[track_caller]
    pub fn wait_force(&self) {
        self.0.wait(|state| state.done());
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Once { .. }")
    }
}

pub struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by the thread in the closure of the once, and read after that.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub const fn new() -> Self {
        Self { once: Once::new(), value: UnsafeCell::new(None) }
    }

    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: no thread writes the value any more.
        if self.once.is_completed() { unsafe { &*self.value.get() }.as_ref() } else { None }
    }

    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// # Errors
    ///
    /// With the value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it runs once"));
        value.map_or(Ok(()), Err)
    }

    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, init: F) -> &T {
        self.once.call_once_force(|_| {
            let value = init();
            // SAFETY: no other thread is in a closure of the once, and none reads before it is
            // done.
            unsafe { *self.value.get() = Some(value) };
        });
        // SAFETY: the once is done.
        unsafe { &*self.value.get() }.as_ref().expect("it is done")
    }

    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait_force();
        // SAFETY: the once is done.
        unsafe { &*self.value.get() }.as_ref().expect("it is done")
    }

    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    pub fn take(&mut self) -> Option<T> {
        core::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        Self { once: Once::new_completed(), value: UnsafeCell::new(Some(value)) }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceLock").field(&self.get()).finish()
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    init: std::sync::Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    pub const fn new(init: F) -> Self {
        Self { cell: OnceLock::new(), init: std::sync::Mutex::new(Some(init)) }
    }

    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.cell.get_or_init(|| {
            let init = this.init.lock().ok().and_then(|mut init| init.take());
            init.expect("a `LazyLock` is poisoned: its closure panicked")()
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyLock").field(&self.cell.get()).finish()
    }
}
