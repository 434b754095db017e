//! The mutex, its condition variable, the parking table and some of the other locks under random schedules of four to twenty threads:
//! scenarios that need more threads than loom can have.
//!
//! Memory is sequentially consistent; orderings are checked by loom. `ci/mutants.sh` shows that each of
//! these tests can fail. `support/shuttle_explore.rs` says how to run them for longer, and how to repeat a
//! failure.

#[path = "support/shuttle_platform.rs"]
mod shuttle_platform;

#[path = "shuttle/condvar.rs"]
mod condvar;
#[path = "shuttle/mutex.rs"]
mod mutex;
#[path = "shuttle/parking.rs"]
mod parking;
#[path = "shuttle/rwlock.rs"]
mod rwlock;
#[path = "shuttle/scenario.rs"]
mod scenario;
#[path = "shuttle/served_in_order.rs"]
mod served_in_order;
