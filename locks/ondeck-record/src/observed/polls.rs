//! Calls of sched_yield(2) by a thread that polls a lock.
//!
//! parking_lot, TBB and others yield some times before they sleep, which takes milliseconds if
//! other threads want the CPU. A call of sched_yield(2) belongs to a lock if the same frame of the
//! stack then calls what sleeps: the return addresses of both calls are at the same place. Then the
//! wait began with the first such call, and the place of the call is remembered: a thread that
//! yields there and does not sleep has acquired the lock after its last call.
//!
//! Calls that no sleep follows are recorded as a wait of their own, without a keeper. The reader
//! knows by the functions of their place whether they were for a lock.

use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::recall::Recall;
use crate::clock;

/// Nanoseconds between two calls that belong to one wait.
const CLOSE: u64 = 50_000;

/// The return addresses of calls that belong to locks. A full table forgets none of them.
static PLACES: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// The last calls of a thread.
pub struct Polls {
    /// The place of the return address on the stack, and the return address; 0 if there are none.
    base: usize,
    address: usize,
    /// When the first one began, and when the last one ended.
    first: u64,
    last: u64,
    /// The number of the stack of the first one plus 1; 0 if it is not known.
    stack: u32,
}

/// Calls that no sleep has followed.
#[derive(Clone, Copy)]
pub struct Polled {
    pub stack: u32,
    pub ticks: u64,
}

impl Polls {
    pub fn clear(&mut self) {
        self.base = 0;
    }

    /// Returns whether a call whose return address is at `base` follows others from there.
    pub fn goes_on(&self, base: usize, now: u64) -> bool {
        let passed = now.saturating_sub(self.last);
        (self.base, self.address) == (base, address_at(base)) && passed <= clock::ticks_in(CLOSE)
    }

    /// Notes the first call from there.
    pub fn begin(&mut self, base: usize, now: u64, stack: u32) {
        let address = address_at(base);
        *self = Self { base, address, first: now, last: now, stack };
    }

    /// Takes the calls, if there are any.
    pub fn take(&mut self) -> Option<Polled> {
        let is_any = self.base != 0 && self.stack != 0;
        self.base = 0;
        let ticks = self.last.saturating_sub(self.first);
        is_any.then_some(Polled { stack: self.stack, ticks })
    }

    pub fn end(&mut self, now: u64) {
        self.last = now;
    }

    /// Returns when a wait began that sleeps from `now` on, with the stack at `base`, if it has
    /// polled before.
    pub fn before_sleep(&mut self, base: usize, now: u64, recall: &Recall) -> Option<u64> {
        let is_one = self.base != 0
            && now.saturating_sub(self.last) <= clock::ticks_in(CLOSE)
            && recall.has(base, self.base);
        is_one.then(|| {
            remember(self.address);
            self.clear();
            self.first
        })
    }

    /// Returns a time before which the thread has not acquired the lock that it now unlocks; 0 if
    /// there is none.
    pub fn acquired(&self) -> u64 {
        let is_of_lock = self.base != 0
            && PLACES.iter().any(|place| place.load(Ordering::Relaxed) == self.address);
        if is_of_lock { self.last } else { 0 }
    }
}

/// Returns the return address at `base`.
fn address_at(base: usize) -> usize {
    // SAFETY: the return address of a function that has not returned.
    unsafe { ptr::with_exposed_provenance::<usize>(base).read_volatile() }
}

/// Relaxed: the table only improves times.
fn remember(address: usize) {
    for place in &PLACES {
        let known = place.load(Ordering::Relaxed);
        if known == address
            || known == 0
                && place.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            return;
        }
    }
}
