//! Waits for a program in its place: signals that are sent to this process reach the program, it
//! stops when the program stops, and it ends like the program.
//!
//! Both are in one process group, so a terminal's signals reach the program directly, and are not
//! forwarded a second time. All signals are blocked here and taken one by one, so that no handler
//! is needed and no signal ends this process while it has something to do.

use std::io;
use std::process::{Child, Command};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::inherited;
use crate::outcome::Status;

/// A running program for which this process stands.
pub(crate) struct Supervised {
    pid: Pid,
}

impl Supervised {
    /// Starts the program. From here on this process takes signals only to forward them.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        inherited::pass_on_to_child(&mut command, [false; 3]);
        let all = SigSet::all();
        let mut before = SigSet::empty();
        // Comes before the program exists: a signal that arrives now is forwarded to it.
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&all), Some(&mut before))?;
        match command.spawn() {
            Ok(child) => Ok(Self { pid: pid(&child) }),
            Err(error) => {
                sigprocmask(SigmaskHow::SIG_SETMASK, Some(&before), None)?;
                Err(error)
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw().cast_unsigned()
    }

    /// Waits for the end of the program. Calls `meanwhile` whenever the time that its last call
    /// returned has passed without a signal.
    pub(crate) fn wait(self, mut meanwhile: impl FnMut() -> Duration) -> io::Result<Status> {
        let mut pause = Duration::from_millis(5);
        loop {
            if let Some(signal) = take_signal(pause) {
                self.forward(&signal);
                if signal.si_signo == libc::SIGCHLD
                    && let Some(status) = self.look()?
                {
                    return Ok(status);
                }
            } else {
                pause = meanwhile();
            }
        }
    }

    /// Checks the program; returns how it ended, if it did.
    fn look(&self) -> io::Result<Option<Status>> {
        loop {
            let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
            match waitpid(self.pid, Some(flags)) {
                Ok(WaitStatus::Exited(_, code)) => return Ok(Some(Status::Exited(code as u8))),
                Ok(WaitStatus::Signaled(_, signal, _)) => {
                    return Ok(Some(Status::Killed(signal as i32)));
                }
                // The shell that started this process must see that its job has stopped.
                Ok(WaitStatus::Stopped(..)) => {
                    kill(Pid::this(), Signal::SIGSTOP)?;
                }
                Ok(_) => return Ok(None),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn forward(&self, signal: &libc::siginfo_t) {
        // A signal from the kernel is meant for the whole group, if a terminal caused it, or for
        // this process alone. A shell that continues a job may have sent SIGCONT to this process
        // alone.
        let of_the_kernel = signal.si_code > 0;
        if of_the_kernel || signal.si_signo == libc::SIGCHLD {
            return;
        }
        // SAFETY: each signal that a process sent has the number of that process.
        let sender = unsafe { signal.si_pid() };
        if sender == self.pid.as_raw() {
            // The program has signalled its group, and so also itself.
            return;
        }
        // SAFETY: the value is a part of each signal that a process sent; without one it is zero.
        let value = unsafe { signal.si_value() };
        let pid = self.pid.as_raw();
        // A program that has just ended needs no signal.
        if signal.si_code == libc::SI_QUEUE {
            // SAFETY: the call has no preconditions: the kernel refuses unknown arguments.
            unsafe { libc::sigqueue(pid, signal.si_signo, value) };
        } else {
            // SAFETY: as above. Not through nix, which lacks realtime signals.
            unsafe { libc::kill(pid, signal.si_signo) };
        }
    }
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

/// Returns the next signal, or `None` if none arrives within `wait`.
fn take_signal(wait: Duration) -> Option<libc::siginfo_t> {
    let wait = libc::timespec {
        tv_sec: wait.as_secs().cast_signed(),
        tv_nsec: i64::from(wait.subsec_nanos()),
    };
    let all = SigSet::all();
    // SAFETY: all zeros is a value of this type of plain data.
    let mut signal: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the three live here for the length of the call.
    let taken = unsafe { libc::sigtimedwait(all.as_ref(), &raw mut signal, &raw const wait) };
    (taken > 0).then_some(signal)
}
