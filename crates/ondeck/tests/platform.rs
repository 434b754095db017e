//! The Linux platform: what it promises to the locks, and what it does if the kernel refuses something. What a
//! process does only once, or cannot go on after, is tested in child processes (`support/again.rs`).

#[path = "support/again.rs"]
mod again;
#[path = "support/keys.rs"]
mod keys;
#[path = "support/refuse.rs"]
mod refuse;
#[path = "support/seccomp.rs"]
mod seccomp;
#[path = "support/watchdog.rs"]
mod watchdog;

#[path = "platform/aborts.rs"]
mod aborts;
#[path = "platform/atomics.rs"]
mod atomics;
#[path = "platform/cpus.rs"]
mod cpus;
#[path = "platform/environment.rs"]
mod environment;
#[path = "platform/fences.rs"]
mod fences;
#[path = "platform/foreign_futex.rs"]
mod foreign_futex;
#[path = "platform/futex.rs"]
mod futex;
#[path = "platform/halfway.rs"]
mod halfway;
#[path = "platform/machine.rs"]
mod machine;
#[path = "platform/prepare.rs"]
mod prepare;
#[path = "platform/refusals.rs"]
mod refusals;
#[path = "platform/registration.rs"]
mod registration;
#[path = "platform/sampling.rs"]
mod sampling;
