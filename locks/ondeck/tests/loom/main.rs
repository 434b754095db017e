//! The mutex, its condition variable and the parking table under the loom model checker.
//!
//! Each test has its bound of involuntary switches in an execution next to it; `cargo test`
//! explores one fewer, `ci/loom.sh` all. The memory model is loom's, whose limits are in
//! `docs/verification.md`. `ci/mutants.sh` shows that each of these tests can fail.

#[path = "../support/keys.rs"]
mod keys;
#[path = "../support/loom_platform.rs"]
mod loom_platform;

mod barrier;
mod cancel;
mod condvar;
mod condvar_freed;
mod condvar_locks;
mod deadline;
mod fair;
mod guarded;
mod latch;
mod mutex;
mod once;
mod parking;
mod request;
mod reused;
mod rwlock;
mod rwlock_given_up;
mod rwlock_scenario;
mod rwlock_visible;
mod scenario;
mod semaphore;
mod tokens;
