//! CPython's mutex: one byte over a parking lot, with a handoff to a thread that has waited for 1 ms.
//!
//! Source: CPython 3.13, `Python/lock.c` (`PyMutex`), by Sam Gross, after the locks of WebKit's
//! `WTF::ParkingLot`. The values are those of builds without the global interpreter lock.
//!
//! Teaches: what a byte over a table is without a poller. This project's own mutex is such a byte, too. Here no
//! thread polls while one is parked, and each unlock with a parked thread takes it out of the table and wakes it.
//! That thread finds the lock taken again, unless it has waited for so long that it is handed it.
//!
//! ```text
//! bits (u8): bit 0 LOCKED · bit 1 HAS_PARKED
//!
//! change            made by               operation
//! 0 → LOCKED        a thread that locks   compare-exchange
//! + LOCKED          a waiter              compare-exchange, if LOCKED is clear
//! + HAS_PARKED      a waiter              compare-exchange, while LOCKED is set, before it parks
//! LOCKED → 0        the owner             compare-exchange
//! LOCKED, HAS_PARKED → any   the owner    store, under the bucket's lock, with a thread taken out:
//!                     LOCKED      if that thread began to wait more than 1 ms ago: the handoff
//!                     HAS_PARKED  if other threads are parked
//! ```
//!
//! A waiter yields 40 times before it parks, unless a thread is parked already. As in the source, it does not read
//! the byte between these yields.
//!
//! The waiters' queue is this project's parking table, by its interface for locks of others: `park` links
//! a thread only if the byte still has both bits, which it reads under the bucket's lock. The source's parking lot
//! promises the same.
//!
//! # Memory ordering
//!
//! A change that sets `LOCKED` is `Acquire`, and one that clears it is `Release`: these pair. A handed-off lock
//! keeps `LOCKED`; there the pair is that of the table, which a parked thread reads with `Acquire` when it is
//! told to go on. The byte is read `Relaxed` under the bucket's lock, because the store that takes a thread out is made
//! under it. After the store the unlock uses only the byte's address, as a key.

use std::cell::Cell;
use std::ptr;

use ondeck::parking::Parked;
use ondeck::parking::tokens::{self, Choice, Unparked};
use ondeck::platform::{AtomicInt, Host, Ordering};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const LOCKED: u8 = 1;
const HAS_PARKED: u8 = 2;

/// `MAX_SPIN_COUNT` of the source.
const MOST_YIELDS: u32 = 40;
/// `TIME_TO_BE_FAIR_NS` of the source.
const FAIR_AFTER_NANOS: u32 = 1_000_000;

/// The token of a thread that is handed the lock.
const HANDED_OFF: usize = 1;

/// A byte over the parking table: see the [source file](self).
#[derive(Debug)]
pub struct Cpython<P: Host> {
    bits: P::AtomicU8,
}

impl<P: Host> Cpython<P> {
    #[inline(always)]
    fn exchange(&self, from: u8, to: u8, success: Ordering) -> Result<u8, u8> {
        self.bits.compare_exchange(from, to, success, Ordering::Relaxed)
    }

    #[cold]
    fn lock_slow(&self) {
        let key = ptr::from_ref(&self.bits).addr();
        let fair_from = (P::ticks() as usize).wrapping_add(P::ticks_in(FAIR_AFTER_NANOS));
        let mut yields = 0;
        let mut bits = self.bits.load(Ordering::Relaxed);
        loop {
            if bits & LOCKED == 0 {
                match self.exchange(bits, bits | LOCKED, Ordering::Acquire) {
                    Ok(_) => return,
                    Err(now) => bits = now,
                }
                continue;
            }
            if bits & HAS_PARKED == 0 {
                if yields < P::spins(MOST_YIELDS) {
                    P::yield_now();
                    yields += 1;
                    continue;
                }
                if let Err(now) = self.exchange(bits, bits | HAS_PARKED, Ordering::Relaxed) {
                    bits = now;
                    continue;
                }
            }
            let validate = || self.bits.load(Ordering::Relaxed) == LOCKED | HAS_PARKED;
            // SAFETY: the key is the address of the byte, which is this lock's alone.
            let parked =
                unsafe { tokens::park::<P>(key, fair_from, validate, || (), |_, _| (), None) };
            if parked == (Parked::Woken, HANDED_OFF) {
                return;
            }
            bits = self.bits.load(Ordering::Relaxed);
        }
    }

    /// Takes the oldest parked thread out, and wakes it or hands it the lock.
    #[cold]
    fn unlock_slow(&self) {
        let bits = &self.bits;
        let fair_from = Cell::new(None);
        let choose = |token| {
            if fair_from.get().is_some() {
                return Choice::Stop;
            }
            fair_from.set(Some(token));
            Choice::Unpark
        };
        let then = |done: Unparked| {
            let hands_off = fair_from
                .get()
                .is_some_and(|from| (P::ticks() as usize).wrapping_sub(from).cast_signed() > 0);
            let others = if done.others { HAS_PARKED } else { 0 };
            bits.store(others | (u8::from(hands_off) * LOCKED), Ordering::Release);
            usize::from(hands_off) * HANDED_OFF
        };
        // SAFETY: as in `lock_slow`.
        unsafe { tokens::unpark::<P>(ptr::from_ref(bits).addr(), choose, then) };
    }
}

// SAFETY: a thread returns from `lock` after it set `LOCKED` by a compare-exchange that found it clear, or when
// an owner left it set and told this one thread so. Only the owner clears it.
unsafe impl<P: Host> RawLock<P> for Cpython<P> {
    const INFO: LockInfo = LockInfo {
        name: "cpython",
        origin: Origin::Literature,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "CPython 3.13, Python/lock.c, PyMutex",
        teaches: "A byte over a parking lot: each unlock with parked threads takes one out, after 1 ms with the lock",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { bits: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if self.exchange(0, LOCKED, Ordering::Acquire).is_err() {
            self.lock_slow();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        let bits = self.bits.load(Ordering::Relaxed);
        bits & LOCKED == 0 && self.exchange(bits, bits | LOCKED, Ordering::Acquire).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // A failure means that a thread has parked, or is about to.
        if self.exchange(LOCKED, 0, Ordering::Release).is_err() {
            self.unlock_slow();
        }
    }

    fn is_idle(&mut self) -> bool {
        self.bits.load(Ordering::Relaxed) == 0
    }
}
