//! No thread starves in a crowd whose threads take one lock again and again.

use std::time::Duration;

use ondeck::platform::Linux;

use super::checker::most_chances;
use super::crowd::{Crowd, Pace, run};
use super::watchdog::Watchdog;

#[test]
fn no_thread_starves_in_a_rush() {
    const THREADS: usize = 6;
    let _watchdog = Watchdog::start("a rush", Duration::from_mins(2));
    let crowd = Crowd {
        threads: THREADS,
        locks: 1,
        pace: Pace::Rush,
        life: u32::MAX,
        duration: Duration::from_secs(2),
        most_chances: Some(most_chances(THREADS)),
        seed: 1,
    };
    let report = run::<Linux>(&crowd, |_| ()).unwrap_or_else(|fault| panic!("{fault}"));
    println!("{report:?}");
}
