//! What every system promises to the locks, and what the locks promise on every system: `ci/systems.sh` runs this on
//! systems that the other tests do not know.
//!
//! Nothing here is of one system, and no time is asserted: that a deadline has passed is read from the clock that
//! the deadline was on.

#[path = "support/watchdog.rs"]
mod watchdog;

#[path = "systems/fences.rs"]
mod fences;
#[path = "systems/futex.rs"]
mod futex;
#[path = "systems/locks.rs"]
mod locks;
#[path = "systems/machine.rs"]
mod machine;
#[path = "systems/stress.rs"]
mod stress;
