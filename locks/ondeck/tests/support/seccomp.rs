//! Filters on system calls, which refuse calls that a container or a sandbox may refuse.

#![allow(dead_code, reason = "each test that includes this file needs another part of it")]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{io, mem};

/// A filter on one system call; everything else is allowed.
#[derive(Clone)]
pub struct Filter(Vec<libc::sock_filter>);

/// The threads to which a filter applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The calling thread, and the threads and processes that it starts.
    Thread,
    /// Every thread of the process.
    Process,
}

impl Filter {
    /// Refuses `call` with `errno`. If the place and the value of an argument are given, only calls
    /// with that are refused.
    fn refusing(call: libc::c_long, argument: Option<(u32, u32)>, errno: i32) -> Self {
        Self::answering(call, argument, libc::SECCOMP_RET_ERRNO | errno as u32)
    }

    /// Runs the calling thread's handler of `SIGSYS` in place of `call` with this third argument.
    pub fn trapping(call: libc::c_long, argument: u32) -> Self {
        Self::answering(call, Some((2, argument)), libc::SECCOMP_RET_TRAP)
    }

    /// Lets a [`Listener`] answer `call`.
    pub fn asking(call: libc::c_long) -> Self {
        Self::answering(call, None, libc::SECCOMP_RET_USER_NOTIF)
    }

    fn answering(call: libc::c_long, argument: Option<(u32, u32)>, answer: u32) -> Self {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        /// The offsets in `seccomp_data` of the number, and of the low half of the first argument.
        const NUMBER: u32 = 0;
        const FIRST: u32 = 16 + if cfg!(target_endian = "big") { 4 } else { 0 };
        let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
        let mut program = vec![step(LOAD, 0, 0, NUMBER)];
        match argument {
            None => program.push(step(EQUAL, 0, 1, call as u32)),
            Some((place, value)) => program.extend([
                step(EQUAL, 0, 3, call as u32),
                step(LOAD, 0, 0, FIRST + 8 * place),
                step(EQUAL, 0, 1, value),
            ]),
        }
        program.extend([step(RETURN, 0, 0, answer), step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW)]);
        Self(program)
    }

    /// Refuses membarrier(2) with `errno`.
    pub fn no_membarrier(errno: i32) -> Self {
        Self::refusing(libc::SYS_membarrier, None, errno)
    }

    /// Refuses the wiping of memory in a forked child.
    pub fn no_wiping() -> Self {
        Self::refusing(libc::SYS_madvise, Some((2, libc::MADV_WIPEONFORK as u32)), libc::EINVAL)
    }

    /// Installs the filter. Does not allocate.
    pub fn install(&self, scope: Scope) -> io::Result<()> {
        let flags = match scope {
            Scope::Thread => 0,
            Scope::Process => libc::SECCOMP_FILTER_FLAG_TSYNC,
        };
        self.set(flags).map(|_| ())
    }

    /// Installs a filter that asks a listener, for the calling thread and the threads and processes
    /// that it starts.
    pub fn listen(&self) -> io::Result<Listener> {
        let file = self.set(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
        // SAFETY: the kernel has just opened it for the caller.
        Ok(Listener(unsafe { OwnedFd::from_raw_fd(file as RawFd) }))
    }

    fn set(&self, flags: libc::c_ulong) -> io::Result<libc::c_long> {
        let program = libc::sock_fprog {
            len: self.0.len() as u16,
            // The kernel only reads it.
            filter: self.0.as_ptr().cast_mut(),
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
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
    }

    /// Installs the filter in a child from its start.
    pub fn install_in(self, child: &mut Command) {
        // SAFETY: `install` is safe between fork and exec.
        unsafe { child.pre_exec(move || self.install(Scope::Thread)) };
    }
}

/// Answers the system calls of a filter that asks a listener, see seccomp_unotify(2).
pub struct Listener(OwnedFd);

impl Listener {
    /// Waits for a call. From the call's first argument `refuse` decides whether the call is
    /// refused, and with which errno.
    pub fn answer(&self, refuse: impl FnOnce(u64) -> Option<i32>) -> io::Result<()> {
        // SAFETY: all fields are integers, for which 0 is valid. The kernel requires zeros.
        let mut call: libc::seccomp_notif = unsafe { mem::zeroed() };
        self.ask(libc::SECCOMP_IOCTL_NOTIF_RECV, (&raw mut call).cast())?;
        let refused = refuse(call.data.args[0]);
        let mut answer = libc::seccomp_notif_resp {
            id: call.id,
            val: 0,
            error: -refused.unwrap_or(0),
            flags: match refused {
                None => libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
                Some(_) => 0,
            },
        };
        self.ask(libc::SECCOMP_IOCTL_NOTIF_SEND, (&raw mut answer).cast())
    }

    fn ask(&self, request: libc::Ioctl, argument: *mut libc::c_void) -> io::Result<()> {
        // SAFETY: `argument` points to the type that `request` expects, and outlives the call.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), request, argument) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Makes the kernel refuse the system call of this number with `errno` from now on, for the calling
/// thread only.
pub fn refuse(call: libc::c_long, errno: i32) {
    Filter::refusing(call, None, errno).install(Scope::Thread).expect("filters are allowed");
}

/// futex(2); on 32 bits there is a second call, with times of 64 bits.
const FUTEXES: &[libc::c_long] =
    if usize::BITS == 32 { &[libc::SYS_futex, 422] } else { &[libc::SYS_futex] };

/// Makes the kernel report to the calling thread from now on that it has no futexes.
pub fn refuse_futexes() {
    for &call in FUTEXES {
        refuse(call, libc::ENOSYS);
    }
}

/// As `refuse`, for this operation on private futexes.
pub fn refuse_futex_operation(operation: i32, errno: i32) {
    let operation = (operation | libc::FUTEX_PRIVATE_FLAG) as u32;
    for &call in FUTEXES {
        let filter = Filter::refusing(call, Some((1, operation)), errno);
        filter.install(Scope::Thread).expect("filters are allowed");
    }
}

/// Makes the kernel refuse the calling thread's waits for private futexes, in the form that the
/// locks use, from now on. The thread can still wake others: with musl an ending thread wakes the
/// joining thread itself.
pub fn refuse_waits() {
    refuse_futex_operation(libc::FUTEX_WAIT_BITSET, libc::ENOSYS);
}
