//! An initialization that runs once: a thread runs it, and other threads wait until it is done.
//!
//! ```text
//! the once       bit 0  DONE      it is done, for ever; no other bit is set with it
//!                bit 1  POISONED  the closure that ran last panicked
//!                bit 2  RUNNING   a thread runs its closure
//!                bit 3  WAITED    a thread may wait. Set under the bucket's lock only
//!
//! call           DONE                             a load: that is all
//!                0, POISONED ──► RUNNING          a compare-exchange; then the closure runs
//!                RUNNING ──► RUNNING + WAITED     after some polls, under the bucket's lock; waits, and checks again
//! end            RUNNING ──► DONE, POISONED       a compare-exchange: no thread waits
//!                RUNNING + WAITED ──► the same    under the bucket's lock; all waiting threads are woken
//! wait           not DONE ──► + WAITED            under the bucket's lock; waits, and checks again
//! ```
//!
//! When all other calls have returned, it may be freed, even if the thread that ran the closure is
//! still waking others: the store of `DONE` is that thread's last access, before it notifies any. A
//! woken thread reads the byte again, so it must not be freed before that.
//!
//! # Short closures
//!
//! A thread that finds a closure running polls the byte for the time of a wake before it goes to
//! the bucket. If it has no deadline, and is no real-time thread, it offers its CPU between two
//! polls. Most closures end in that time, and their threads then wake none. Throughput of new onces
//! whose closures take a microsecond, by parking_lot's, on two CPUs of a Xeon; medians of seven
//! rounds, twice:
//!
//! | threads | 2 | 8 | 64 |
//! |---|---|---|---|
//! | sleeps at once | 0.79, 0.80 | 0.70, 0.77 | 0.67, 0.72 |
//! | polls for the time of a wake | 1.03, 1.02 | 0.98, 0.98 | 0.83, 0.89 |
//! | polls for two of the longest pauses | 1.01, 1.02 | 0.99, 0.99 | 0.92, 0.84 |
//! | polls for the time of a wake, and yields | 0.99, 1.00 | 0.98, 1.01 | 1.02, 1.16 |
//!
//! # A closure that calls its own once
//!
//! Such a closure waits for itself, for ever. Builds with debug assertions panic instead, and name
//! the once.
//!
//! # `OnceLock` and `LazyLock`
//!
//! In this crate these are the standard library's types under another name. A `OnceLock<T>` built
//! on [`Once`] would be the same: its fast path is the same load, and its slow path runs once in
//! the life of a value. The standard library's type has four bytes of state instead of one, which
//! matters only for a `T` with an alignment below four; it sleeps on a futex as the table's waiters
//! do, allocates nothing, and wakes by an address that it does not read. The rest would be a second
//! type that no signature of another crate accepts. `Once` itself is here for programs that use
//! parking_lot's: one byte, [`OnceState`], and `const` construction.
//!
//! # Memory ordering
//!
//! `DONE` is stored with `Release` and read with `Acquire`, so the closure's work happens before
//! each return of `call_once`. The same holds for `POISONED`, for the data that a panicked closure
//! has left.
//!
//! `WAITED` is set by `Relaxed` accesses under the bucket's lock: a thread that finds no reason to
//! wait there reads the state again.
//!
//! # Sources
//!
//! The standard library's and parking_lot's `Once`, which have these bits; Butenhof, "Programming
//! with POSIX Threads", for the guarantees of `pthread_once`.

mod api;

pub use api::Once;
pub use std::sync::{LazyLock, OnceLock};

extern crate std;

use crate::observe::{self, Access, Acquisition, Kind, Observed, Place};
use crate::parking::Line;
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};
use crate::spin::{Waits, poll};

#[doc(hidden)]
pub const DONE: u8 = 1;
const POISONED: u8 = 2;
const RUNNING: u8 = 4;
const WAITED: u8 = 8;

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
    /// Returns whether the closure that ran last panicked.
    pub fn poisoned(self) -> bool {
        self == Self::Poisoned
    }

    /// As [`poisoned`](Self::poisoned), under the standard library's name.
    pub fn is_poisoned(self) -> bool {
        self.poisoned()
    }

    /// Returns whether it is done.
    pub fn done(self) -> bool {
        self == Self::Done
    }

    fn of(state: u8) -> Self {
        match state {
            state if state & DONE != 0 => Self::Done,
            state if state & RUNNING != 0 => Self::InProgress,
            state if state & POISONED != 0 => Self::Poisoned,
            _ => Self::New,
        }
    }
}

/// How a thread reacts to a closure that panicked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Poison {
    Panics,
    IsIgnored,
}

impl Poison {
    fn check(self, state: u8) {
        assert!(
            self == Self::IsIgnored || state & POISONED == 0,
            "a `Once` is poisoned: the closure that ran last panicked; `call_once_force` runs another"
        );
    }
}

/// The state alone, one byte; see the [module](self) for its protocol.
struct RawOnce<P: Host> {
    state: P::AtomicU8,
    place: Place,
}

impl<P: Host> RawOnce<P> {
    fn key(&self) -> usize {
        (&raw const self.state).addr()
    }

    #[inline(always)]
    fn is_done(&self) -> bool {
        // step: is done
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    fn state(&self) -> OnceState {
        // Acquire: what it reports as done happened before (`Once`).
        OnceState::of(self.state.load(Ordering::Acquire))
    }

    /// Runs `closure` unless it is done, or waits for the thread that runs one.
    #[cold]
    fn call(&self, poison: Poison, closure: &mut dyn FnMut(OnceState)) {
        if let Some((mut end, state)) = self.begin(poison) {
            closure(state);
            end.becomes = DONE;
        }
    }

    /// Returns the state in which the caller is to run its closure, and what ends that, unless it
    /// is done. Waits for a thread that runs one.
    fn begin(&self, poison: Poison) -> Option<(End<'_, P>, OnceState)> {
        let mut acquisition = Acquisition::of(self, Access::Alone);
        acquisition.begins(false);
        loop {
            let state = self.state.load(Ordering::Acquire);
            if state & DONE != 0 {
                return None;
            }
            if state & RUNNING != 0 {
                acquisition.waits();
                self.wait_while(None, |state| state & RUNNING != 0);
                continue;
            }
            poison.check(state);
            // step: begin
            // Acquire: after the load another closure may have panicked and left the same state.
            let running = state & WAITED | RUNNING;
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            if self.state.compare_exchange(state, running, acquire, relaxed).is_ok() {
                let end = End { once: self, becomes: POISONED };
                acquisition.acquired();
                return Some((end, OnceState::of(state)));
            }
        }
    }

    /// Waits until it is done, or until the deadline. Returns whether it is done.
    fn wait(&self, poison: Poison, deadline: Option<Timestamp>) -> bool {
        let mut acquisition = Acquisition::of(self, Access::Alone);
        acquisition.begins(deadline.is_some());
        loop {
            let state = self.state.load(Ordering::Acquire);
            if state & DONE != 0 {
                return true;
            }
            poison.check(state);
            acquisition.waits();
            let goes_on = if poison == Poison::Panics { DONE | POISONED } else { DONE };
            if !self.wait_while(deadline, |state| state & goes_on == 0) {
                acquisition.gave_up();
                return self.is_done();
            }
        }
    }

    /// If `waits` returns true for the state, waits for it to change, for the end of a closure or
    /// less. Returns false if the deadline passes first.
    ///
    /// Not inlined, so that a call which waits for no thread has a small frame.
    #[inline(never)]
    fn wait_while(&self, deadline: Option<Timestamp>, waits: impl Fn(u8) -> bool) -> bool {
        let may_end = || self.state.load(Ordering::Relaxed) & (RUNNING | WAITED) == RUNNING;
        let yields = deadline.is_none() && P::priority() == 0;
        let has_changed = || {
            // The thread that runs the closure may wait for this CPU. A yield may last for time
            // slices of other threads, which is too long after a deadline. A deadline thread
            // (SCHED_DEADLINE) would sleep until its next period.
            if yields {
                P::yield_now();
            }
            !may_end()
        };
        let times = Waits::now::<P>();
        // A thread in the line makes the end of the closure a lock of the bucket and a wake, so it
        // first polls for the time of a wake, unless another is there. The callers of this function
        // read the state again.
        if times.polling != 0 && may_end() && poll::<P>(&times, times.short, has_changed) {
            return true;
        }
        let mut line = Line::<P>::lock(self.key());
        line.sleep_at_once();
        // step: wait
        loop {
            let state = self.state.load(Ordering::Relaxed);
            if !waits(state) {
                return true;
            }
            let (waited, relaxed) = (state | WAITED, Ordering::Relaxed);
            let set = || self.state.compare_exchange(state, waited, relaxed, relaxed).is_ok();
            if state & WAITED != 0 || set() {
                break;
            }
        }
        line.wait_together(deadline, |_| ())
    }

    /// Stores the end of a closure while threads may wait for that, and wakes them.
    #[cold]
    #[inline(never)]
    fn end_and_wake(&self, becomes: u8) {
        let mut line = Line::<P>::lock(self.key());
        // step: wake
        // The last access, before any waiting thread is notified: after it the once may be freed.
        self.state.store(becomes, Ordering::Release);
        line.take_all();
    }
}

/// The thread that runs a closure holds the once.
impl<P: Host> Observed for RawOnce<P> {
    type Platform = P;
    const KIND: Kind = Kind::Once;

    fn name(&self) -> usize {
        self.key()
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn is_held(&self) -> bool {
        self.state() == OnceState::InProgress
    }
}

/// Ends the run of a closure when it is dropped, even while the closure unwinds.
struct End<'a, P: Host> {
    once: &'a RawOnce<P>,
    becomes: u8,
}

impl<P: Host> Drop for End<'_, P> {
    fn drop(&mut self) {
        let once = self.once;
        observe::unlock(once, Access::Alone, || {
            // step: end
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if once.state.compare_exchange(RUNNING, self.becomes, release, relaxed).is_err() {
                once.end_and_wake(self.becomes);
            }
        });
    }
}
