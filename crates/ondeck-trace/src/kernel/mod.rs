//! What the kernel did: its scheduler's tracepoints where permitted, else the switches that each
//! thread may record of itself, else nothing. Each refusal is kept, with what would lift it.

mod events;
mod format;
mod own;
mod ring;
mod whole;

use ondeck_lab::environment::Refusal;

pub(super) use events::{Event, of_own_switches, of_whole_machine};
pub(super) use own::OwnSwitches;
pub(super) use whole::WholeMachine;

/// How a refused call is told: with the setting that decides, as it is now.
pub(super) fn refusal(what: &str, error: &std::io::Error) -> Refusal {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let paranoid = paranoid.map_or_else(
        |_| "this kernel has no perf events".to_owned(),
        |level| format!("kernel.perf_event_paranoid is {}", level.trim()),
    );
    Refusal {
        reason: format!("{what} refused: {error}; {paranoid}"),
        fix: "run as root, grant CAP_PERFMON (`setcap cap_perfmon,cap_ipc_lock,\
              cap_dac_read_search+ep`), or set kernel.perf_event_paranoid to -1; a container also \
              needs perf_event_open in its seccomp profile"
            .to_owned(),
    }
}
