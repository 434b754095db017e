//! The mutex, its condition variable and the parking table under random schedules of four to
//! twenty threads: what takes more threads than loom can have.
//!
//! Sequentially consistent; the orderings are loom's to check. That each of these tests can fail is
//! shown by `ci/mutants.sh`. How to run them for longer, and to have a failure again, is told in
//! `support/shuttle_explore.rs`.

#[path = "support/shuttle_platform.rs"]
mod shuttle_platform;

#[path = "shuttle/condvar.rs"]
mod condvar;
#[path = "shuttle/mutex.rs"]
mod mutex;
#[path = "shuttle/parking.rs"]
mod parking;
#[path = "shuttle/scenario.rs"]
mod scenario;
