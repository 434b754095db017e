//! The filter that a program gets before it begins, and the way of its listener to this process.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use libc::{sock_filter, sock_fprog};

/// The calls of which the kernel notifies. The last ones end threads and images.
pub(super) const CALLS: [libc::c_long; 5] =
    [libc::SYS_futex, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_execve, libc::SYS_execveat];

/// `AUDIT_ARCH_X86_64` of linux/audit.h. Calls of 32-bit programs have other numbers, and are let
/// through.
const ARCHITECTURE: u32 = 0xc000_003e;

/// The filter: the number of a call is at offset 0 of its data, the architecture at 4.
const FILTER: [sock_filter; CALLS.len() + 5] = {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    const fn step(code: u32, [jt, jf]: [usize; 2], k: u32) -> sock_filter {
        sock_filter { code: code as u16, jt: jt as u8, jf: jf as u8, k }
    }
    let count = CALLS.len();
    let mut code = [step(RETURN, [0, 0], libc::SECCOMP_RET_ALLOW); CALLS.len() + 5];
    code[0] = step(LOAD, [0, 0], 4);
    code[1] = step(EQUAL, [0, count + 1], ARCHITECTURE);
    code[2] = step(LOAD, [0, 0], 0);
    let mut number = 0;
    while number < count {
        code[3 + number] = step(EQUAL, [count - number, 0], CALLS[number] as u32);
        number += 1;
    }
    code[count + 4] = step(RETURN, [0, 0], libc::SECCOMP_RET_USER_NOTIF);
    code
};

/// A message with room for a descriptor.
struct Message {
    error: [i32; 1],
    control: [u64; 4],
}

impl Message {
    /// Calls `action` with the kernel's description of the message.
    fn with<T>(&mut self, action: impl FnOnce(&mut libc::msghdr) -> T) -> T {
        let mut part = libc::iovec { iov_base: self.error.as_mut_ptr().cast(), iov_len: 4 };
        // SAFETY: plain data, for which zeros are valid.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
        header.msg_control = self.control.as_mut_ptr().cast();
        // SAFETY: computes a number.
        header.msg_controllen = unsafe { libc::CMSG_SPACE(4) } as usize;
        action(&mut header)
    }
}

/// Installs the filter in this process, which is about to become the program, and sends its
/// listener. A kernel that refuses is no error: the program then runs without.
pub(super) fn install(to: &UnixStream) -> io::Result<()> {
    let listener = listen();
    let mut message = Message { error: [listener.err().unwrap_or(0)], control: [0; 4] };
    let sent = message.with(|header| {
        match listener {
            // SAFETY: the header has room for one message with a descriptor.
            Ok(listener) => unsafe {
                let control = libc::CMSG_FIRSTHDR(header);
                (*control).cmsg_level = libc::SOL_SOCKET;
                (*control).cmsg_type = libc::SCM_RIGHTS;
                (*control).cmsg_len = libc::CMSG_LEN(4) as usize;
                *libc::CMSG_DATA(control).cast::<[u8; 4]>() = listener.to_ne_bytes();
            },
            Err(_) => header.msg_controllen = 0,
        }
        // SAFETY: the message lives here.
        unsafe { libc::sendmsg(to.as_raw_fd(), header, 0) }
    });
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn listen() -> Result<RawFd, i32> {
    let mut code = FILTER;
    let filter = sock_fprog { len: code.len() as u16, filter: code.as_mut_ptr() };
    // Without it, only a privileged process may have a filter.
    // SAFETY: sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    let all = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Since Linux 5.19: a signal does not interrupt a call that is being answered.
    for flags in [all | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, all] {
        // SAFETY: the kernel reads the filter, which lives here.
        let listener = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const filter,
            )
        };
        if listener >= 0 {
            return Ok(listener as RawFd);
        }
    }
    Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))
}

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP` of Linux 6.6: the thread that waits for an answer is woken
/// on the same CPU.
const SYNCHRONOUS: u64 = 1;

/// Returns the listener that a program's process has sent, or why there is none.
pub(super) fn receive(from: &UnixStream) -> io::Result<OwnedFd> {
    let mut message = Message { error: [0], control: [0; 4] };
    let found = message.with(|header| {
        // SAFETY: the message lives here.
        let length = unsafe { libc::recvmsg(from.as_raw_fd(), header, libc::MSG_CMSG_CLOEXEC) };
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the kernel has filled the header, and the descriptor is a new one of this
        // process.
        Ok(unsafe {
            let control = libc::CMSG_FIRSTHDR(header);
            (!control.is_null()).then(|| {
                let data = libc::CMSG_DATA(control).cast::<[u8; 4]>();
                OwnedFd::from_raw_fd(RawFd::from_ne_bytes(*data))
            })
        })
    })?;
    let listener = found.ok_or_else(|| io::Error::from_raw_os_error(message.error[0]))?;
    // SAFETY: sets a flag. Older kernels refuse it.
    unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNCHRONOUS);
    }
    Ok(listener)
}
