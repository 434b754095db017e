//! How long, and how, a waiter polls before it sleeps.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::platform::{Linux, Platform};

/// A waiter's polling, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polling {
    /// How long a waiter polls altogether before it sleeps. 0: it never polls.
    pub budget: u32,
    /// The pause before the first poll where the lock changes hands now and then.
    pub short: u32,
    /// The pause between polls of a lock that its owner takes again and again: a poll costs the
    /// owner its cache line.
    pub long: u32,
    /// How long a new owner waits for the one who lost to go on deck.
    pub offer: u32,
    /// b
    pub burst: u32,
}

static BUDGET: AtomicU32 = AtomicU32::new(20_000);
static SHORT: AtomicU32 = AtomicU32::new(100);
static LONG: AtomicU32 = AtomicU32::new(4_000);
static OFFER: AtomicU32 = AtomicU32::new(400);
static BURST: AtomicU32 = AtomicU32::new(24);
static READ: AtomicU32 = AtomicU32::new(0);

fn env(name: &core::ffi::CStr, to: &AtomicU32) {
    let v = unsafe { libc::getenv(name.as_ptr()) };
    if v.is_null() { return }
    to.store(unsafe { libc::atoi(v) } as u32, Ordering::Relaxed);
}

impl Polling {
    pub(crate) fn current() -> Self {
        if READ.load(Ordering::Relaxed) == 0 {
            env(c"OD_BUDGET", &BUDGET);
            env(c"OD_SHORT", &SHORT);
            env(c"OD_LONG", &LONG);
            env(c"OD_OFFER", &OFFER);
            env(c"OD_BURST", &BURST);
            READ.store(1, Ordering::Relaxed);
        }
        let budget = if Linux::cpus() > 1 { BUDGET.load(Ordering::Relaxed) } else { 0 };
        Self { budget, short: SHORT.load(Ordering::Relaxed), long: LONG.load(Ordering::Relaxed), offer: OFFER.load(Ordering::Relaxed), burst: BURST.load(Ordering::Relaxed) }
    }
}
