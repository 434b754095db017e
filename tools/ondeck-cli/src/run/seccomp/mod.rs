//! Observes the waits of programs into which no library can be loaded: the kernel notifies this
//! process of each call of futex(2), and the calling thread is stopped until the answer, which is
//! always to continue (seccomp(2), `SECCOMP_RET_USER_NOTIF`).
//!
//! ```text
//! program   futex(2) ─► stopped ────────────────────────► continues
//!                          │                                 ▲
//! server               receive ─► calls: waits and wakes ─► send
//!                                   │
//!                                 ondeck_record::observed::remote, with stacks by `Stopped` of ondeck_profile
//! ```
//!
//! The filter goes to all children of the program. If there is no listener any more, the kernel
//! refuses their calls. So a process of this command answers as long as one of them lives.

mod calls;
mod filter;
mod futex;

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

use nix::sys::signal::SigSet;

use calls::Calls;

/// How long the server waits for a notification before it looks whether it is to end, in
/// milliseconds.
const PAUSE: libc::c_int = 50;

/// Returns why the kernel does not notify, with what to do next.
pub(super) fn refused(error: &io::Error) -> String {
    let next = match error.raw_os_error() {
        Some(libc::EBUSY) => {
            "another program that observes this one has its notifications already; start it outside of that"
        }
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => {
            "allow seccomp(2) in the container, as with `docker run --security-opt seccomp=unconfined`"
        }
        _ => "it needs Linux 5.5 or later",
    };
    format!("the kernel refuses to notify of its calls ({error}); {next}")
}

/// The thread that answers a program's calls.
pub(super) struct Server {
    started: Receiver<io::Result<()>>,
    thread: JoinHandle<(Option<OwnedFd>, usize)>,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Prepares a program for being observed, with recordings in a folder.
    pub(super) fn prepare(command: &mut Command, folder: &Path) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: the closure only makes system calls.
        unsafe {
            command.pre_exec(move || filter::install(&theirs));
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let (tell, started) = mpsc::channel();
        let (calls, over) = (Calls::new(folder), Arc::clone(&is_over));
        let thread = thread::Builder::new().name("notifications".to_owned()).spawn(move || {
            // Signals are for the thread that forwards them to the program.
            _ = SigSet::all().thread_block();
            be_prompt();
            match filter::receive(&ours) {
                Ok(listener) => {
                    _ = tell.send(Ok(()));
                    serve(listener, calls, &over)
                }
                Err(error) => {
                    _ = tell.send(Err(error));
                    (None, 0)
                }
            }
        })?;
        Ok(Self { started, thread, is_over })
    }

    /// Returns whether the kernel notifies, after the program was started.
    pub(super) fn is_observing(&self) -> io::Result<()> {
        self.started.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
    }

    /// Ends recording after the program's end. If some of its children are left, another process
    /// goes on to answer. Returns the number of processes that could not be recorded.
    pub(super) fn end(self) -> usize {
        self.is_over.store(true, Ordering::Relaxed);
        let Ok((left, unrecorded)) = self.thread.join() else { return 1 };
        let Some(listener) = left else { return unrecorded };
        // SAFETY: the child only makes system calls.
        if unsafe { libc::fork() } == 0 {
            // A reader of the command's output waits until no process has it open.
            for stream in 0..3 {
                // SAFETY: closes a descriptor that this process does not use any more.
                unsafe { libc::close(stream) };
            }
            while let Some(notice) = receive(&listener) {
                go_on(&listener, notice.id);
            }
            // SAFETY: ends this process without running what the parent registered.
            unsafe { libc::_exit(0) };
        }
        unrecorded
    }
}

/// Raises this thread's priority, if that is allowed. On CPUs that are all busy, a stopped thread
/// otherwise waits for this one to get a CPU, and the beginning of its wait is seen late: on two,
/// 10 to 20 % of all waiting is missing.
fn be_prompt() {
    // SAFETY: sets a number of this thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}

/// Answers calls until no process is left that makes them, or until it is over; returns the
/// listener in that case, and the number of processes that could not be recorded.
fn serve(listener: OwnedFd, mut calls: Calls, is_over: &AtomicBool) -> (Option<OwnedFd>, usize) {
    while !is_over.load(Ordering::Relaxed) {
        match poll(&listener, PAUSE) {
            Polled::Nothing => {}
            Polled::Ended => return (None, calls.unrecorded),
            Polled::Notice => {
                let Some(notice) = receive_one(&listener) else { continue };
                calls.see(notice.pid, &notice.data);
                go_on(&listener, notice.id);
            }
        }
    }
    (Some(listener), calls.unrecorded)
}

enum Polled {
    Nothing,
    Notice,
    Ended,
}

fn poll(listener: &OwnedFd, wait: libc::c_int) -> Polled {
    let mut one = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, which lives here.
    let count = unsafe { libc::poll(&raw mut one, 1, wait) };
    match count {
        1 if one.revents & libc::POLLIN != 0 => Polled::Notice,
        1 => Polled::Ended,
        _ => Polled::Nothing,
    }
}

/// Waits for the next call; returns `None` if no process is left.
fn receive(listener: &OwnedFd) -> Option<libc::seccomp_notif> {
    loop {
        match poll(listener, -1) {
            Polled::Ended => return None,
            Polled::Nothing => {}
            Polled::Notice => {
                if let Some(notice) = receive_one(listener) {
                    return Some(notice);
                }
            }
        }
    }
}

/// Returns a call; `None` if its thread was interrupted meanwhile.
fn receive_one(listener: &OwnedFd) -> Option<libc::seccomp_notif> {
    // SAFETY: plain data, which the kernel wants to be zeros.
    let mut notice: libc::seccomp_notif = unsafe { mem::zeroed() };
    let fd = listener.as_raw_fd();
    // SAFETY: the kernel writes to the structure.
    let result = unsafe { libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice) };
    (result == 0).then_some(notice)
}

/// Lets the call be made.
fn go_on(listener: &OwnedFd, id: u64) {
    let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    let mut answer = libc::seccomp_notif_resp { id, val: 0, error: 0, flags };
    // SAFETY: the kernel reads the structure. A thread that was killed meanwhile needs no answer.
    unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer);
    }
}
