//! Go's spinbit mutex with waiters that sleep in the kernel, as the proposal's model has it; the zoo's is the version of
//! Go 1.24.
//!
//! The published table measures patch set 1 of the change, of July 2024, whose source is not known here. The model is of
//! October, and probably of another version: alone, a pair makes two swaps here as in the lock of three states, and was
//! measured to take 18 % longer.
//!
//! Source: Rhys Hiltner, "Proposal: Improve scalability of runtime.lock2" (golang/proposal, design/68578-mutex-spinbit),
//! "futex-based option", and its TLA+ model `spinbit.tla`. Names of steps are the model's.
//!
//! ```text
//! key (u32), the futex: bit 0 LOCKED · bit 1 SLEEPING, a thread may sleep
//! spinning (u8), of the same line: 1 while a waiter may poll
//!
//! lock:   swap the key for LOCKED; if that finds it unlocked, put SLEEPING back if it was there
//!         else repeat:
//!           unlocked: the spinner exchanges the key for LOCKED | SLEEPING and clears `spinning`, any other thread
//!                     swaps for it
//!           locked:   set SLEEPING; try to be the spinner, by a swap; the spinner pauses and reads again, and gives
//!                     up after some turns; any other thread sleeps while the key is LOCKED | SLEEPING
//! unlock: swap the key for 0; if that finds SLEEPING and there is no spinner, wake one thread
//! ```
//!
//! The zoo's lock keeps a stack of nodes and wakes a specific thread. Here waiters sleep in the kernel's queue, on a
//! key that every unlock changes: most of them find that it has changed, and return.
//!
//! In the source both are bytes of one word, which the spinner exchanges as a whole. Two words are equivalent here,
//! because only the spinner clears `spinning`.

use ondeck::platform::{AtomicInt, Ordering, Platform};
use ondeck_zoo::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const LOCKED: u32 = 1;
const SLEEPING: u32 = 2;

/// Go's `active_spin`, `active_spin_cnt` and `passive_spin`, as in its three-state lock.
const ACTIVE_SPINS: u32 = 4;
const PAUSES_PER_SPIN: u32 = 30;
const PASSIVE_SPINS: u32 = 1;

/// See the [source file](self).
pub struct GoSpinbitFirst<P: Platform> {
    key: P::AtomicU32,
    spinning: P::AtomicU8,
}

impl<P: Platform> GoSpinbitFirst<P> {
    /// Tries to lock where the key was seen unlocked (the model's `TryAcquire`).
    fn acquire(&self, seen: u32, spins: bool) -> bool {
        if !spins {
            return self.key.swap(LOCKED | SLEEPING, Ordering::Acquire) & LOCKED == 0;
        }
        let new = LOCKED | SLEEPING;
        let owns =
            self.key.compare_exchange(seen, new, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if owns {
            self.spinning.store(0, Ordering::Release);
        }
        owns
    }

    #[cold]
    fn lock_slow(&self) {
        let active = P::spins(ACTIVE_SPINS);
        let mut seen = LOCKED;
        let (mut spins, mut turn) = (false, 0);
        loop {
            while seen & LOCKED == 0 {
                if self.acquire(seen, spins) {
                    return;
                }
                seen = self.key.load(Ordering::Relaxed);
            }
            if seen & SLEEPING == 0 {
                self.key.fetch_or(SLEEPING, Ordering::Relaxed);
            }
            spins = spins || self.spinning.swap(1, Ordering::Acquire) == 0;
            if spins && turn < active + PASSIVE_SPINS {
                if turn < active {
                    P::pause_times(PAUSES_PER_SPIN);
                } else {
                    P::yield_now();
                }
                turn += 1;
                seen = self.key.load(Ordering::Relaxed);
                continue;
            }
            if spins {
                spins = false;
                self.spinning.store(0, Ordering::Release);
            }
            seen = self.key.load(Ordering::Relaxed);
            if seen & LOCKED != 0 {
                // Every result means the same: the key may have changed, reread it.
                let _ = P::futex_wait(&self.key, seen | SLEEPING, None);
                turn = 0;
                seen = self.key.load(Ordering::Relaxed);
            }
        }
    }
}

// SAFETY: a thread returns from `lock` only after a read-modify-write that found LOCKED clear and set it, and only the
// owner clears it.
unsafe impl<P: Platform> RawLock<P> for GoSpinbitFirst<P> {
    const INFO: LockInfo = LockInfo {
        name: "go_spinbit_first",
        origin: Origin::Literature,
        waiting: Waiting::SpinsThenSleeps,
        touches_after_release: true,
        source: "Rhys Hiltner, golang/proposal, design/68578-mutex-spinbit, futex-based option",
        teaches: "A futex that each unlock changes keeps its waiters from sleeping",
        ..LockInfo::USUAL
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { key: AtomicInt::new(0), spinning: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        let found = self.key.swap(LOCKED, Ordering::Acquire);
        if found & LOCKED != 0 {
            self.lock_slow();
        } else if found & SLEEPING != 0 {
            self.key.fetch_or(SLEEPING, Ordering::Relaxed);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.key.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        let address = &raw const self.key;
        if self.key.swap(0, Ordering::Release) & SLEEPING != 0
            && self.spinning.load(Ordering::Relaxed) == 0
        {
            P::futex_wake(address, 1);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.key.load(Ordering::Relaxed) == 0 && self.spinning.load(Ordering::Relaxed) == 0
    }
}
