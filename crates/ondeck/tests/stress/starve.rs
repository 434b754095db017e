//! A lock without handoffs starves waiters, and the checker says so. In the same crowd the standard lock
//! starves none.

use std::time::Duration;

use ondeck::platform::{Host, Linux};

use super::checker::{Fault, Report, most_chances};
use super::crowd::{Crowd, Pace, run};
use super::few_buckets::{Few, Patient};
use super::watchdog::Watchdog;

/// Threads that take one lock again and again. The newest parked thread is woken first, so that without
/// handoffs the oldest ones sleep until the end.
fn rush<P: Host>() -> Result<Report, Fault> {
    const THREADS: usize = 6;
    let crowd = Crowd {
        threads: THREADS,
        locks: 1,
        pace: Pace::Rush,
        life: u32::MAX,
        duration: Duration::from_secs(2),
        most_chances: Some(most_chances(THREADS)),
        seed: 1,
    };
    run::<P>(&crowd, |_| ())
}

#[test]
fn no_thread_starves_in_a_rush() {
    let _watchdog = Watchdog::start("a rush", Duration::from_mins(2));
    let report = rush::<Linux>().unwrap_or_else(|fault| panic!("{fault}"));
    println!("{report:?}");
}

#[test]
fn a_lock_that_hands_nothing_over_starves_a_thread() {
    let _watchdog = Watchdog::start("a rush at a lock without handoffs", Duration::from_mins(2));
    // By chance no thread may starve in one run.
    let starved = (0..5).any(|_| matches!(rush::<Few<Patient>>(), Err(Fault::Starved { .. })));
    assert!(starved, "a thread starves");
}
