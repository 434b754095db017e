//! What threads that wait for a lock awake tell each other in its record: when the poller polled, when one became the
//! owner, how many polled in vain, how many stay beside the poller. These words are hints: whatever a thread reads in
//! one, no wake is lost.

use super::Record;
use crate::platform::{AtomicInt, Host, Ordering};

/// Beyond this the wait is a sixteenth, and does not become shorter: a poll or two, which tell that the lock
/// is used again.
const MOST_VAIN: u32 = 5;

impl<P: Host> Record<P> {
    /// How long a thread waits for the lock awake, which would be `ticks` long if none had waited in vain.
    ///
    /// The first poller that goes without the lock may have been unlucky. If a second one does, then most
    /// likely the owner has lost its CPU: each further thread waits half as long, so that many threads that
    /// arrive one after the other do not burn a CPU for as long as the owner is away.
    pub(crate) fn wait_after_vain(&self, ticks: usize) -> usize {
        ticks >> self.vain().saturating_sub(1)
    }

    /// How many pollers have waited in vain.
    pub(crate) fn vain(&self) -> u32 {
        self.waiting.vain.load(Ordering::Relaxed)
    }

    /// A poller parks: it has polled in vain.
    pub(crate) fn note_vain(&self) {
        let vain = self.waiting.vain.load(Ordering::Relaxed);
        if vain < MOST_VAIN {
            // Not a read-modify-write: there is one poller most of the time, and a lost count costs a wait.
            self.waiting.vain.store(vain + 1, Ordering::Relaxed);
        }
    }

    /// The lock was unlocked.
    pub(crate) fn forget_vain(&self) {
        if self.waiting.vain.load(Ordering::Relaxed) != 0 {
            self.waiting.vain.store(0, Ordering::Relaxed);
        }
    }

    /// When the poller last polled.
    pub(crate) fn polled_at(&self) -> usize {
        self.waiting.polled.load(Ordering::Relaxed)
    }

    /// Notes that the poller polls.
    pub(crate) fn set_polled_at(&self, now: usize) {
        self.waiting.polled.store(now, Ordering::Relaxed);
    }

    /// When a poller last became the owner.
    pub(crate) fn taken_at(&self) -> usize {
        self.waiting.taken.load(Ordering::Relaxed)
    }

    /// Notes that a poller became the owner.
    pub(crate) fn set_taken_at(&self, now: usize) {
        self.waiting.taken.store(now, Ordering::Relaxed);
    }

    /// The caller stays for a moment beside a poller, if fewer than `most` do.
    pub(crate) fn stay(&self, most: u32) -> bool {
        let may = self.waiting.staying.fetch_add(1, Ordering::Relaxed) < most;
        if !may {
            self.go();
        }
        may
    }

    /// The caller stays no more.
    pub(crate) fn go(&self) {
        self.waiting.staying.fetch_sub(1, Ordering::Relaxed);
    }

    /// How often the poller was called.
    #[inline]
    pub(crate) fn calls(&self) -> u32 {
        self.waiting.calls.load(Ordering::Relaxed)
    }

    /// Calls the poller, or the thread that is about to become it: the caller has unlocked and will not
    /// want the lock soon, so there is no reason to spare it polls.
    #[inline]
    pub(crate) fn call_poller(&self) {
        // Not a read-modify-write: two calls at once are as good as one.
        self.waiting.calls.store(self.calls().wrapping_add(1), Ordering::Relaxed);
    }
}
