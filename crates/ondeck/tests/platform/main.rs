//! The Linux platform: what it promises to the locks, and what it does if the kernel refuses something. What a
//! process does only once, or cannot go on after, is tested in child processes (`support/again.rs`).

#[path = "../support/again.rs"]
mod again;
#[path = "../support/dekker.rs"]
mod dekker;
#[path = "../support/keys.rs"]
mod keys;
#[path = "../support/seccomp.rs"]
mod seccomp;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod aborts;
mod cpus;
mod environment;
mod fences;
mod foreign_futex;
mod futex;
mod halfway;
mod machine;
mod prepare;
mod refusals;
mod registration;
mod sampling;
