//! One-time initialization.

use std::fmt;

use crate::deadlock::Stack;

/// The state of a [`Once`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// No closure has run.
    New,
    /// The closure that ran last panicked.
    Poisoned,
    /// A thread runs its closure.
    InProgress,
    /// The initialization is done.
    Done,
}

impl OnceState {
    /// Returns whether the closure that ran last panicked.
    pub const fn poisoned(self) -> bool {
        matches!(self, Self::Poisoned)
    }

    /// As [`poisoned`](Self::poisoned), under the standard library's name.
    pub const fn is_poisoned(self) -> bool {
        self.poisoned()
    }

    /// Returns whether the initialization is done.
    pub const fn done(self) -> bool {
        matches!(self, Self::Done)
    }

    /// As [`done`](Self::done), under the standard library's name.
    pub const fn is_completed(self) -> bool {
        self.done()
    }

    fn of(state: ondeck::once::OnceState) -> Self {
        match state {
            ondeck::once::OnceState::New => Self::New,
            ondeck::once::OnceState::Poisoned => Self::Poisoned,
            ondeck::once::OnceState::InProgress => Self::InProgress,
            ondeck::once::OnceState::Done => Self::Done,
        }
    }
}

/// A one-time initialization, which the first arriving thread runs: one byte. See `ondeck::Once`.
///
/// ```
/// static BEGUN: parking_lot::Once = parking_lot::Once::new();
///
/// BEGUN.call_once(|| println!("once"));
/// BEGUN.call_once(|| unreachable!());
/// assert!(BEGUN.state().done());
/// ```
pub struct Once(ondeck::Once);

impl Once {
    /// Creates a once whose closure has not run.
    pub const fn new() -> Self {
        Self(ondeck::Once::new())
    }

    /// Creates a once that is already done: no closure runs.
    pub const fn new_completed() -> Self {
        Self(ondeck::Once::new_completed())
    }

    /// Returns the state.
    #[inline]
    pub fn state(&self) -> OnceState {
        OnceState::of(self.0.state())
    }

    /// Returns whether the initialization is done.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.0.is_completed()
    }

    /// Runs `closure` if it is the first one. Waits while another thread runs its closure.
    ///
    /// # Panics
    ///
    /// If `closure` does, and if the closure that ran last did.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, closure: F) {
        if !self.0.is_completed() {
            let _stack = Stack::keep();
            self.0.call_once(closure);
        }
    }

    /// As [`call_once`](Self::call_once), but also runs `closure` after one that panicked. The
    /// closure receives the state before it.
    ///
    /// # Panics
    ///
    /// If `closure` does.
    #[inline]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, closure: F) {
        if !self.0.is_completed() {
            let _stack = Stack::keep();
            self.0.call_once_force(|state| closure(OnceState::of(state)));
        }
    }

    /// Waits until another thread has done it.
    ///
    /// # Panics
    ///
    /// If the closure that ran last panicked.
    pub fn wait(&self) {
        if !self.0.is_completed() {
            let _stack = Stack::keep();
            self.0.wait();
        }
    }

    /// As [`wait`](Self::wait), but continues to wait after a closure that panicked.
    pub fn wait_force(&self) {
        if !self.0.is_completed() {
            let _stack = Stack::keep();
            self.0.wait_force();
        }
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}
