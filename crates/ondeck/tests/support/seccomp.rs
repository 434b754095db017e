//! Filters on system calls: what a container or a sandbox may refuse, refused here.

#![allow(dead_code, reason = "each test that has this needs another part of it")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A filter that refuses one system call; everything else is allowed.
#[derive(Clone)]
pub struct Filter(Vec<libc::sock_filter>);

/// Whom a filter is in force for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The calling thread and what it starts.
    Thread,
    /// Every thread of the process.
    Process,
}

impl Filter {
    /// Refuses `call` with `errno`, whenever `argument` is not given or its third argument equals
    /// it.
    pub fn refusing(call: libc::c_long, argument: Option<u32>, errno: i32) -> Self {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        /// Where `seccomp_data` has the number, and the low half of the third argument.
        const NUMBER: u32 = 0;
        const THIRD: u32 = 16 + 2 * 8;
        let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
        let refuse = libc::SECCOMP_RET_ERRNO | errno as u32;
        let mut program = vec![step(LOAD, 0, 0, NUMBER)];
        match argument {
            None => program.push(step(EQUAL, 0, 1, call as u32)),
            Some(value) => program.extend([
                step(EQUAL, 0, 3, call as u32),
                step(LOAD, 0, 0, THIRD),
                step(EQUAL, 0, 1, value),
            ]),
        }
        program.extend([step(RETURN, 0, 0, refuse), step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW)]);
        Self(program)
    }

    /// Refuses membarrier(2) with `errno`.
    pub fn no_membarrier(errno: i32) -> Self {
        Self::refusing(libc::SYS_membarrier, None, errno)
    }

    /// Refuses to wipe memory in a forked child.
    pub fn no_wiping() -> Self {
        Self::refusing(libc::SYS_madvise, Some(libc::MADV_WIPEONFORK as u32), libc::EINVAL)
    }

    /// Puts it in force. Allocates nothing.
    pub fn install(&self, scope: Scope) -> io::Result<()> {
        let program = libc::sock_fprog {
            len: self.0.len() as u16,
            // The kernel only reads it.
            filter: self.0.as_ptr().cast_mut(),
        };
        let flags = match scope {
            Scope::Thread => 0,
            Scope::Process => libc::SECCOMP_FILTER_FLAG_TSYNC,
        };
        // SAFETY: two system calls with live arguments.
        let result = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program,
            )
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Has it in force in a child from the start.
    pub fn install_in(self, child: &mut Command) {
        // SAFETY: `install` is safe between fork and exec.
        unsafe { child.pre_exec(move || self.install(Scope::Thread)) };
    }
}
