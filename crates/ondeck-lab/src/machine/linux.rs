//! The real machine.

use std::fs;
use std::time::Duration;

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::Machine;
use crate::sample::Sample;
use crate::team::{self, Body, Outcome, TeamError, TeamSetting, Until};
use crate::usage::Usage;
use crate::work::Work;
use crate::workload::{RealRound, Round};

impl Machine for Linux {
    fn run_team<T: Send + 'static>(
        setting: &TeamSetting,
        until: Until,
        body: &Body<Self, T>,
    ) -> Result<Outcome<T>, TeamError> {
        team::threads::run(setting, until, body)
    }

    fn usage() -> Usage {
        Usage::of_this_thread()
    }

    #[inline(always)]
    fn perform(work: Work) {
        work.perform();
    }

    #[inline(always)]
    fn touch<T: ?Sized>(_data: &T, _write: bool) {}

    fn sleep(time: Duration) {
        std::thread::sleep(time);
    }

    fn thread_number() -> i32 {
        nix::unistd::gettid().as_raw()
    }

    /// Whether a thread of this process sleeps in the kernel, and not only for a time of its own choice.
    fn is_parked(thread: i32) -> bool {
        if thread == 0 {
            return false;
        }
        let read = |file: &str| {
            fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).unwrap_or_default()
        };
        let stat = read("stat");
        let asleep =
            stat.rsplit_once(')').is_some_and(|(_, state)| state.trim_start().starts_with('S'));
        if !asleep {
            return false;
        }
        // If the kernel does not tell the call, it has to be enough that the thread sleeps.
        let call = read("syscall");
        let call =
            call.split_whitespace().next().and_then(|word| word.parse::<libc::c_long>().ok());
        !matches!(call, Some(libc::SYS_nanosleep | libc::SYS_clock_nanosleep))
    }

    fn real_round<W: RealRound, L: RawLock<Self>>(
        given: &Round,
        own: &W::Own,
    ) -> Result<Sample, TeamError> {
        W::round_here::<L>(given, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_parked_when_it_sleeps_for_good() {
        let own = Linux::thread_number();
        assert!(!Linux::is_parked(own), "it runs");
        let (id, given) = std::sync::mpsc::channel();
        let parked = std::thread::spawn(move || {
            // The receiver is there until this thread has been joined.
            let _ = id.send(Linux::thread_number());
            std::thread::park();
        });
        let its = given.recv().expect("the thread sends its number");
        while !Linux::is_parked(its) {
            std::thread::yield_now();
        }
        parked.thread().unpark();
        assert!(parked.join().is_ok());
        assert!(!Linux::is_parked(its), "it is gone");
    }
}
