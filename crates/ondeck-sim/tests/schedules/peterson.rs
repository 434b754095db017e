//! A lock that needs a full fence between a store and a load.

use ondeck::platform::{AtomicInt, Ordering, Platform};
use ondeck_sim::engine::Sim;
use ondeck_zoo::{LockInfo, RawLock, SequenceCondvar};

type Word = <Sim as Platform>::AtomicU32;

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
    const INFO: LockInfo = LockInfo { name: "peterson", has_try_lock: false, ..LockInfo::USUAL };

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
