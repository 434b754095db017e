//! The real machine.

use std::time::Duration;

use ondeck::platform::Native;

use super::Machine;
use crate::any::AnyMutex;
use crate::system;
use crate::team::{self, Body, Outcome, TeamError, TeamSetting, Teams, Until};
use crate::usage::Usage;
use crate::work::Work;

impl Teams for Native {
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

    fn thread_number() -> i32 {
        system::thread_number()
    }

    /// Whether a thread of this process sleeps in the kernel without a timeout that it chose.
    fn is_parked(thread: i32) -> bool {
        thread != 0 && system::is_parked(thread)
    }
}

impl Machine for Native {
    #[inline(always)]
    fn perform(work: Work) {
        work.perform();
    }

    #[inline(always)]
    fn touch<T: ?Sized>(_data: &T, _write: bool) {}

    fn sleep(time: Duration) {
        std::thread::sleep(time);
    }

    fn native(lock: AnyMutex<Self>) -> Option<AnyMutex<Native>> {
        Some(lock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_parked_when_it_sleeps_for_good() {
        let own = Native::thread_number();
        assert!(!Native::is_parked(own), "it runs");
        let (id, given) = std::sync::mpsc::channel();
        let parked = std::thread::spawn(move || {
            // The receiver exists until this thread has been joined.
            let _ = id.send(Native::thread_number());
            std::thread::park();
        });
        let its = given.recv().expect("the thread sends its number");
        while !Native::is_parked(its) {
            std::thread::yield_now();
        }
        parked.thread().unpark();
        assert!(parked.join().is_ok());
        assert!(!Native::is_parked(its), "it is gone");
    }
}
