//! The mutex, its condition variable and the parking table under the loom model checker.
//!
//! The bounds of each test, in involuntary switches an execution, are beside it; `cargo test` explores one
//! fewer, `ci/loom.sh` all. Loom's memory model. What that cannot see is written in `docs/limits.md`; that each of these tests can fail is
//! shown by `ci/mutants.sh`.

#[path = "support/loom_platform.rs"]
mod loom_platform;

#[path = "loom/condvar.rs"]
mod condvar;
#[path = "loom/condvar_freed.rs"]
mod condvar_freed;
#[path = "loom/cpus.rs"]
mod cpus;
#[path = "loom/deadline.rs"]
mod deadline;
#[path = "loom/demand.rs"]
mod demand;
#[path = "loom/fences.rs"]
mod fences;
#[path = "loom/mutex.rs"]
mod mutex;
#[path = "loom/parking.rs"]
mod parking;
#[path = "loom/remembered.rs"]
mod remembered;
#[path = "loom/reused.rs"]
mod reused;
#[path = "loom/roles.rs"]
mod roles;
#[path = "loom/scenario.rs"]
mod scenario;
