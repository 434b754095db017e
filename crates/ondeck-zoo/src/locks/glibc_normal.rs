//! glibc's mutex of the default kind: three states without a spin, and two more words on the same
//! line.
//!
//! Source: the GNU C library, `nptl/pthread_mutex_lock.c`, `pthread_mutex_unlock.c`, `lowlevellock.c`
//! and `lowlevellock.h`, by Ulrich Drepper and others; these parts are the same from 2.15 to 2.36.
//! The peer `glibc` is the installed library's.
//!
//! Teaches: the fields beside a lock's word are written with its line. If a waiter has taken the line
//! since, the owner fetches it again for the owner's name and for the count, at each lock and each
//! unlock. `three_state_futex` has neither.
//!
//! ```text
//! lock (u32), the futex: 0 unlocked · 1 locked, no thread sleeps · 2 locked, a thread may sleep
//! owner (u32)            the owner's name, 0 if there is none
//! users (u32)            threads that own the mutex
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it sleeps while the word is 2. If it reads a 2 at first,
//!                                it sleeps without the swap
//! 1 → 0    the owner             swap for 0
//! 2 → 0    the owner             swap for 0; then it wakes one thread
//!
//! owner    the owner             stores after the lock and before the unlock
//! users    the owner             the same, one more and one less
//! ```
//!
//! This port omits the branch on the kind of the mutex, the threads that wait for a condition and
//! count as users, and the plain instructions of a process with one thread. The owner's name is 1 for
//! every thread, because no lock here reads it.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` swap for 0. Only the owner writes the owner
//! and the count, `Relaxed`. After the swap the unlock uses only the word's address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;

/// glibc's default mutex: see the [source file](self) for its words.
#[derive(Debug)]
pub struct GlibcNormal<P: Platform> {
    lock: P::AtomicU32,
    owner: P::AtomicU32,
    users: P::AtomicU32,
}

impl<P: Platform> GlibcNormal<P> {
    #[inline(always)]
    pub(super) fn acquire(&self) -> bool {
        self.lock.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
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
        let mut is_marked = self.lock.load(Ordering::Relaxed) == CONTENDED;
        while is_marked || self.lock.swap(CONTENDED, Ordering::Acquire) != UNLOCKED {
            is_marked = false;
            // Every result means the same: the word may have changed, retry.
            let _ = P::futex_wait(&self.lock, CONTENDED, None);
        }
    }

    /// Writes the owner and the count right after an acquisition.
    #[inline]
    pub(super) fn sign(&self) {
        self.owner.store(1, Ordering::Relaxed);
        self.users.store(self.users.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to another value
// by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for GlibcNormal<P> {
        INFO: LockInfo {
            name: "glibc_normal",
            origin: Origin::Literature,
            waiting: Waiting::Sleeps,
            source: "The GNU C library, pthread_mutex_t of the default kind",
            teaches: "A lock that writes its owner's name pays for the line at each lock and unlock",
            ..LockInfo::USUAL
        },
        new: {
            let zero = || AtomicInt::new(0);
            Self { lock: AtomicInt::new(UNLOCKED), owner: zero(), users: zero() }
        },
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
            let address = &raw const this.lock;
            if this.lock.swap(UNLOCKED, Ordering::Release) == CONTENDED {
                P::futex_wake(address, 1);
            }
        },
        is_idle: |this| {
            this.lock.load(Ordering::Relaxed) == UNLOCKED
                && this.owner.load(Ordering::Relaxed) == 0
                && this.users.load(Ordering::Relaxed) == 0
        },
    }
}
