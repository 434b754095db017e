//! A futex that inherits priorities: the kernel queues the waiters, and hands off the lock.
//!
//! Source: Ingo Molnar and Thomas Gleixner, "PI-futex: lightweight userspace priority inheritance
//! support" (2006), the kernel's `Documentation/locking/pi-futex.rst`; the algorithm of glibc's
//! mutexes with `PTHREAD_PRIO_INHERIT`. The peer `glibc_pi` is the installed library's.
//!
//! Teaches: a lock that the kernel hands off is never free while a thread waits. No arriving thread
//! can take it, and each contended pair costs two system calls and a context switch.
//!
//! ```text
//! word (u32)   bits 0-29  the owner's number, 0 if the lock is free
//!              bit 31     the kernel knows of waiters; of the kernel
//!
//! change                made by               operation
//! 0 → number            a thread that locks   compare-exchange
//! number → 0            the owner             compare-exchange: fails if bit 31 is set
//! bit 31 is set         a waiter              FUTEX_LOCK_PI: it sleeps in the kernel
//! number → next number  the owner             FUTEX_UNLOCK_PI: bit 31 stays set
//! number → 0            the owner             FUTEX_UNLOCK_PI, if no thread waits any more
//! ```
//!
//! If an owner ends with the lock, or waits for itself, the next waiter panics. glibc lets it sleep
//! for ever.
//!
//! # Memory ordering
//!
//! The compare-exchange that locks is `Acquire` and pairs with the `Release` one that unlocks. A
//! handoff by the kernel has the orderings of both ([`PiFutex`]). After a handoff neither the kernel
//! nor the unlock touches the word.

use ondeck::platform::{AtomicInt, Ordering, PiFutex, PiLock, PiUnlock};

use crate::{Fairness, LockInfo, RawLock, Waiting};

const UNLOCKED: u32 = 0;

/// A futex that inherits priorities: see the [source file](self) for its states.
#[derive(Debug)]
pub struct PiFutexMutex<P: PiFutex> {
    word: P::AtomicU32,
}

impl<P: PiFutex> PiFutexMutex<P> {
    /// Acquires the lock if it is free; returns whether it did.
    #[inline(always)]
    pub(super) fn acquire(&self) -> bool {
        self.word
            .compare_exchange(UNLOCKED, P::thread_id(), Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Whether a thread owns the lock.
    #[inline(always)]
    pub(super) fn is_taken(&self) -> bool {
        self.word.load(Ordering::Relaxed) != UNLOCKED
    }

    /// Waits in the kernel until this thread has acquired the lock.
    #[cold]
    pub(super) fn wait(&self) {
        let outcome = P::futex_lock_pi(&self.word, None);
        assert!(
            outcome == PiLock::Owner,
            "the kernel cannot give this thread the lock ({outcome:?}): its owner has ended, or waits for \
             this thread; unlock before a thread ends, and lock in one order"
        );
    }

    #[cold]
    fn unlock_slow(&self) {
        let outcome = P::futex_unlock_pi(&self.word);
        assert!(
            outcome == PiUnlock::Done,
            "a thread unlocks a lock that it does not own, as the child of a fork does; lock it in the \
             child"
        );
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from 0 to its own number, or when
// the kernel has made it the owner. Only the owner makes the word 0, or has the kernel do so.
raw_lock! {
    unsafe impl [P: PiFutex] RawLock<P> for PiFutexMutex<P> {
        INFO: LockInfo {
            name: "pi_futex",
            waiting: Waiting::Sleeps,
            fairness: Fairness::Priority,
            source: "Molnar and Gleixner, PI-futex; glibc's PTHREAD_PRIO_INHERIT",
            teaches: "The kernel hands the lock over, so it is never free while a thread waits",
            ..LockInfo::USUAL
        },
        new: Self { word: AtomicInt::new(UNLOCKED) },
        lock: |this, ()| if !this.acquire() {
            this.wait();
        },
        try_lock: |this, ()| this.acquire(),
        unlock: |this, ()| {
            if this
                .word
                .compare_exchange(P::thread_id(), UNLOCKED, Ordering::Release, Ordering::Relaxed)
                .is_err()
            {
                this.unlock_slow();
            }
        },
        is_idle: |this| !this.is_taken(),
    }
}
