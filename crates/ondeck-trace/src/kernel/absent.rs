//! A kernel that reports nothing: only the stamps of a run are known.

use std::io;

use ondeck_lab::environment::Refusal;
use ondeck_lab::switches::SwitchRecorder;

use super::Event;

/// Never constructed.
pub(crate) enum WholeMachine {}

/// Never constructed.
pub(crate) enum OwnSwitches {}

impl WholeMachine {
    pub(crate) fn open() -> Result<Self, Refusal> {
        Err(refusal("the scheduler's tracepoints", &io::ErrorKind::Unsupported.into()))
    }

    pub(crate) fn begin(&mut self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn end(&mut self) -> (Vec<Event>, Option<u64>) {
        match *self {}
    }
}

impl OwnSwitches {
    pub(crate) fn with_room(bytes: usize) -> SwitchRecorder {
        SwitchRecorder { bytes, begin: |_| None }
    }

    pub(crate) fn begin(_bytes: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Explains the absence.
pub(crate) fn refusal(what: &str, error: &io::Error) -> Refusal {
    Refusal { reason: format!("{what} refused: {error}"), fix: "trace on Linux".to_owned() }
}
