//! Events of the kernel: its scheduler's tracepoints where permitted, otherwise the switches that
//! each thread may record of itself, otherwise nothing. Each refusal is kept, with its remedy.

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "no event is ever told"))]
mod events;

cfg_select! {
    target_os = "linux" => {
        mod format;
        mod own;
        mod ring;
        mod whole;

        pub(super) use own::OwnSwitches;
        pub(super) use whole::{WholeMachine, refusal};
    }
    _ => {
        mod absent;

        pub(super) use absent::{OwnSwitches, WholeMachine, refusal};
    }
}

pub(super) use events::{Event, of_own_switches, of_whole_machine};
