//! The mutex, its condition variable and the parking table under the loom model checker.
//!
//! Beside each test is its bound of involuntary switches in an execution; `cargo test` explores one fewer,
//! `ci/loom.sh` all. The memory model is loom's, and `docs/verification.md` says what it does not show.
//! `ci/mutants.sh` shows that each of these tests can fail.

#[path = "support/loom_platform.rs"]
mod loom_platform;

#[path = "loom/barrier.rs"]
mod barrier;
#[path = "loom/biased.rs"]
mod biased;
#[path = "loom/cancel.rs"]
mod cancel;
#[path = "loom/combining.rs"]
mod combining;
#[path = "loom/condvar.rs"]
mod condvar;
#[path = "loom/condvar_freed.rs"]
mod condvar_freed;
#[path = "loom/deadline.rs"]
mod deadline;
#[path = "loom/event.rs"]
mod event;
#[path = "loom/fair.rs"]
mod fair;
#[path = "loom/guarded.rs"]
mod guarded;
#[path = "loom/latch.rs"]
mod latch;
#[path = "loom/mutex.rs"]
mod mutex;
#[path = "loom/once.rs"]
mod once;
#[path = "loom/parker.rs"]
mod parker;
#[path = "loom/parking.rs"]
mod parking;
#[path = "loom/request.rs"]
mod request;
#[path = "loom/reused.rs"]
mod reused;
#[path = "loom/rwlock.rs"]
mod rwlock;
#[path = "loom/rwlock_given_up.rs"]
mod rwlock_given_up;
#[path = "loom/rwlock_scenario.rs"]
mod rwlock_scenario;
#[path = "loom/rwlock_visible.rs"]
mod rwlock_visible;
#[path = "loom/scenario.rs"]
mod scenario;
#[path = "loom/semaphore.rs"]
mod semaphore;
#[path = "loom/tokens.rs"]
mod tokens;
