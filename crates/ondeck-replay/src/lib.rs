//! A program's threads on a machine that is not there, with another lock, or with shorter sections.
//!
//! ```text
//! Recording ─► script    operations that are balanced, of threads that matter; locks shared or each thread's own
//!                │
//!                ▼
//!               run      N simulated threads carry them out: throughput, how long each lock was busy
//!                │
//!                ▼
//!             outlook    by locks and numbers of threads; the first lock that saturates, and from when on
//! ```
//!
//! # What is carried out
//!
//! Each simulated thread stands for a recorded one: thread `i` of `N` for thread `i` modulo the number of recorded
//! ones. It carries out bursts of that thread, chosen at random by the number of acquisitions that each stands for:
//! works as long as was recorded, locks, works, unlocks. Waiting is not recorded, it follows from the machine and the
//! lock. Where the recorded thread slept, waited for a condition variable or for a device, the simulated one sleeps as
//! long.
//!
//! A recording with enough bursts is divided into parts of equal time, which are simulated one by one: so phases of a
//! program are not mixed. A program takes the time of all its parts.
//!
//! A lock that several recorded threads use is shared by all simulated threads. A lock that one of several recorded
//! threads uses is that thread's own, and each simulated thread that stands for it has one.
//!
//! # Saturation
//!
//! A lock is busy while a thread has it or wants it. It is saturated if it is busy for [`SATURATED`] of the time: more
//! threads only wait longer.

#![warn(missing_docs)]

mod outlook;
mod recording;
mod run;
mod script;

pub use outlook::{Outlook, Row, Saturation, outlook};
pub use recording::{Action, Burst, Error, Lock, Operation, Recording, Site, Thread};
pub use run::{Outcome, Setup, run};
pub use script::{Script, Sharing, Shorter, longest_site};

/// The part of the time from which on a lock that is busy is saturated.
pub const SATURATED: f64 = 0.9;
