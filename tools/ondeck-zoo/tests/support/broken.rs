//! A mutex of three states in a futex word (free, taken, taken with possible waiters) that is
//! broken in one place, for every platform: each tool that approves of the zoo's locks must notice
//! the mistakes that it can see.

#![allow(dead_code, reason = "each test has mistakes of its own")]

use ondeck::platform::{AtomicInt, FutexWait, Ordering, Platform};
use ondeck_zoo::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// Nothing is wrong.
pub const NOWHERE: u8 = 0;
/// The attempt to lock is a load and a store.
pub const NOT_ATOMIC: u8 = 1;
/// A waiter sleeps although the lock was freed since its check: it expects the current value of the
/// word.
pub const NO_RECHECK: u8 = 2;
/// The unlock wakes no thread.
pub const NO_WAKE: u8 = 3;
/// A waiter that was woken locks as if no other thread waited.
pub const WAITERS_FORGOTTEN: u8 = 4;
/// The unlock leaves the lock taken, for a thread that may not be there.
pub const HANDOFF_TO_NOBODY: u8 = 5;
/// A waiter sleeps without having marked the word.
pub const NO_MARK: u8 = 6;
/// An acquisition sees nothing of the section before.
pub const RELAXED_LOCK: u8 = 7;
/// An unlock shows nothing of its section.
pub const RELAXED_UNLOCK: u8 = 8;
/// An attempt succeeds without taking the lock.
pub const ALWAYS_IN: u8 = 9;
/// An attempt never succeeds.
pub const NEVER_IN: u8 = 10;
/// An attempt takes the lock and says that it did not.
pub const IN_UNSAID: u8 = 11;
/// A trace of each unlock is left in the lock.
pub const TRACE: u8 = 12;
/// No thread waits.
pub const OPEN: u8 = 13;
/// The unlock does nothing.
pub const KEPT: u8 = 14;

#[derive(Debug)]
pub struct ThreeStates<P: Platform, const BROKEN: u8> {
    word: P::AtomicU32,
    trace: P::AtomicU32,
}

impl<P: Platform, const BROKEN: u8> ThreeStates<P, BROKEN> {
    const ACQUIRE: Ordering =
        if BROKEN == RELAXED_LOCK { Ordering::Relaxed } else { Ordering::Acquire };
    const RELEASE: Ordering =
        if BROKEN == RELAXED_UNLOCK { Ordering::Relaxed } else { Ordering::Release };

    fn attempt(&self, taken: u32) -> bool {
        if BROKEN == NOT_ATOMIC {
            let free = self.word.load(Self::ACQUIRE) == 0;
            if free {
                self.word.store(taken, Ordering::Relaxed);
            }
            return free;
        }
        self.word.compare_exchange(0, taken, Self::ACQUIRE, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: only the intact one excludes; the others guard nothing but numbers of a test, which
// detects an overlap.
unsafe impl<P: Platform, const BROKEN: u8> RawLock<P> for ThreeStates<P, BROKEN> {
    const INFO: LockInfo = LockInfo {
        name: "broken",
        origin: Origin::Own,
        waiting: Waiting::Sleeps,
        source: "this test",
        teaches: "nothing",
        ..LockInfo::USUAL
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { word: AtomicInt::new(0), trace: AtomicInt::new(0) }
    }

    unsafe fn lock(&self, (): &()) {
        if BROKEN == OPEN || self.attempt(1) {
            return;
        }
        if BROKEN == NO_MARK {
            while !self.attempt(1) {
                let _ = P::futex_wait(&self.word, 1, None);
            }
            return;
        }
        let mine = if BROKEN == WAITERS_FORGOTTEN { 1 } else { 2 };
        loop {
            if BROKEN == NO_RECHECK {
                let state = self.word.load(Ordering::Relaxed);
                if state == 0 && self.attempt(mine) {
                    return;
                }
                if state == 1 {
                    let _ = self.word.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed);
                }
                let now = self.word.load(Ordering::Relaxed);
                let _ = P::futex_wait(&self.word, now, None);
                continue;
            }
            if self.word.swap(2, Self::ACQUIRE) == 0 {
                if mine == 1 {
                    self.word.store(mine, Ordering::Relaxed);
                }
                return;
            }
            let slept = P::futex_wait(&self.word, 2, None);
            if BROKEN == HANDOFF_TO_NOBODY && slept == FutexWait::Woken {
                return;
            }
        }
    }

    unsafe fn try_lock(&self, (): &()) -> bool {
        match BROKEN {
            ALWAYS_IN => true,
            NEVER_IN => false,
            IN_UNSAID => {
                self.attempt(1);
                false
            }
            _ => self.attempt(1),
        }
    }

    unsafe fn unlock(&self, (): &()) {
        match BROKEN {
            KEPT => return,
            TRACE => self.trace.store(1, Ordering::Relaxed),
            HANDOFF_TO_NOBODY if self.word.load(Ordering::Relaxed) == 2 => {
                // A thread that is about to sleep is not woken, and does not know that it owns the
                // lock.
                P::futex_wake(&raw const self.word, 1);
                return;
            }
            _ => {}
        }
        if self.word.swap(0, Self::RELEASE) == 2 && BROKEN != NO_WAKE {
            P::futex_wake(&raw const self.word, 1);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == 0 && self.trace.load(Ordering::Relaxed) == 0
    }
}
