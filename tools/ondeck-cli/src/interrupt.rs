//! Ctrl-C, and the signals that mean the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ending::Error;
use crate::output;
use crate::target::TEMPORARY;

/// Whether the user pressed Ctrl-C, or the process received a request to end. A second signal ends
/// the process at once.
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(crate) fn listen() -> Result<Self, Error> {
        Self::listen_and(|| {
            output::say("\nending after this round; Ctrl-C again to stop at once");
        })
    }

    /// The same for commands that end at once, without a message.
    pub(crate) fn listen_quietly() -> Result<Self, Error> {
        Self::listen_and(|| {})
    }

    fn listen_and(said: impl Fn() + Send + 'static) -> Result<Self, Error> {
        /// The exit code that shells report for a process that SIGINT ended.
        const ENDED_BY_INTERRUPT: i32 = 130;
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::Relaxed) {
                let _none_is_left = TEMPORARY.lock();
                ondeck_lab::environment::remove_limits();
                std::process::exit(ENDED_BY_INTERRUPT);
            }
            said();
        })
        .map_err(|error| Error::System(format!("cannot listen for Ctrl-C: {error}")))?;
        Ok(Self(flag))
    }

    pub(crate) fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for code that polls it.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
