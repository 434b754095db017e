//! Measuring in a process that has only one thread.
//!
//! The laboratory is full of threads, so it starts itself again: the child measures on its only
//! thread, writes one line of JSON and ends.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::Signal;

use crate::freeze;
use crate::sample::Pairs;
use crate::workload::Subject;

/// How to start this program as such a child: the command and its first arguments, to which the
/// name of a lock and the round's length in nanoseconds are added.
#[derive(Clone, Debug)]
pub struct Helper {
    /// The program.
    pub program: std::path::PathBuf,
    /// Its first arguments.
    pub arguments: Vec<String>,
}

/// Why the child did not answer.
#[derive(Debug, thiserror::Error)]
pub enum AloneError {
    /// It could not be started.
    #[error("a second process could not be started: {0}")]
    Start(#[from] std::io::Error),
    /// It did not end in time.
    #[error("no answer within {limit:?}")]
    Stuck {
        /// The limit that was passed.
        limit: Duration,
        /// Where its thread was.
        state: String,
    },
    /// It ended without an answer.
    #[error("the measuring process ended with {0} and no answer")]
    NoAnswer(std::process::ExitStatus),
    /// The round was cancelled from outside.
    #[error("cancelled")]
    Cancelled,
}

/// Has a child measure `lock` for `round`, and gives it `limit` more to answer.
///
/// # Errors
///
/// [`AloneError`] if the child cannot be started or does not answer, or `cancel` is set.
pub fn measure(
    helper: &Helper,
    lock: &str,
    round: Duration,
    limit: Duration,
    cancel: &AtomicBool,
) -> Result<Pairs, AloneError> {
    let mut command = Command::new(&helper.program);
    command
        .args(&helper.arguments)
        .arg(lock)
        .arg(round.as_nanos().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        // A Ctrl-C is for this process, which then decides what becomes of the child.
        .process_group(0);
    // SAFETY: between fork and exec the closure makes one system call and nothing else.
    unsafe {
        // Once this process is gone, nothing else would end a child with a stuck lock.
        command.pre_exec(|| nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(Into::into));
    }
    let mut child = command.spawn()?;
    let answer =
        child.stdout.take().map_or(Ok(None), |output| read_line(output, round + limit, cancel));
    let given_up = match &answer {
        Ok(None) if cancel.load(Ordering::Relaxed) => Some(AloneError::Cancelled),
        Ok(None) => {
            let kernel_id = child.id().cast_signed();
            Some(AloneError::Stuck { limit, state: freeze::describe(Some(child.id()), kernel_id) })
        }
        Ok(Some(_)) | Err(_) => None,
    };
    if given_up.is_some() {
        // It may have ended meanwhile, and then there is nothing to kill.
        let _ = child.kill();
    }
    let status = child.wait()?;
    match given_up {
        Some(error) => Err(error),
        None => serde_json::from_str(&answer?.unwrap_or_default())
            .map_err(|_| AloneError::NoAnswer(status)),
    }
}

/// Everything that comes out of the pipe; `None` if it does not end within the limit or the round is
/// cancelled. Sleeps in between: this process must not run beside the measurement.
fn read_line(
    mut output: ChildStdout,
    limit: Duration,
    cancel: &AtomicBool,
) -> std::io::Result<Option<String>> {
    /// How soon a cancellation is noticed, in milliseconds.
    const CANCEL_CHECK_MILLIS: u16 = 50;
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

/// The child's side: what [`measure`] reads. `arguments` are those that it added.
///
/// Call it first thing in `main`, before anything makes a thread. `None` if the arguments make no
/// sense; a user who finds the hidden command deserves an error, not a panic.
pub fn answer(subjects: &[Subject], arguments: &[String]) -> Option<String> {
    let [lock, nanos] = arguments else { return None };
    let subject = subjects.iter().find(|subject| subject.info.name == lock)?;
    let pairs = subject.time_pairs_here(Duration::from_nanos(nanos.parse().ok()?))?;
    serde_json::to_string(&pairs).ok()
}
