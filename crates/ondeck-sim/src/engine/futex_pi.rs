//! Futexes that inherit priorities, as in Linux (kernel/futex/pi.c): the kernel queues the waiting threads, and
//! hands off the lock. All threads have one priority here, so that they acquire it in the order of arrival.
//!
//! A word's queue is in the bucket of its address, like the queues of other futexes. An operation holds the
//! bucket's lock for longer than theirs: it takes a second lock, of the mutex in the kernel, and looks up the
//! owner.

use ondeck::platform::{AtomicInt, Ordering, PiFutex, PiLock, PiUnlock, Timestamp};

use super::Sim;
use super::atomics::SimInt;
use super::futex::{enter, lock_bucket, wait_in, wake_all};
use super::world::{on_thread, world};
use crate::time::of_nanos;

/// The kernel has waiters queued.
const WAITERS: u32 = 1 << 31;

/// The length of an operation on a queue, relative to other futexes.
const LONGER: u64 = 3;

// SAFETY: numbers are those of the machine's threads, from 1. A word is changed by atomics of the machine, and
// given only to a thread that its owner's unlock took out of the queue. The machine orders memory: its accesses
// happen one after the other.
unsafe impl PiFutex for Sim {
    fn thread_id() -> u32 {
        // Outside of simulated threads no two threads lock the same word.
        on_thread().map_or(u32::MAX >> 2, |world| world.my_number() as u32 + 1)
    }

    fn futex_lock_pi(word: &SimInt<u32>, deadline: Option<Timestamp>) -> PiLock {
        let own = Self::thread_id();
        let address = std::ptr::from_ref(word).addr();
        enter();
        let name = world().memory.name(address);
        let bucket = lock_bucket(name, LONGER);
        loop {
            let value = word.load(Ordering::Relaxed);
            if value & !WAITERS == own {
                return PiLock::Circle;
            }
            let (new, is_free) = if value == 0 { (own, true) } else { (value | WAITERS, false) };
            if word.compare_exchange(value, new, Ordering::SeqCst, Ordering::Relaxed).is_err() {
                continue;
            }
            if is_free {
                return PiLock::Owner;
            }
            break;
        }
        let deadline = deadline.map(|deadline| of_nanos(deadline.as_nanos() as f64));
        wait_in(bucket, name, deadline);
        if world().me().timed_out { PiLock::TimedOut } else { PiLock::Owner }
    }

    fn futex_unlock_pi(word: &SimInt<u32>) -> PiUnlock {
        let own = Self::thread_id();
        let address = std::ptr::from_ref(word).addr();
        enter();
        let name = world().memory.name(address);
        lock_bucket(name, LONGER);
        if word.load(Ordering::Relaxed) & !WAITERS != own {
            return PiUnlock::NotOwner;
        }
        // The next thread is chosen when the word's line is here: until then threads may queue.
        let mut next = Vec::new();
        word.modify(|_| {
            next = world().take_waiters(name, 1);
            Some(next.first().map_or(0, |&thread| (thread as u32 + 1) | WAITERS))
        });
        wake_all(&next);
        PiUnlock::Done
    }
}
