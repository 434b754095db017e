//! Measuring in a process that has only one thread.
//!
//! The laboratory is full of threads, so it starts itself again: the child measures on its only
//! thread, writes one line of JSON and ends.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::workload::{Subject, uncontended::Pairs};

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
    /// It made no end.
    #[error("no answer within {0:?}")]
    Stuck(Duration),
    /// It ended without an answer.
    #[error("the measuring process ended with {0} and no answer")]
    NoAnswer(std::process::ExitStatus),
}

/// Has a child measure `lock` for `round`, and gives it `limit` to answer.
///
/// # Errors
///
/// [`AloneError`] if the child cannot be started or does not answer.
pub fn measure(
    helper: &Helper,
    lock: &str,
    round: Duration,
    limit: Duration,
) -> Result<Pairs, AloneError> {
    let mut child = Command::new(&helper.program)
        .args(&helper.arguments)
        .arg(lock)
        .arg(round.as_nanos().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > round + limit {
            child.kill()?;
            child.wait()?;
            return Err(AloneError::Stuck(limit));
        }
        std::thread::sleep(Duration::from_micros(200));
    };
    let mut answer = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut answer)?;
    }
    serde_json::from_str(&answer).map_err(|_| AloneError::NoAnswer(status))
}

/// The child's side: what [`measure`] reads. `arguments` are those that it added.
///
/// Call it first thing in `main`, before anything makes a thread. `None` if the arguments make no
/// sense; a user who finds the hidden command deserves an error, not a panic.
pub fn answer(subjects: &[Subject], arguments: &[String]) -> Option<String> {
    let [lock, nanos] = arguments else { return None };
    let subject = subjects.iter().find(|subject| subject.info.name == lock)?;
    let pairs = subject.time_pairs_here(Duration::from_nanos(nanos.parse().ok()?));
    serde_json::to_string(&pairs).ok()
}
