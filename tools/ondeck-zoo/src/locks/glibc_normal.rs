//! glibc's mutex of the default kind: three states without a spin, and two more words on the same
//! line.
//!
//! Source: the GNU C library, `nptl/pthread_mutex_lock.c`, `pthread_mutex_unlock.c`,
//! `lowlevellock.c` and `lowlevellock.h`, by Ulrich Drepper and others; these parts are the same
//! from 2.15 to 2.36. The peer `glibc` is the installed library's.
//!
//! Teaches: the fields beside a lock's word are written with its line. If a waiter has taken the
//! line since, the owner fetches it again for the owner's name and for the count, at each lock and
//! each unlock. `three_state_futex` has neither.
//!
//! ```text
//! lock          as in `three_states.rs`; a waiter that reads a 2 at first sleeps without the swap
//! owner (u32)   the owner's name, 0 if there is none: stored after the lock and before the unlock
//! users (u32)   threads that own the mutex: the same, one more and one less
//! ```
//!
//! This port omits the branch on the kind of the mutex, the threads that wait for a condition and
//! count as users, and the plain instructions of a process with one thread. The owner's name is 1
//! for every thread, because no lock here reads it.
//!
//! # Memory ordering
//!
//! The lock's is in `three_states.rs`. Only the owner writes the owner and the count, `Relaxed`.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::three_states::{CONTENDED, ThreeStates, UNLOCKED};
use crate::{LockInfo, RawLock, Waiting};

/// glibc's default mutex: see the [source file](self) for its words.
#[derive(Debug)]
pub struct GlibcNormal<P: Platform> {
    lock: ThreeStates<P>,
    owner: P::AtomicU32,
    users: P::AtomicU32,
}

impl<P: Platform> GlibcNormal<P> {
    #[inline(always)]
    pub(super) fn acquire(&self) -> bool {
        self.lock.acquire().is_ok()
    }

    /// glibc's `lll_lock`: an attempt, and then a wait if necessary.
    #[inline]
    pub(super) fn acquire_or_sleep(&self) {
        if !self.acquire() {
            self.sleep();
        }
    }

    #[cold]
    fn sleep(&self) {
        if self.lock.look() == CONTENDED {
            self.lock.sleep();
        }
        self.lock.acquire_sleeping();
    }

    /// Writes the owner and the count right after an acquisition.
    #[inline]
    pub(super) fn sign(&self) {
        self.owner.store(1, Ordering::Relaxed);
        self.users.store(self.users.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to
// another value by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for GlibcNormal<P> {
        INFO: LockInfo {
            name: "glibc_normal",
            waiting: Waiting::Sleeps,
            source: "The GNU C library, pthread_mutex_t of the default kind",
            teaches: "A lock that writes its owner's name pays for the line at each lock and unlock",
            ..LockInfo::USUAL
        },
        new: Self { lock: ThreeStates::new(), owner: AtomicInt::new(0), users: AtomicInt::new(0) },
        lock: |this, ()| {
            this.acquire_or_sleep();
            this.sign();
        },
        try_lock: |this, ()| {
            let locked = this.acquire();
            if locked {
                this.sign();
            }
            locked
        },
        unlock: |this, ()| {
            this.owner.store(0, Ordering::Relaxed);
            this.users.store(this.users.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
            this.lock.unlock();
        },
        is_idle: |this| {
            this.lock.look() == UNLOCKED
                && this.owner.load(Ordering::Relaxed) == 0
                && this.users.load(Ordering::Relaxed) == 0
        },
    }
}
