//! A checker of litmus tests: decides which outcomes of a few threads with a few accesses a memory model allows.
//!
//! A litmus test here is one outcome. Each thread is a straight line of accesses, and each read has the value that it
//! returned. The checker enumerates all executions in which every read returns its value. An execution determines the
//! write from which each read has its value, and the order in which the writes of each location become visible. The
//! outcome is allowed if the model accepts one of them.
//!
//! ```text
//! access.rs      a thread at the level of its source: loads, stores, fences, with their orderings
//!    │ lower.rs  the mapping of compilers
//!    ▼
//! instr.rs       a thread at the level of a machine: plain, acquire and release instructions, barriers
//!    │ placed.rs where a heavy fence interrupts the other threads
//!    ▼
//! event.rs       events and program order
//!    │ candidates.rs
//!    ▼
//! execution.rs   events with reads-from and coherence ──► model/  accepts it, or does not
//! ```
//!
//! The purpose of this crate is its tests: `tests/known.rs` has the litmus tests of the literature, whose verdicts
//! expose a wrong checker; `tests/paths.rs` records the fast paths of `ondeck` and checks that forbidden outcomes
//! cannot happen. The limits of the checker are in `docs/weak-memory.md`.
//!
//! Sources: Jade Alglave, Luc Maranget and Michael Tautschnig, "Herding Cats" (TOPLAS 2014) for the method. Each model
//! names its own.

mod access;
mod candidates;
mod event;
mod execution;
mod instr;
mod lower;
mod model;
mod placed;
mod relation;

pub use access::{Access, Ordering, weaken};
pub use execution::Execution;
pub use instr::{Acquire, Instr, Set};
pub use lower::lower;
pub use model::{MODELS, Model};
pub use placed::{Test, Verdict};
pub use relation::Relation;
