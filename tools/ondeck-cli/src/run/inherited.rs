//! The state in which this process was started, before Rust's runtime changed it, and its
//! restoration for a program that it starts.
//!
//! The runtime ignores SIGPIPE, and opens /dev/null in place of a standard stream that is closed.
//! The standard library then starts programs with SIGPIPE at its default and no signal blocked. A
//! shell or a service manager may have wanted another state for the program.
//!
//! If SIGCHLD is ignored, the kernel does not notify a parent of the end of its child. So this
//! process does not ignore it while it waits for one.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// Signals whose disposition may be to ignore them, and which the runtime or this process changes.
const CHANGED: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGCHLD];

#[derive(Clone, Copy)]
struct Inherited {
    /// Blocked signals.
    mask: libc::sigset_t,
    /// Which of [`CHANGED`] were ignored.
    ignored: [bool; 2],
    /// Which of the standard streams were closed.
    closed: [bool; 3],
}

static INHERITED: OnceLock<Inherited> = OnceLock::new();

/// The loader calls it before `main`, and so before the runtime starts.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: all zeros is a value of this type of plain data.
    let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: it writes the mask, which lives here, and reads nothing.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask) };
    let ignored = CHANGED.map(|signal| {
        // SAFETY: as above.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: it writes the action, which lives here, and reads nothing.
        unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        action.sa_sigaction == libc::SIG_IGN
    });
    let closed = [0, 1, 2].map(|stream| {
        // SAFETY: it asks for flags, and a number that is no open file is refused.
        unsafe { libc::fcntl(stream, libc::F_GETFD) == -1 }
    });
    _ = INHERITED.set(Inherited { mask, ignored, closed });
}

/// The standard streams that the program gets from the command: input, output, errors. A stream
/// that was closed is also closed for the program, unless the program gets another one.
pub(crate) type Given = [bool; 3];

/// Makes the program start with the signals and streams that this process was started with.
pub(crate) fn pass_on(command: &mut Command, given: Given) {
    let Some(&Inherited { mask, ignored, closed }) = INHERITED.get() else { return };
    // SAFETY: between fork and exec the closure makes system calls only, and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            for (signal, ignored) in CHANGED.into_iter().zip(ignored) {
                if ignored {
                    libc::signal(signal, libc::SIG_IGN);
                }
            }
            for (stream, (closed, given)) in (0..).zip(closed.into_iter().zip(given)) {
                if closed && !given {
                    libc::close(stream);
                }
            }
            libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
            Ok(())
        });
    }
}

/// The same for a program that this process waits for, and that does not outlive it.
pub(crate) fn pass_on_to_child(command: &mut Command, given: Given) {
    pass_on(command, given);
    // SAFETY: the call replaces no handler: programs start without handlers.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    // SAFETY: a system call only, which cannot fail with a signal that exists.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}
