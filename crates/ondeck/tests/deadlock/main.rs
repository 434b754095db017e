//! The detection of deadlocks: what is reported, and that nothing else is. It is for the whole process, so each
//! test has a process of its own (`support/again.rs`).

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
