//! Overdue threads and threads of a real-time scheduling class: which of them is served next. On these
//! machines a thread is overdue as soon as it is parked.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, Hooks, calls_of, hooks, until};
use super::{no_polling, unlock, watched};

/// The time after which a thread is overdue, and the time between two that are served: zero.
fn at_once(nanos: u32) -> usize {
    match nanos {
        1_000_000 => 0,
        others => Linux::ticks_in(others),
    }
}

/// A thread that is parked for a locked mutex, and does `owned` when it has locked it.
fn park<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Hooked<H>>,
    owned: impl FnOnce() + Send + 'scope,
) {
    park_as(scope, mutex, || (), owned);
}

/// The same as `park`, but the thread does `before` first.
fn park_as<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Hooked<H>>,
    before: impl FnOnce() + Send + 'scope,
    owned: impl FnOnce() + Send + 'scope,
) {
    let sleeps = Hooked::<H>::sleeps();
    scope.spawn(move || {
        before();
        mutex.lock();
        owned();
        unlock(mutex);
    });
    Hooked::<H>::until_sleeps(sleeps + 1);
}

#[path = "overdue/beside.rs"]
mod beside;
#[path = "overdue/halves.rs"]
mod halves;
#[path = "overdue/never_runs.rs"]
mod never_runs;
#[path = "overdue/real_time.rs"]
mod real_time;
#[path = "overdue/seldom.rs"]
mod seldom;
#[path = "overdue/shared.rs"]
mod shared;
#[path = "overdue/turns.rs"]
mod turns;
