//! What every system promises to the locks: `ci/systems.sh` runs this on systems that the other tests do not know.
//!
//! Nothing here is of one system, and no time is asserted: that a deadline has passed is read from the clock that
//! the deadline was on.

#[path = "../support/dekker.rs"]
mod dekker;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod fences;
mod futex;
mod machine;
