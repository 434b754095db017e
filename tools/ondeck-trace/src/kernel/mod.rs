//! Events of the kernel: its scheduler's tracepoints where permitted, otherwise nothing. A refusal
//! is kept, with its remedy.

mod events;
mod format;
mod ring;
mod whole;

pub(super) use events::{Event, of_whole_machine};
pub(super) use whole::WholeMachine;
