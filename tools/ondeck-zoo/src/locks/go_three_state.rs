//! Go's `lock2` before 1.24: three states, with a spin of fixed length before each sleep.
//!
//! Source: Rhys Hiltner, "runtime: improve scaling of lock2" (Go issue 68578), which analyses this
//! lock; `runtime/lock_futex.go` up to Go 1.23.
//!
//! Teaches: a lock can keep all of its waiters awake although they may sleep. The spin lasts as
//! long as a hundred short critical sections, and each unlock in that time wakes one more waiter.
//!
//! ```text
//! key: the word of `three_states.rs`, in other steps
//!
//! lock:   swap for 1; if that finds 0 the thread owns the lock
//!         else it keeps what it found as `wait`, because it may have overwritten a 2, and repeats:
//!           4 × (0 → wait by compare-exchange, 30 pauses); 0 → wait by compare-exchange, yield
//!           swap for 2; if that finds 0 it owns the lock
//!           wait = 2, sleep while the key is 2
//! unlock: swap for 0; wake one thread if that found 2
//! ```
//!
//! `wait` keeps wakes from being lost. The first swap may make the owner's 2 a 1, and the owner's
//! unlock then wakes no thread. But the thread that did so acquires the lock with 2, or sleeps
//! after it wrote a 2. Either way the key is 2 again. A thread that slept acquires the lock with 2.
//!
//! The source's `for key == unlocked { cas }` is in effect an `if`, and is written as one here: a
//! failed exchange means that the lock is taken. On one CPU the source does not spin.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` swap for 0. Go's own atomics are
//! sequentially consistent; nothing here needs that. After that swap the unlock uses only the
//! address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::three_states::{CONTENDED, LOCKED, ThreeStates, UNLOCKED};
use crate::{LockInfo, Origin, RawLock, Waiting};

/// Go's `active_spin`, `active_spin_cnt` and `passive_spin`.
const ACTIVE_SPINS: u32 = 4;
const PAUSES_PER_SPIN: u32 = 30;
const PASSIVE_SPINS: u32 = 1;

/// Go's futex lock up to 1.23: see the [source file](self) for its states.
#[derive(Debug)]
pub struct GoThreeState<P: Platform> {
    key: ThreeStates<P>,
}

impl<P: Platform> GoThreeState<P> {
    #[inline(always)]
    fn acquire(&self, wait: u32) -> bool {
        self.key.look() == UNLOCKED
            && self
                .key
                .0
                .compare_exchange(UNLOCKED, wait, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    #[cold]
    fn lock_slow(&self, mut wait: u32) {
        let active = if P::cpus() > 1 { P::spins(ACTIVE_SPINS) } else { 0 };
        loop {
            for _ in 0..active {
                if self.acquire(wait) {
                    return;
                }
                P::pause_times(PAUSES_PER_SPIN);
            }
            for _ in 0..PASSIVE_SPINS {
                if self.acquire(wait) {
                    return;
                }
                P::yield_now();
            }
            if self.key.mark() {
                return;
            }
            wait = CONTENDED;
            self.key.sleep();
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the key from UNLOCKED to
// another value by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for GoThreeState<P> {
        INFO: LockInfo {
            name: "go_three_state",
            origin: Origin::Sources,
            waiting: Waiting::SpinsThenSleeps,
            source: "Go issue 68578 and runtime/lock_futex.go up to Go 1.23",
            teaches: "A spin longer than the section keeps every waiter awake, and throughput collapses",
            ..LockInfo::USUAL
        },
        new: Self { key: ThreeStates::new() },
        lock: |this, ()| {
            let found = this.key.0.swap(LOCKED, Ordering::Acquire);
            if found != UNLOCKED {
                this.lock_slow(found);
            }
        },
        try_lock: |this, ()| this.key.acquire().is_ok(),
        unlock: |this, ()| this.key.unlock(),
        is_idle: |this| this.key.look() == UNLOCKED,
    }
}
