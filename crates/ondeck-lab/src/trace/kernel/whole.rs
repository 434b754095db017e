//! The scheduler's tracepoints on every CPU.

use std::io;

use ondeck::platform::{Linux, Platform};
use perf_event::events::Tracepoint;
use perf_event::{Builder, Clock, SampleFlag, Sampler};

use super::events::{Event, What};
use super::format::Format;
use super::refusal;
use super::ring::{self, SAMPLE};
use crate::environment::Refusal;

/// All rings of all CPUs together take about so much memory.
const MEMORY: usize = 64 << 20;
const LARGEST_RING: usize = 8 << 20;
const SMALLEST_RING: usize = 64 << 10;

/// The tracepoints.
const NAMES: [&str; 3] = ["sched_switch", "sched_waking", "sched_migrate_task"];

/// Recordings of every CPU that is online.
pub(in crate::trace) struct WholeMachine {
    formats: Vec<Format>,
    rings: Vec<(usize, Sampler)>,
    capacity: usize,
}

impl WholeMachine {
    /// Asks for the tracepoints; nothing is recorded yet.
    pub(in crate::trace) fn open() -> Result<Self, Refusal> {
        let formats: Result<Vec<_>, _> = NAMES.iter().map(|name| Format::find(name)).collect();
        let formats = formats.map_err(|error| Refusal {
            reason: format!("the scheduler's tracepoints are not described: {error}"),
            fix: "run as root, with tracefs (`mount -t tracefs nodev /sys/kernel/tracing`)"
                .to_owned(),
        })?;
        let cpus = online();
        let mut size =
            (MEMORY / (cpus.len() * NAMES.len()).max(1)).clamp(SMALLEST_RING, LARGEST_RING);
        loop {
            match Self::rings(&formats, &cpus, size) {
                Ok(rings) => return Ok(Self { formats, rings, capacity: size }),
                // More memory than may be locked: try with less.
                Err(error)
                    if size > SMALLEST_RING
                        && matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM)) =>
                {
                    size /= 2;
                }
                Err(error) => return Err(refusal("the scheduler's tracepoints", &error)),
            }
        }
    }

    fn rings(formats: &[Format], cpus: &[usize], size: usize) -> io::Result<Vec<(usize, Sampler)>> {
        let mut rings = Vec::new();
        for (kind, format) in formats.iter().enumerate() {
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
                    .sampled(size)?;
                rings.push((kind, sampler));
            }
        }
        Ok(rings)
    }

    /// Records from now on.
    pub(in crate::trace) fn begin(&mut self) -> io::Result<()> {
        self.rings.iter_mut().try_for_each(|(_, ring)| ring.enable())
    }

    /// Ends the recording: the events in their order and, if not all fitted, the time of the last
    /// before that.
    pub(in crate::trace) fn end(&mut self) -> (Vec<Event>, Option<u64>) {
        for (_, ring) in &mut self.rings {
            // A ring that cannot be stopped has events of later; they are after the run.
            let _ = ring.disable();
        }
        let mut events = Vec::new();
        let mut lost: Option<u64> = None;
        for (kind, ring) in &mut self.rings {
            let format = &self.formats[*kind];
            let missed = ring::drain(ring, self.capacity, |record, _, head, bytes| {
                // The length of the raw part stands before it.
                if record == SAMPLE
                    && let Some(raw) = bytes.get(4..)
                    && let Some(what) = what(NAMES[*kind], format, raw)
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

fn what(name: &str, format: &Format, raw: &[u8]) -> Option<What> {
    let id = |field: &str| format.number(field, raw).map(|id| id as i32);
    Some(match name {
        "sched_switch" => What::Switch {
            from: id("prev_pid")?,
            // Ready to run, and so taken away: no bit of a sleep. The bit above those is set for a
            // preemption in the kernel and is none.
            preempted: format.number("prev_state", raw)? & 0xff == 0,
            to: id("next_pid")?,
            name: format.text("next_comm", raw)?,
        },
        "sched_waking" => What::Waking { thread: id("pid")?, cpu: id("target_cpu")? as u32 },
        _ => What::Migrate { thread: id("pid")?, cpu: id("dest_cpu")? as u32 },
    })
}

fn online() -> Vec<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let range = |part: &str| -> Option<Vec<usize>> {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some((from.parse().ok()?..=to.parse().ok()?).collect())
    };
    let parts: Option<Vec<_>> = text.trim().split(',').map(range).collect();
    parts.map_or_else(|| (0..Linux::cpus()).collect(), |parts| parts.concat())
}
