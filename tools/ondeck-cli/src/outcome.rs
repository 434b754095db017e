//! The outcome of a program that the command runs: why it was not started, with exit codes like
//! env(1), nohup(1) and timeout(1), or how it ended.

/// A program that was not started: the exit code, the problem, and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    /// The exit code of the command.
    pub(crate) code: u8,
    message: String,
}

impl Failure {
    /// The exit code of a failure of the command itself.
    pub(crate) const OWN: u8 = 125;

    /// A failure of the command itself.
    pub(crate) fn own(message: impl Into<String>) -> Self {
        Self { code: Self::OWN, message: message.into() }
    }

    /// The program exists, and cannot be started with the shim, or at all.
    pub(crate) fn unfit(message: impl Into<String>) -> Self {
        Self { code: 126, message: message.into() }
    }

    /// No such program exists.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { code: 127, message: message.into() }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Exited(u8),
    /// Ended by this signal.
    Killed(i32),
}

impl Status {
    /// Ends this process like the program.
    pub(crate) fn pass_on(self) -> ! {
        match self {
            Self::Exited(code) => std::process::exit(code.into()),
            Self::Killed(signal) => die_by(signal),
        }
    }
}

/// Ends this process by that signal, which a shell sees. The program has left a core file if one is
/// wanted, so this process leaves none.
fn die_by(signal: i32) -> ! {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit lives here, the set is made by the next call, and no other thread needs
    // signals.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
    // Only a signal that ends no process leads here. Shells report this code for a signal that
    // does.
    std::process::exit(128 + signal)
}
