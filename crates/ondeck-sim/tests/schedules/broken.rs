//! Locks that are broken in one place each, and an intact one.

use ondeck::platform::{AtomicInt, FutexWait, Ordering, Platform};
use ondeck_sim::engine::Sim;
use ondeck_zoo::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

type Word = <Sim as Platform>::AtomicU32;

/// Nothing is wrong.
pub const NOWHERE: u8 = 0;
/// The attempt to lock is a load and a store.
pub const NOT_ATOMIC: u8 = 1;
/// A waiter sleeps although the lock was freed since its check: it expects the current value of the word.
pub const NO_RECHECK: u8 = 2;
/// The unlock wakes no thread.
pub const NO_WAKE: u8 = 3;
/// A waiter that was woken locks as if no other thread waited.
pub const WAITERS_FORGOTTEN: u8 = 4;
/// The unlock leaves the lock taken, for a thread that may not be there.
pub const HANDOFF_TO_NOBODY: u8 = 5;

const INFO: LockInfo = LockInfo {
    name: "broken",
    origin: Origin::Own,
    waiting: Waiting::Sleeps,
    source: "this test",
    teaches: "nothing",
    ..LockInfo::USUAL
};

/// Three states in a futex word: free, taken, and taken with possible waiters; broken in the place with that
/// number.
#[derive(Debug)]
pub struct ThreeStates<const BROKEN: u8>(Word);

impl<const BROKEN: u8> ThreeStates<BROKEN> {
    fn attempt(&self, taken: u32) -> bool {
        if BROKEN == NOT_ATOMIC {
            let free = self.0.load(Ordering::Acquire) == 0;
            if free {
                self.0.store(taken, Ordering::Relaxed);
            }
            return free;
        }
        self.0.compare_exchange(0, taken, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: only the intact one excludes; the others guard nothing but counters of a test.
unsafe impl<const BROKEN: u8> RawLock<Sim> for ThreeStates<BROKEN> {
    const INFO: LockInfo = INFO;

    type Context = ();
    type Condvar = SequenceCondvar<Sim>;

    fn new() -> Self {
        Self(AtomicInt::new(0))
    }

    unsafe fn lock(&self, (): &()) {
        if self.attempt(1) {
            return;
        }
        let mine = if BROKEN == WAITERS_FORGOTTEN { 1 } else { 2 };
        loop {
            if BROKEN == NO_RECHECK {
                let state = self.0.load(Ordering::Relaxed);
                if state == 0 && self.attempt(mine) {
                    return;
                }
                if state == 1 {
                    let _ = self.0.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed);
                }
                let now = self.0.load(Ordering::Relaxed);
                let _ = Sim::futex_wait(&self.0, now, None);
                continue;
            }
            if self.0.swap(2, Ordering::Acquire) == 0 {
                self.0.store(mine, Ordering::Relaxed);
                return;
            }
            let slept = Sim::futex_wait(&self.0, 2, None);
            if BROKEN == HANDOFF_TO_NOBODY && slept == FutexWait::Woken {
                return;
            }
        }
    }

    unsafe fn try_lock(&self, (): &()) -> bool {
        self.attempt(1)
    }

    unsafe fn unlock(&self, (): &()) {
        if BROKEN == HANDOFF_TO_NOBODY && self.0.load(Ordering::Relaxed) == 2 {
            // A thread that is about to sleep is not woken, and does not know that it owns the lock.
            Sim::futex_wake(&raw const self.0, 1);
            return;
        }
        if self.0.swap(0, Ordering::Release) == 2 && BROKEN != NO_WAKE {
            Sim::futex_wake(&raw const self.0, 1);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// A word on its own line.
#[derive(Debug)]
#[repr(align(64))]
struct Apart(Word);

impl Apart {
    fn new() -> Self {
        Self(AtomicInt::new(0))
    }
}

/// Peterson's lock: loads and stores only, so it needs a full fence between them.
#[derive(Debug)]
pub struct Peterson<const FENCED: bool> {
    wants: [Apart; 2],
    turn: Apart,
    next: Apart,
}

// SAFETY: with its fence it excludes two threads; without it guards nothing but counters of a test.
unsafe impl<const FENCED: bool> RawLock<Sim> for Peterson<FENCED> {
    const INFO: LockInfo = INFO;

    /// The thread's side.
    type Context = Side;
    type Condvar = SequenceCondvar<Sim>;

    fn new() -> Self {
        Self { wants: [Apart::new(), Apart::new()], turn: Apart::new(), next: Apart::new() }
    }

    unsafe fn lock(&self, side: &Side) {
        if side.0.get() == 2 {
            side.0.set(self.next.0.fetch_add(1, Ordering::Relaxed) as usize);
        }
        let (own, other) = (side.0.get(), 1 - side.0.get());
        self.wants[own].0.store(1, Ordering::Relaxed);
        self.turn.0.store(other as u32, Ordering::Release);
        if FENCED {
            Sim::fence(Ordering::SeqCst);
        }
        while self.wants[other].0.load(Ordering::Acquire) == 1
            && self.turn.0.load(Ordering::Acquire) == other as u32
        {
            Sim::pause();
        }
    }

    unsafe fn try_lock(&self, _: &Side) -> bool {
        false
    }

    unsafe fn unlock(&self, side: &Side) {
        self.wants[side.0.get()].0.store(0, Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        self.wants.iter().all(|wants| wants.0.load(Ordering::Relaxed) == 0)
    }
}

/// 0 or 1, or 2 until it is known.
#[derive(Debug)]
pub struct Side(std::cell::Cell<usize>);

impl Default for Side {
    fn default() -> Self {
        Self(std::cell::Cell::new(2))
    }
}
