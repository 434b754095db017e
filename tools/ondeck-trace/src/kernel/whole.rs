//! The scheduler's tracepoints on every CPU.

use std::io;

use ondeck::platform::{Native, Platform};
use ondeck_lab::cpus;
use ondeck_lab::environment::Refusal;
use perf_event::events::Tracepoint;
use perf_event::{Builder, Clock, SampleFlag, Sampler};

use super::events::{Event, What};
use super::format::Format;
use super::ring::{self, SAMPLE};

/// The most memory of all rings of all CPUs together.
const MEMORY: usize = 128 << 20;
/// The most memory of one CPU: the switches of half a million yields.
const MOST_OF_A_CPU: usize = 64 << 20;
const LEAST_OF_A_CPU: usize = 128 << 10;

/// The tracepoints, and the part of a CPU's memory for each.
const POINTS: [(&str, usize); 3] =
    [("sched_switch", 2), ("sched_waking", 4), ("sched_migrate_task", 8)];

/// Recordings of every CPU that is online.
pub(crate) struct WholeMachine {
    formats: Vec<Format>,
    rings: Vec<Ring>,
}

/// The events of one tracepoint on one CPU.
struct Ring {
    point: usize,
    capacity: usize,
    sampler: Sampler,
}

impl WholeMachine {
    /// Opens the tracepoints; nothing is recorded yet.
    pub(crate) fn open() -> Result<Self, Refusal> {
        let formats: Result<Vec<_>, _> =
            POINTS.iter().map(|(name, _)| Format::find(name)).collect();
        let formats = formats.map_err(|error| Refusal {
            reason: format!("the scheduler's tracepoints are not described: {error}"),
            fix: format!(
                "{}mount tracefs (`mount -t tracefs nodev /sys/kernel/tracing`)",
                as_root(is_root())
            ),
        })?;
        let cpus = online();
        let share = (MEMORY / cpus.len().max(1)).clamp(LEAST_OF_A_CPU, MOST_OF_A_CPU);
        // Rings are powers of two; rounded down, because the library rounds up.
        let mut share = 1 << share.ilog2();
        loop {
            match Self::rings(&formats, &cpus, share) {
                Ok(rings) => return Ok(Self { formats, rings }),
                // More memory than may be locked: tries with less.
                Err(error)
                    if share > LEAST_OF_A_CPU
                        && matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM)) =>
                {
                    share /= 2;
                }
                Err(error) => return Err(refusal("the scheduler's tracepoints", &error)),
            }
        }
    }

    fn rings(formats: &[Format], cpus: &[usize], share: usize) -> io::Result<Vec<Ring>> {
        let mut rings = Vec::new();
        for (point, format) in formats.iter().enumerate() {
            let capacity = share / POINTS[point].1;
            for &cpu in cpus {
                let sampler = Builder::new(Tracepoint::with_id(format.id))
                    .any_pid()
                    .one_cpu(cpu)
                    .include_kernel()
                    .sample_period(1)
                    .sample_id_all(true)
                    .sample(SampleFlag::TID | SampleFlag::TIME | SampleFlag::CPU | SampleFlag::RAW)
                    .clockid(Clock::MONOTONIC_RAW)
                    .build()?
                    .sampled(capacity)?;
                rings.push(Ring { point, capacity, sampler });
            }
        }
        Ok(rings)
    }

    /// Starts recording.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.rings.iter_mut().try_for_each(|ring| ring.sampler.enable())
    }

    /// Ends the recording. Returns the events in order and, if not all fitted, the time of the last
    /// one before the loss.
    pub(crate) fn end(&mut self) -> (Vec<Event>, Option<u64>) {
        for ring in &mut self.rings {
            // A ring that cannot be stopped also has later events, from after the run.
            let _ = ring.sampler.disable();
        }
        let mut events = Vec::new();
        let mut lost: Option<u64> = None;
        for Ring { point, capacity, sampler } in &mut self.rings {
            let format = &self.formats[*point];
            let missed = ring::drain(sampler, *capacity, |record, _, head, bytes| {
                // The length of the raw part precedes it.
                if record == SAMPLE
                    && let Some(raw) = bytes.get(4..)
                    && let Some(what) = what(POINTS[*point].0, format, raw)
                {
                    events.push(Event { nanos: head.nanos, cpu: head.cpu, what });
                }
            });
            lost = [lost, missed].into_iter().flatten().min();
        }
        events.sort_by_key(|event| event.nanos);
        (events, lost)
    }
}

/// The bits of a sleep in a tracepoint's state of a thread. Without them the thread is ready to
/// run, so its CPU was taken away. The bit above them marks a preemption by the kernel, and is no
/// sleep.
const SLEEPS: i64 = 0xff;

fn is_root() -> bool {
    // SAFETY: geteuid(2) cannot fail and touches no memory.
    unsafe { libc::geteuid() == 0 }
}

/// The first part of the advice to a user who is not root.
fn as_root(is_root: bool) -> &'static str {
    if is_root { "" } else { "run as root, " }
}

/// Explains a refused call, with the current value of the setting that decides.
pub(crate) fn refusal(what: &str, error: &io::Error) -> Refusal {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let paranoid = paranoid.map_or_else(
        |_| "this kernel has no perf events".to_owned(),
        |level| format!("kernel.perf_event_paranoid is {}", level.trim()),
    );
    Refusal {
        reason: format!("{what} refused: {error}; {paranoid}"),
        fix: format!(
            "{}grant CAP_PERFMON (`setcap cap_perfmon,cap_ipc_lock,cap_dac_read_search+ep`), or set \
             kernel.perf_event_paranoid to -1; a container also needs perf_event_open in its seccomp \
             profile",
            as_root(is_root())
        ),
    }
}

fn what(name: &str, format: &Format, raw: &[u8]) -> Option<What> {
    let id = |field: &str| format.number(field, raw).map(|id| id as i32);
    Some(match name {
        "sched_switch" => What::Switch {
            from: id("prev_pid")?,
            preempted: format.number("prev_state", raw)? & SLEEPS == 0,
            to: id("next_pid")?,
            name: format.text("next_comm", raw)?,
        },
        "sched_waking" => What::Waking { thread: id("pid")?, cpu: id("target_cpu")? as u32 },
        "sched_migrate_task" => What::Migrate { thread: id("pid")?, cpu: id("dest_cpu")? as u32 },
        // No other tracepoint was opened.
        _ => return None,
    })
}

fn online() -> Vec<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    cpus::listed(&text).unwrap_or_else(|| (0..Native::cpus()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_told_to_run_as_root() {
        assert_eq!((as_root(true), as_root(false)), ("", "run as root, "));
        let fix = refusal("it was", &io::Error::from_raw_os_error(libc::EACCES)).fix;
        assert_eq!(fix.contains("run as root"), !is_root(), "{fix}");
    }
}
