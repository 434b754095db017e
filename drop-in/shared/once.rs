//! Something that is done once.

use std::fmt;

use crate::deadlock::{self, Ends, Held, Wait, Want};

/// How far a [`Once`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// No closure has run.
    New,
    /// The closure that ran last panicked.
    Poisoned,
    /// A thread runs its closure.
    InProgress,
    /// It is done.
    Done,
}

impl OnceState {
    /// Whether the closure that ran last panicked.
    pub const fn poisoned(self) -> bool {
        matches!(self, Self::Poisoned)
    }

    /// As [`poisoned`](Self::poisoned), by the standard library's name.
    pub const fn is_poisoned(self) -> bool {
        self.poisoned()
    }

    /// Whether it is done.
    pub const fn done(self) -> bool {
        matches!(self, Self::Done)
    }

    /// As [`done`](Self::done), by the standard library's name.
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

/// Something that is done once, by the first thread that comes: one byte. See `ondeck::Once`.
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
    /// A once that nothing was done for.
    pub const fn new() -> Self {
        Self(ondeck::Once::new())
    }

    /// A once for which everything is done already: no closure runs.
    pub const fn new_completed() -> Self {
        Self(ondeck::Once::new_completed())
    }

    /// How far it has come.
    #[inline]
    pub fn state(&self) -> OnceState {
        OnceState::of(self.0.state())
    }

    /// Whether it is done.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.0.is_completed()
    }

    /// Runs `closure` if it is the first one; waits while another thread runs its own.
    ///
    /// # Panics
    ///
    /// If `closure` does, and if the closure that ran last did.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, closure: F) {
        if !self.0.is_completed() {
            self.wait_for_turn(|wait| self.0.call_once(|| self.run(wait, closure)));
        }
    }

    /// As [`call_once`](Self::call_once), but also runs `closure` after one that panicked. The closure is
    /// told which it is.
    ///
    /// # Panics
    ///
    /// If `closure` does.
    #[inline]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, closure: F) {
        if !self.0.is_completed() {
            self.wait_for_turn(|wait| {
                self.0.call_once_force(|state| self.run(wait, || closure(OnceState::of(state))));
            });
        }
    }

    /// Waits until it is done, by another thread.
    ///
    /// # Panics
    ///
    /// If the closure that ran last panicked.
    pub fn wait(&self) {
        if !self.0.is_completed() {
            self.wait_for_turn(|_| self.0.wait());
        }
    }

    /// As [`wait`](Self::wait), but waits on after a closure that panicked.
    pub fn wait_force(&self) {
        if !self.0.is_completed() {
            self.wait_for_turn(|_| self.0.wait_force());
        }
    }

    fn key(&self) -> usize {
        (&raw const self.0).addr()
    }

    fn wait_for_turn(&self, wait: impl FnOnce(&Wait)) {
        deadlock::waits(self.key(), Want::Alone, Ends::Never, wait);
    }

    /// Runs a closure, whose turn has come; others wait for it meanwhile.
    fn run(&self, wait: &Wait, closure: impl FnOnce()) {
        /// Also if the closure unwinds.
        struct End(usize);

        impl Drop for End {
            fn drop(&mut self) {
                deadlock::releases(self.0, Held::Alone);
            }
        }

        let key = self.key();
        wait.is_over();
        deadlock::acquired(key, Want::Alone);
        let _end = End(key);
        closure();
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
