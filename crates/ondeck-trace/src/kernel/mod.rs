//! Events of the kernel: its scheduler's tracepoints where permitted, otherwise the switches that
//! each thread may record of itself, otherwise nothing. Each refusal is kept, with its remedy.

mod events;
mod format;
mod own;
mod ring;
mod whole;

pub(super) use events::{Event, of_own_switches, of_whole_machine};
pub(super) use own::OwnSwitches;
pub(super) use whole::{WholeMachine, refusal};
