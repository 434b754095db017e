//! Detects deadlocks and potential deadlocks, for locks that report to it which locks threads hold
//! and wait for.
//!
//! Made for locks, not for programs: the crate `ondeck` calls it with its feature
//! `deadlock_detection`, and exports the part for programs as `ondeck::deadlock`.
//! `ondeck run --deadlocks` uses the graph for another process. It is a separate crate because it
//! uses the standard library's collections, stacks and symbol names, which a lock does not need.
//!
//! ```text
//! lock ─► hooks ─► table     the locks that each thread holds and waits for
//!           │        ├─ order   the order in which locks were acquired: inversions
//!           │        └─ waits   threads that wait for each other: deadlocks
//!           ▼
//!         tell ─► report     stderr, or the program's handler
//! ```
//!
//! | file | what |
//! |---|---|
//! | `switch.rs` | on and off, by `ONDECK_DEADLOCK` or a call |
//! | `hooks.rs` | the hooks that locks call |
//! | `table.rs` | the locks and waits of threads |
//! | `order.rs` | the order in which locks are acquired |
//! | `waits.rs` | threads that wait for each other |
//! | `report.rs`, `tell.rs` | reports, and their delivery |
//! | `stack.rs`, `thread.rs`, `kinds.rs` | stacks, threads, and locks |
//! | `memory.rs` | collections over the system's allocator |
//! | `fork.rs` | the child of a fork |
//! | `elsewhere.rs` | the locks of another process, which has recorded them |
//!
//! It uses the system's allocator, so that locks of the program's allocator may call it. The code
//! that builds and prints a report allocates as the program does. Locks that its own code takes are
//! not reported to it.

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("ondeck-deadlock runs on 64-bit Linux only, as the locks do that call it");

mod elsewhere;
mod fork;
mod hooks;
mod kinds;
mod memory;
mod order;
mod report;
mod stack;
mod switch;
mod table;
mod tell;
mod thread;
mod waits;

pub use elsewhere::{Orders, Waiting, deadlocks};
pub use hooks::{Attempt, acquired, begin, changed, forget, ignore, meets, released};
pub use kinds::{Ends, Held, Lock, LockKind, Want};
pub use report::{Edge, Holding, Report, ReportKind};
pub use stack::Stack;
pub use switch::{Mode, disable, enable, is_on};
pub use tell::{on_report, print_reports};
pub use thread::{Thread, with_ignored};
pub use waits::check;
