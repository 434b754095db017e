//! Linux and Android under Miri, which has no membarrier(2), no inline assembly, and of futex(2)
//! not the operations that requeue, inherit priorities or change a word. So locks wait as on
//! [other systems](super::portable), and the items that only Linux has are here, as far as a
//! program without faults can tell: no priority is inherited, and the end of an owner is not
//! noticed.

use core::sync::atomic::{self, AtomicU32, Ordering};

use super::native::thread::Word;
use super::system::System;
use super::unix::quietly;
use super::{FutexWait, Native, PiFutex, PiLock, PiUnlock, Timestamp};

#[cfg(target_pointer_width = "64")]
#[path = "linux/robust.rs"]
mod robust;

#[cfg(target_pointer_width = "64")]
pub(crate) use robust::{Links, RobustList};

/// Bits of a word that inherits priorities: see [`pi`](crate::pi).
const WAITED: u32 = 1 << 31;
const NUMBER: u32 = (1 << 30) - 1;

// SAFETY: a thread stores its own number in a word that had none, and only the thread with that
// number clears it.
unsafe impl PiFutex for Native {
    fn thread_id() -> u32 {
        Self::tid()
    }

    fn futex_lock_pi(word: &Self::AtomicU32, deadline: Option<Timestamp>) -> PiLock {
        let own = Self::tid();
        loop {
            let found = word.load(Ordering::Relaxed);
            let becomes = match found & NUMBER {
                // Other threads may still wait.
                0 => own | WAITED,
                owner if owner == own => return PiLock::Circle,
                _ => found | WAITED,
            };
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            if word.compare_exchange(found, becomes, acquire, relaxed).is_err() {
                continue;
            }
            if found & NUMBER == 0 {
                return PiLock::Owner;
            }
            if <Self as System>::futex_wait(word, becomes, deadline) == FutexWait::TimedOut {
                return PiLock::TimedOut;
            }
        }
    }

    fn futex_unlock_pi(word: &Self::AtomicU32) -> PiUnlock {
        if word.load(Ordering::Relaxed) & NUMBER != Self::tid() {
            return PiUnlock::NotOwner;
        }
        word.store(0, Ordering::Release);
        <Self as System>::futex_wake(word, u32::MAX);
        PiUnlock::Done
    }
}

/// See `linux/mod.rs`.
impl Native {
    pub(crate) fn tid() -> u32 {
        static LAST: AtomicU32 = AtomicU32::new(0);
        if Word::Tid.get() == 0 {
            Word::Tid.set(u64::from(LAST.fetch_add(1, Ordering::Relaxed)) + 1);
        }
        Word::Tid.get() as u32
    }

    #[cfg(target_pointer_width = "64")]
    pub(crate) fn shared_futex_wait(
        word: &atomic::AtomicU32,
        expected: u32,
        deadline: Option<Timestamp>,
    ) -> FutexWait {
        <Self as System>::futex_wait(word, expected, deadline)
    }

    #[cfg(target_pointer_width = "64")]
    pub(crate) fn shared_futex_wake(address: *const atomic::AtomicU32, count: u32) -> usize {
        <Self as System>::futex_wake(address, count)
    }

    /// Refuses, as the filter of a container may.
    #[cfg(target_pointer_width = "64")]
    pub(crate) fn shared_futex_clear_and_wake_all(_: &atomic::AtomicU32, _: u32) -> Option<usize> {
        None
    }
}
