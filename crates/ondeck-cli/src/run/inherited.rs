//! What this process was started with, before Rust's runtime changed it, and how a program that is
//! started gets it again.
//!
//! The runtime ignores SIGPIPE, and opens /dev/null in place of a standard stream that is closed. The
//! standard library then starts programs with SIGPIPE at its default and no signal blocked. A shell
//! or a service manager may have wanted something else of the program.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

#[derive(Clone, Copy)]
struct Inherited {
    /// Blocked signals.
    mask: libc::sigset_t,
    ignores_pipe: bool,
    /// Which of the standard streams were closed.
    closed: [bool; 3],
}

static INHERITED: OnceLock<Inherited> = OnceLock::new();

/// The loader calls it before `main`, and so before the runtime's own start.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: all zeros is a value of both types.
    let (mut mask, mut action): (libc::sigset_t, libc::sigaction) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: both calls only write what they are given, which lives here.
    unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask);
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut action);
    }
    let closed = [0, 1, 2].map(|stream| {
        // SAFETY: it asks for flags, and a number that is no open file is refused.
        unsafe { libc::fcntl(stream, libc::F_GETFD) == -1 }
    });
    let ignores_pipe = action.sa_sigaction == libc::SIG_IGN;
    _ = INHERITED.set(Inherited { mask, ignores_pipe, closed });
}

/// The program starts with the signals and streams that this process was started with. With a parent
/// that waits for it, it does not outlive that parent.
pub(crate) fn pass_on(command: &mut Command, with_parent: bool) {
    let inherited = INHERITED.get().copied();
    // SAFETY: between fork and exec the closure makes system calls only, and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            if with_parent {
                // Cannot fail with a signal that exists.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            }
            let Some(Inherited { mask, ignores_pipe, closed }) = inherited else { return Ok(()) };
            if ignores_pipe {
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            }
            for (stream, closed) in closed.into_iter().enumerate() {
                if closed {
                    libc::close(stream as libc::c_int);
                }
            }
            libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
            Ok(())
        });
    }
}
