//! Runs a program's threads on a simulated machine, with another lock, or with shorter sections.
//!
//! ```text
//! Recording ─► script    operations that are balanced, of threads that matter; locks shared or each thread's own
//!                │
//!                ▼
//!               run      N simulated threads carry them out: throughput, how long each lock was busy
//!                │
//!                ├──► anchor     the recording as it was: how far its rate is from the recorded one
//!                ├──► bound      the rate of a queueing network, as a second opinion
//!                ▼
//!             outlook    by locks and numbers of threads; the first lock that saturates, and from when on
//! ```
//!
//! # The replay
//!
//! Each simulated thread stands for a recorded one: thread `i` of `N` for thread `i` modulo the
//! number of recorded ones. It replays bursts of that thread, drawn with a weight of the
//! acquisitions that each stands for: it works for the recorded time, locks, works, unlocks.
//! Waiting is not recorded; it follows from the machine and the lock. Where the recorded thread
//! slept, or waited for a condition variable or a device, the simulated one sleeps for the same
//! time.
//!
//! A recording with enough bursts is divided into parts of equal time, which are simulated one by
//! one, so that phases of a program are not mixed. A program takes the time of all its parts.
//!
//! A lock that several recorded threads use is shared by all simulated threads. A lock that only
//! one of several recorded threads uses is private: each simulated thread that stands for that
//! thread has one.
//!
//! # Saturation
//!
//! A lock is busy while a thread has it or wants it. It is saturated if it is busy for
//! [`SATURATED`] of the time: additional threads only wait longer.

#![warn(missing_docs)]

mod anchor;
mod bound;
mod long;
mod outlook;
mod passage;
mod recording;
mod run;
mod script;

pub use anchor::{Anchor, RECORDED_WITH, reasons, transfer};
pub use bound::bound;
pub use outlook::{Outlook, Row, Saturation, outlook};
pub use passage::Shorter;
pub use recording::{Action, Burst, Error, Lock, Long, Operation, Recording, Site, Thread};
pub use run::{Outcome, Setup, run};
pub use script::{Script, Sharing, longest_site};

/// Nanoseconds from which on a section is long, and recorded with its count wherever it is.
pub const LONG: f64 = 20_000.0;

/// The busy part of the time from which on a lock is saturated.
pub const SATURATED: f64 = 0.9;
