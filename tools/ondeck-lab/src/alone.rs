//! Measuring in a process that has only one thread.
//!
//! The laboratory is full of threads, so it starts itself again: the child measures on its only
//! thread, writes one line of JSON and ends.

use std::io::{self, Read};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::sample::Pairs;
use crate::system;
use crate::workload::Subject;

/// How to start this program as such a child: the program and its first arguments. [`measure`]
/// appends the name of a lock and the length of the round in nanoseconds.
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
    Start(#[from] io::Error),
    /// It did not end in time.
    #[error("no answer within {limit:?}")]
    Stuck {
        /// The limit that was passed.
        limit: Duration,
        /// What its thread was doing.
        state: String,
    },
    /// It ended without an answer.
    #[error("the measuring process ended with {0} and no answer")]
    NoAnswer(std::process::ExitStatus),
    /// The round was cancelled from outside.
    #[error("cancelled")]
    Cancelled,
}

/// Measures `lock` for `round` in a child, which has `limit` more to answer.
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
        .stderr(Stdio::inherit());
    // A Ctrl-C is meant for this process, which then decides what to do with the child.
    system::set_apart(&mut command);
    let mut child = command.spawn()?;
    let answer =
        child.stdout.take().map_or(Ok(None), |output| read_within(output, round + limit, cancel));
    let given_up = match &answer {
        Ok(None) if cancel.load(Ordering::Relaxed) => Some(AloneError::Cancelled),
        Ok(None) => {
            let kernel_id = child.id().cast_signed();
            Some(AloneError::Stuck {
                limit,
                state: system::state_of_thread(Some(child.id()), kernel_id),
            })
        }
        Ok(Some(_)) | Err(_) => None,
    };
    if given_up.is_some() {
        // The child may have ended already; then there is nothing to kill.
        let _ = child.kill();
    }
    let status = child.wait()?;
    match given_up {
        Some(error) => Err(error),
        None => serde_json::from_str(&answer?.unwrap_or_default())
            .map_err(|_| AloneError::NoAnswer(status)),
    }
}

/// Reads the pipe to its end; `None` if it does not end within the limit or the round is cancelled.
/// A thread reads, because waiting for a pipe has no timeout; it ends when the child is killed.
/// Both threads sleep: this process must not run beside the measurement.
fn read_within(
    mut output: ChildStdout,
    limit: Duration,
    cancel: &AtomicBool,
) -> io::Result<Option<String>> {
    const CANCEL_CHECK: Duration = Duration::from_millis(50);
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut answer = String::new();
        let read = output.read_to_string(&mut answer).map(|_| answer);
        // The receiver may have given up.
        _ = send.send(read);
    })?;
    let start = Instant::now();
    loop {
        match receive.recv_timeout(CANCEL_CHECK) {
            Ok(answer) => return answer.map(Some),
            Err(_) if cancel.load(Ordering::Relaxed) || start.elapsed() > limit => return Ok(None),
            Err(_) => {}
        }
    }
}

/// The child's side of [`measure`], which reads the returned line. `arguments` are the ones that
/// the parent appended.
///
/// Call it first in `main`, before anything creates a thread. Returns `None` if the arguments are
/// invalid; a user who finds the hidden command deserves an error, not a panic.
pub fn answer(subjects: &[Subject], arguments: &[String]) -> Option<String> {
    let [lock, nanos] = arguments else { return None };
    let subject = subjects.iter().find(|subject| subject.info.name == lock)?;
    let pairs = subject.time_pairs_here(Duration::from_nanos(nanos.parse().ok()?))?;
    serde_json::to_string(&pairs).ok()
}
