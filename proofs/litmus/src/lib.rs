//! A checker of litmus tests: which outcomes of a few threads with a few accesses a memory model allows.
//!
//! A litmus test here is one outcome. Each thread is a straight line of accesses, and each read has the value that
//! it returned. The checker goes through all executions in which every read returns its value: from which write each
//! read has it, and in which order the writes of each location become visible. The outcome is allowed if the model
//! accepts one of them.
//!
//! ```text
//! access.rs      a thread as the source says it: loads, stores, fences, with their orderings
//!    │ lower.rs  the mapping of compilers
//!    ▼
//! instr.rs       a thread as a machine has it: plain, acquire and release instructions, barriers
//!    │ placed.rs where a heavy fence interrupts the other threads
//!    ▼
//! event.rs       events and program order
//!    │ candidates.rs
//!    ▼
//! execution.rs   events with reads-from and coherence ──► model/  accepts it, or does not
//! ```
//!
//! The tests of this crate are what it is for: `tests/known.rs` has the litmus tests of the literature, whose verdicts
//! show a wrong checker; `tests/paths.rs` records the fast paths of `ondeck` and asks whether what may not happen can.
//! What the checker does not see is in `docs/weak-memory.md`.
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
