//! How a thread waits awake: it finds the lock taken, or another reader changes the word at the same moment.
//!
//! # How long it pauses
//!
//! Readers of one lock take its cache line from each other, 25 to 300 ns each time. Where sections are shorter
//! than that, two readers that take turns at each read do less than one of them alone. So a thread that
//! comes right behind one that has waited has come again and again itself: it has lost the line, and pauses
//! for long, while the other has the line to itself. Else it pauses for as long as a transfer takes, and
//! for twice as long each time it fails.
//!
//! | finds | has lost, if another thread took the lock after a pause so shortly before |
//! |---|---|
//! | a writer, and wants to write | 0.1 µs and two transfers of a line, as with the [mutex](crate::mutex) |
//! | a writer, and wants to read | never: if it pauses for long, it misses what it could read beside others |
//! | another reader that changes the word | two transfers of a line: its section and what is outside take less than those |
//!
//! A writer does not keep readers out before its first poll has failed, and not while it waits awake if it has
//! lost the line: then the readers' sections are so short that a poll finds the word free.
//!
//! # Which threads it keeps asleep
//!
//! While a thread waits awake no unlock needs to wake a parked one as well. So it takes the mark of the thread
//! in flight, if there is none, and does for the parked threads what that one does: what unlocks leave to
//! it, its own unlock does, or it itself when it parks. It may do so for half as long as it takes until a
//! thread is overdue after the oldest of this lock's parked threads went on. The next unlock looks after them then.
//! A look that lets none go on does not count: where threads came with short deadlines, their looks would
//! put that off for ever. Nor does one beside an upgradable reader that lets readers go on and not the oldest: they would
//! put off the turn of a writer.
//!
//! # Sources
//!
//! To back off after a compare-exchange that failed: Dave Dice, Danny Hendler and Ilya Mirsky, "Lightweight
//! Contention Management for Efficient Compare-and-Swap Operations" (Euro-Par 2013). The pauses are
//! those of this crate's [mutex](crate::mutex).

use super::settle::OVERDUE_NANOS;
use super::{BIASED, DRAINING, IN_FLIGHT, PARKED, RawRwLock, WRITER, Want};
use crate::platform::{AtomicInt, Host, Ordering};
use crate::spin::Waits;

/// Attempts in one poll, back to back, as the mutex makes them: most reach the owner's core just behind its
/// own exchange.
const ATTEMPTS: u32 = 24;

/// After a parked thread has gone on, no unlock needs to see to that for so long if a thread waits awake.
const LOOKED_AFTER_NANOS: u32 = OVERDUE_NANOS / 2;

/// Whether a writer waits for readers with its bit set.
#[derive(Clone, Copy, PartialEq)]
enum Readers {
    /// It leaves them alone, and comes again.
    StayIn,
    /// It keeps later ones out.
    AreKeptOut,
}

impl<P: Host> RawRwLock<P> {
    /// Tries for as long as a wake takes; says whether the caller has what it wants, or `WRITER` is set on its
    /// behalf. If not, it may have a mark that it had not.
    pub(super) fn spin(&self, want: Want, mark: &mut u32) -> bool {
        let waits = Waits::now::<P>();
        if waits.polling == 0 {
            return self.attempt(want, *mark);
        }
        let begin = P::ticks() as usize;
        let reads = want <= Want::Recursive;
        let collides = reads && self.state.load(Ordering::Relaxed) & WRITER == 0;
        let has_lost = match (reads, collides) {
            (false, _) => self.was_taken_within(waits.lost, begin, &waits),
            (true, true) => self.was_taken_within(waits.offer, begin, &waits),
            (true, false) => false,
        };
        if !has_lost && !collides && self.is_free_soon(want, *mark, begin, &waits) {
            return true;
        }
        let mut pause = if has_lost { waits.long } else { waits.short };
        let (mut now, mut readers) = (begin, Readers::StayIn);
        while now.wrapping_sub(begin) < waits.polling {
            self.take_mark(mark, now);
            super::wait::pause_for::<P>(now, pause);
            now = P::ticks() as usize;
            if (0..P::spins(ATTEMPTS)).any(|_| self.attempt_beside(want, *mark, readers)) {
                self.note_taken(&waits);
                let was_busy = has_lost || readers == Readers::AreKeptOut;
                if !reads && was_busy {
                    self.offer(now, &waits);
                }
                return true;
            }
            if !has_lost {
                readers = Readers::AreKeptOut;
            }
            pause = (pause * 2).min(waits.long);
        }
        self.attempt(want, *mark)
    }

    /// Reads the lock for as long as a short section and the line's way take. Says whether the caller has what it
    /// wants.
    fn is_free_soon(&self, want: Want, mark: u32, begin: usize, waits: &Waits) -> bool {
        loop {
            if self.attempt_beside(want, mark, Readers::StayIn) {
                return true;
            }
            if (P::ticks() as usize).wrapping_sub(begin) >= waits.section {
                return false;
            }
            P::pause();
        }
    }

    /// As [`attempt`](Self::attempt), but a writer may leave readers alone.
    #[inline(always)]
    fn attempt_beside(&self, want: Want, mark: u32, readers: Readers) -> bool {
        if want != Want::Write || readers == Readers::AreKeptOut {
            return self.attempt(want, mark);
        }
        // Visible readers cannot be seen without a heavy fence, and that needs `WRITER`.
        let has_none = |state, next| state & BIASED != 0 || next & DRAINING == 0;
        // spec: RwLock!Attempt
        self.try_change(|state| {
            want.acquire(state).filter(|&next| has_none(state, next)).map(|next| next & !mark)
        })
    }

    /// Whether a thread that had waited took a lock of this address so shortly before `now`.
    fn was_taken_within(&self, ticks: usize, now: usize, waits: &Waits) -> bool {
        // Nothing depends on it if both pauses are the same.
        let bias = P::bias(self.address()).filter(|_| waits.short != waits.long);
        bias.is_some_and(|bias| bias.was_taken(now, ticks))
    }

    /// The caller, which has waited, has the lock.
    fn note_taken(&self, waits: &Waits) {
        if waits.short != waits.long
            && let Some(bias) = P::bias(self.address())
        {
            bias.set_taken_at(P::ticks() as usize);
        }
    }

    /// The caller is to wait awake: it does for parked threads what the thread in flight does, if there is none.
    fn take_mark(&self, mark: &mut u32, now: usize) {
        let state = self.state.load(Ordering::Relaxed);
        let Some(bias) = P::bias(self.address()) else { return };
        let none_in_flight = *mark == 0 && state & (PARKED | IN_FLIGHT) == PARKED;
        let may_sleep_on =
            || bias.has_looked_after(self.address(), now, P::ticks_in(LOOKED_AFTER_NANOS));
        if none_in_flight && may_sleep_on() {
            // spec: RwLock!TakeMark
            // Relaxed: nothing was acquired. The thread that unlocks meanwhile sees `PARKED` in any case.
            let next = state | IN_FLIGHT;
            let taken =
                self.state.compare_exchange(state, next, Ordering::Relaxed, Ordering::Relaxed);
            *mark = if taken.is_ok() { IN_FLIGHT } else { 0 };
        }
    }

    /// The caller is the writer since about `now`, and took the lock from a thread that is busy with it. If threads
    /// are parked, it waits for a moment until that one has the mark: else its own unlock would wake a parked
    /// thread, and the other, which still runs, would park in its place.
    fn offer(&self, now: usize, waits: &Waits) {
        while self.state.load(Ordering::Relaxed) & (PARKED | IN_FLIGHT) == PARKED
            && (P::ticks() as usize).wrapping_sub(now) < waits.offer
        {
            P::pause();
        }
    }
}
