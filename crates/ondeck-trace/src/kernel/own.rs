//! The switches of one thread, recorded by itself, which needs no special permission.

use std::io;

use ondeck_lab::switches::{EndOfSwitches, How, SwitchLog, SwitchRecorder, Switched};
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler};

use super::ring::{self, SWITCH};

/// A recording of the calling thread's switches.
pub(crate) struct OwnSwitches {
    ring: Sampler,
    capacity: usize,
}

/// `PERF_RECORD_MISC_SWITCH_OUT` and `..._PREEMPT`.
const OUT: u16 = 1 << 13;
const PREEMPT: u16 = 1 << 14;

impl OwnSwitches {
    /// Records each thread of a run, with this number of bytes.
    pub(crate) fn with_room(bytes: usize) -> SwitchRecorder {
        let begin = |bytes| -> Option<EndOfSwitches> {
            let own = Self::begin(bytes).ok()?;
            Some(Box::new(|| own.read()))
        };
        SwitchRecorder { bytes, begin }
    }

    /// Begins recording with this number of bytes, a power of two.
    pub(crate) fn begin(capacity: usize) -> io::Result<Self> {
        let mut ring = Builder::new(Software::DUMMY)
            .observe_self()
            .any_cpu()
            .context_switch(true)
            .sample_id_all(true)
            .sample(SampleFlag::TID | SampleFlag::TIME | SampleFlag::CPU)
            .clockid(Clock::MONOTONIC_RAW)
            .build()?
            .sampled(capacity)?;
        ring.enable()?;
        Ok(Self { ring, capacity })
    }

    /// Ends the recording.
    pub(crate) fn read(mut self) -> SwitchLog {
        // Later records do not matter, so a failure to stop is no error.
        let _ = self.ring.disable();
        let mut log = SwitchLog::default();
        log.lost = ring::drain(&mut self.ring, self.capacity, |kind, misc, head, _| {
            if kind == SWITCH {
                let how = match (misc & OUT != 0, misc & PREEMPT != 0) {
                    (false, _) => How::In,
                    (true, false) => How::Out,
                    (true, true) => How::Preempted,
                };
                log.switches.push(Switched { nanos: head.nanos, cpu: head.cpu, how });
            }
        });
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_a_switch_out_and_one_in() {
        // Where the kernel refuses, the command reports it; then there is nothing to check.
        let Ok(own) = OwnSwitches::begin(1 << 16) else { return };
        std::thread::sleep(std::time::Duration::from_millis(1));
        let log = own.read();
        let out = log.switches.iter().position(|switch| switch.how == How::Out);
        let out = out.expect("the thread slept");
        assert!(log.switches[out..].iter().any(|switch| switch.how == How::In));
        assert!(log.switches.is_sorted_by_key(|switch| switch.nanos));
        assert_eq!(log.lost, None);
    }
}
