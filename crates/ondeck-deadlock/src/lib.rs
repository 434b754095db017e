//! Detects deadlocks, and what may become one, of the locks that tell it what threads hold and await.
//!
//! For locks, not for programs: the crate `ondeck` calls it with its feature `deadlock_detection`, and has what
//! programs use as `ondeck::deadlock`. It is here by itself since it has the standard library's collections,
//! stacks and names of functions, which a lock does not need.
//!
//! ```text
//! lock ─► hooks ─► table     which thread holds and awaits what
//!           │        ├─ order   which lock was taken while which was held: inversions
//!           │        └─ waits   which threads wait for each other: deadlocks
//!           ▼
//!         tell ─► report     stderr, or the program's handler
//! ```
//!
//! | file | what |
//! |---|---|
//! | `switch.rs` | on and off, by `ONDECK_DEADLOCK` or a call |
//! | `hooks.rs` | what locks call |
//! | `table.rs` | what is known of threads |
//! | `order.rs` | in which order locks are taken |
//! | `waits.rs` | which threads wait for each other |
//! | `report.rs`, `tell.rs` | what is told, and how |
//! | `stack.rs`, `thread.rs`, `kinds.rs` | stacks, threads, and locks |
//! | `memory.rs` | collections over the system's allocator |
//! | `fork.rs` | the child of a fork |
//!
//! It allocates by the system's allocator, so that locks of the program's allocator may call it. What builds and
//! prints a report allocates as the program does. In its own code, locks tell nothing.

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("ondeck-deadlock runs on 64-bit Linux only, as the locks do that call it");

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

pub use hooks::{Attempt, acquired, begin, changed, ends, forget, ignore, released};
pub use kinds::{Ends, Held, Lock, LockKind, Want};
pub use report::{Edge, Holding, Report, ReportKind};
pub use stack::Stack;
pub use switch::{Mode, disable, enable, is_on};
pub use tell::{on_report, print_reports};
pub use thread::{Thread, with_ignored};
pub use waits::check;
