//! Functions that the Unix systems share.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::thread::JoinHandleExt;
use std::process::ChildStdout;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::time::{ClockId, clock_gettime};

use super::CANCEL_CHECK_MILLIS;

/// A signal that nothing else in this process uses.
const FREEZE: Signal = Signal::SIGUSR2;

extern "C" fn sleep_for_ever(_signal: libc::c_int) {
    loop {
        // Async-signal-safe; returns after every other signal.
        nix::unistd::pause();
    }
}

/// Makes the thread sleep until the process ends.
///
/// A single thread cannot be killed. It can receive a signal whose handler never returns: then it sleeps, and
/// its stack, with whatever the lock keeps on it, stays valid.
pub(super) fn freeze<T>(handle: &JoinHandle<T>) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let action =
            SigAction::new(SigHandler::Handler(sleep_for_ever), SaFlags::empty(), SigSet::all());
        // SAFETY: the handler only calls pause(2), which is async-signal-safe.
        let installed = unsafe { sigaction(FREEZE, &action) };
        debug_assert!(installed.is_ok(), "SIGUSR2 can always be caught");
    });
    // A thread that has just ended cannot receive the signal, and does not need it.
    let _ = pthread_kill(handle.as_pthread_t(), FREEZE);
}

/// See [`System::read_line`](super::System::read_line).
pub(super) fn read_line(
    mut output: ChildStdout,
    limit: Duration,
    cancel: &AtomicBool,
) -> io::Result<Option<String>> {
    let start = Instant::now();
    let mut answer = Vec::new();
    let mut part = [0; 4_096];
    loop {
        let ready =
            poll(&mut [PollFd::new(output.as_fd(), PollFlags::POLLIN)], CANCEL_CHECK_MILLIS)
                .unwrap_or(0);
        if ready > 0 {
            match output.read(&mut part)? {
                0 => return Ok(Some(String::from_utf8_lossy(&answer).into_owned())),
                length => answer.extend_from_slice(&part[..length]),
            }
        } else if cancel.load(Ordering::Relaxed) || start.elapsed() > limit {
            return Ok(None);
        }
    }
}

/// Reads a clock; zero if the system does not have it.
pub(super) fn clock(clock: ClockId) -> Duration {
    clock_gettime(clock).map(Duration::from).unwrap_or_default()
}
