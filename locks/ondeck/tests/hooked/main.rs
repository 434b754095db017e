//! The locks on a machine that stops threads where a test wants, so that an interleaving that is
//! one in a million on a real machine happens in each run.
//!
//! Nothing here depends on time: a thread that waits for another waits until that one has arrived.
//! A test that would hang ends with a message.

#[macro_use]
#[path = "../support/delegated.rs"]
mod delegated;
#[path = "../support/hooked_platform.rs"]
mod hooked_platform;
#[path = "../support/keys.rs"]
mod keys;
#[path = "../support/hooked_waits.rs"]
mod until;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod actor;
mod barrier;
mod bucket_unpolled;
mod cancel;
mod captured;
mod heir;
mod inlined;
mod isolation;
mod moved;
mod notify;
mod notify_all;
mod notify_urgent;
mod offers;
mod once;
mod reborn;
mod roles;
mod rwlock;
mod rwlock_turns;
mod semaphore;
mod steered;
mod timed;
mod visible;
mod waits;

use std::io::Write;
use std::time::Duration;

use ondeck::mutex::RawMutex;

use hooked_platform::{Hooked, Hooks};
use watchdog::Watchdog;

/// Ends the process if the test hangs, as it does after a lost wake. It also ends the process if
/// the test fails, because stopped threads would then stay stopped forever.
fn watched() -> Watchdog {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(std::io::stderr(), "{panic}");
        std::process::exit(1);
    }));
    until::watch();
    Watchdog::start("a test", Duration::from_mins(1))
}

/// Unlocks for the owner.
fn unlock<H: Hooks>(mutex: &RawMutex<Hooked<H>>) {
    // SAFETY: the tests unlock only locks that they have locked, possibly in another thread.
    unsafe { mutex.unlock() };
}
