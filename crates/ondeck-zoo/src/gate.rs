//! A word at which one thread waits, first spinning and then asleep, until one other thread opens it: part
//! of the nodes of queue locks whose waiters spin before they park.
//!
//! ```text
//! state (u32), the futex: 1 CLOSED, its thread runs · 2 ASLEEP, its thread sleeps or is about to · 0 OPEN
//!
//! change   made by      operation
//! 0 → 1    its thread   store, before another thread can find the node
//! 1 → 2    its thread   compare-exchange, if the gate is still closed after the spin
//! 1 → 0    the opener   swap: its thread runs and will find it
//! 2 → 0    the opener   swap; then it wakes the thread
//! ```
//!
//! The spin is limited in time and not in turns, because a PAUSE on one machine takes as long as a hundred
//! on another. The limit is Dave Dice's, "Malthusian Locks" (EuroSys 2017): 20,000 cycles, an estimate of
//! two context switches. A thread that spins for as long as it takes to sleep and be woken never loses
//! more than half of the time by a wrong choice.
//!
//! # Memory ordering
//!
//! The swap is `Release` and the load that finds the gate open `Acquire`: the thread sees what the opener
//! did before, its section included. The compare-exchange needs no order: it publishes nothing. After the
//! swap the opener uses only the word's address, because the thread may have left with its node.

use ondeck::platform::{AtomicInt, Ordering, Platform};

const OPEN: u32 = 0;
const CLOSED: u32 = 1;
const ASLEEP: u32 = 2;

/// 20,000 cycles at 3.6 GHz, the paper's machine.
const SPIN_NANOS: u32 = 5_500;

/// The word, in memory of the waiting thread.
#[derive(Debug)]
pub(crate) struct Gate<P: Platform> {
    state: P::AtomicU32,
}

impl<P: Platform> Default for Gate<P> {
    fn default() -> Self {
        Self { state: AtomicInt::new(OPEN) }
    }
}

impl<P: Platform> Gate<P> {
    /// Called by its thread before another can find the node.
    pub(crate) fn close(&self) {
        // Relaxed: the step that publishes the node publishes this.
        self.state.store(CLOSED, Ordering::Relaxed);
    }

    /// Returns once another thread has called [`open`](Self::open): first spins, then sleeps.
    pub(crate) fn wait(&self) {
        let begin = P::ticks();
        let most = P::ticks_in(SPIN_NANOS) as u64;
        while P::ticks().wrapping_sub(begin) < most {
            if self.state.load(Ordering::Acquire) == OPEN {
                return;
            }
            P::pause();
        }
        // A failure means that the gate is open, which the loop's `Acquire` load reads again.
        let _ = self.state.compare_exchange(CLOSED, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
        while self.state.load(Ordering::Acquire) != OPEN {
            // Every result means the same: reread the word.
            let _ = P::futex_wait(&self.state, ASLEEP, None);
        }
    }

    /// Lets its thread continue. The thread may end at once, and the gate with it.
    ///
    /// # Safety
    ///
    /// The thread has called [`close`](Self::close) since the gate was last opened, and no other thread
    /// opens it, so that it waits until this call.
    pub(crate) unsafe fn open(gate: *const Self) {
        // SAFETY: the thread waits, and keeps its gate, until the swap below.
        let address = unsafe { &raw const (*gate).state };
        // SAFETY: as above; after the swap only the address is used.
        if unsafe { &*address }.swap(OPEN, Ordering::Release) == ASLEEP {
            P::futex_wake(address, 1);
        }
    }
}
