//! A word that one thread waits at, first running and then asleep, until one other opens it: part of the
//! nodes of queue locks whose waiters spin for a while before they park.
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
//! The spin has a length in time and not in turns, because a PAUSE of one machine is a hundred of another.
//! It is the one of Dave Dice, "Malthusian Locks" (EuroSys 2017): 20,000 cycles, an estimate of two context
//! switches. A thread that spins for as long as it takes to sleep and be woken never loses more than
//! half of the time by a wrong choice.
//!
//! # Memory ordering
//!
//! The swap is `Release` and the load that finds the gate open `Acquire`: what the opener did before, its
//! section included, is seen. The compare-exchange needs no order: it gives nothing away. After the swap the
//! opener uses only the word's address, because the thread may have gone on and taken its node along.

use ondeck::platform::{AtomicInt, Ordering, Platform};

const OPEN: u32 = 0;
const CLOSED: u32 = 1;
const ASLEEP: u32 = 2;

/// 20,000 cycles of the 3.6 GHz of the machine of the paper.
const SPIN_NANOS: u32 = 5_500;

/// The word, in memory of the thread that waits.
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

    /// Returns once another thread has called [`open`](Self::open): by spinning, and then asleep.
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
            // Every outcome means the same: read the word again.
            let _ = P::futex_wait(&self.state, ASLEEP, None);
        }
    }

    /// Lets its thread go on, which may end, and the gate with it, at once.
    ///
    /// # Safety
    ///
    /// The thread has called [`close`](Self::close) since the gate was last opened, and no other thread
    /// opens it, so that it waits until this call.
    pub(crate) unsafe fn open(gate: *const Self) {
        // SAFETY: the thread is there until the swap below.
        let address = unsafe { &raw const (*gate).state };
        // SAFETY: as above; after the swap only the address is used.
        if unsafe { &*address }.swap(OPEN, Ordering::Release) == ASLEEP {
            P::futex_wake(address, 1);
        }
    }
}
