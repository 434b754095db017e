//! Deadlock detection: it reports what it should, and nothing else. It is for the whole process, so
//! each test runs in a separate process (`support/again.rs`).

#![cfg(feature = "deadlock_detection")]

#[path = "../support/again.rs"]
mod again;
#[allow(dead_code, reason = "not every test that forks uses all of it")]
#[path = "../support/fork.rs"]
mod copy;

mod circles;
mod legal;
mod order;
mod process;
mod reads;
mod silence;
mod told;
