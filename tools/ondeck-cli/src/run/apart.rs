//! Makes reports in a process of its own: the names of a large program may take more memory than
//! the container has, and the kernel ends the process that has most.

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

/// Calls `report` in a child, and returns what it returns, or how the child was ended.
pub(super) fn apart(report: impl FnOnce() -> bool) -> Result<bool, String> {
    // SAFETY: the threads of this process have ended: the child may do what the parent may.
    match unsafe { fork() } {
        Ok(ForkResult::Child) => {
            let whole = report();
            // SAFETY: ends this process without what the parent does at its end.
            unsafe { libc::_exit((!whole).into()) }
        }
        Ok(ForkResult::Parent { child }) => match waitpid(child, None) {
            Ok(WaitStatus::Exited(_, code)) => Ok(code == 0),
            Ok(WaitStatus::Signaled(_, signal, _)) => Err(format!(
                "the report was not made: {signal} has ended that, as the kernel does if there is \
                 not enough memory; the names of a program take about as much as its debugging \
                 information"
            )),
            other => Err(format!("the report was not made: {other:?}")),
        },
        Err(_) => Ok(report()),
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, raise};

    use super::*;

    #[test]
    fn what_ends_the_making_does_not_end_this_process() {
        assert_eq!([apart(|| true), apart(|| false)], [Ok(true), Ok(false)]);
        let killed = apart(|| raise(Signal::SIGKILL).is_ok()).expect_err("it is killed");
        assert!(killed.contains("SIGKILL"), "{killed}");
    }
}
