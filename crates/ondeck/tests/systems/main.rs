//! The guarantees of every system to the locks: `ci/systems.sh` runs this on systems that the other tests do not
//! support.
//!
//! Nothing here is specific to one system, and no time is asserted: the clock of a deadline shows that it has
//! passed.

#[path = "../support/dekker.rs"]
mod dekker;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod fences;
mod futex;
mod machine;
