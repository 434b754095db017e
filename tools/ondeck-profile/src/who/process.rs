//! The process that is looked at, or why it cannot be.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a process cannot be looked at, with the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is none.
    #[error("no process {0}: it has ended, or never was; `pgrep -a NAME` lists processes")]
    Absent(u32),
    /// The number is a thread's.
    #[error("{thread} is a thread of process {process}: run `ondeck who {process}`")]
    Thread {
        /// The number.
        thread: u32,
        /// Its process.
        process: u32,
    },
    /// It has no memory of its own.
    #[error(
        "{0} is a thread of the kernel, which has no locks of programs; `cat /proc/{0}/stack` as root shows where it is"
    )]
    Kernel(u32),
    /// It is a zombie.
    #[error("process {0} has ended, and its parent has not asked for its exit code yet")]
    Ended(u32),
    /// It is a program of 32 bits, or of another byte order.
    #[error(
        "process {0} is not a 64-bit program of this machine, whose locks `ondeck who` does not know"
    )]
    Foreign(u32),
    /// It belongs to another user.
    #[error("process {pid} belongs to user {owner}: run `sudo ondeck who {pid}`")]
    OtherUser {
        /// The process.
        pid: u32,
        /// The number of the user.
        owner: u32,
    },
    /// Yama restricts ptrace(2), and what needs the same right.
    #[error(
        "/proc/sys/kernel/yama/ptrace_scope is {scope}, so the kernel does not show process {pid} to you: run `sudo ondeck \
         who {pid}`{}",
        if *scope == 1 { ", or allow it until the next boot with `sudo sysctl kernel.yama.ptrace_scope=0`" } else { "" }
    )]
    Scope {
        /// The process.
        pid: u32,
        /// The setting.
        scope: u32,
    },
    /// The kernel refuses for another reason.
    #[error(
        "the kernel does not show process {0} to you: it has more privileges than you, or has forbidden it by prctl(2); run \
         `sudo ondeck who {0}`. In a container, add CAP_SYS_PTRACE"
    )]
    Protected(u32),
    /// Something else.
    #[error("cannot look at process {pid}: {source}")]
    Io {
        /// The process.
        pid: u32,
        /// The cause.
        source: io::Error,
    },
}

/// A process that can be looked at.
pub struct Process {
    /// The folder of the process in `/proc`.
    pub folder: PathBuf,
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

impl Process {
    pub fn find(pid: u32) -> Result<Self, Refusal> {
        let folder = Path::new("/proc").join(pid.to_string());
        let read = |name: &str| fs::read_to_string(folder.join(name));
        let status = read("status").map_err(|_| Refusal::Absent(pid))?;
        let field = |name: &str| number_of(&status, name);
        match field("Tgid:") {
            Some(process) if process != pid => {
                return Err(Refusal::Thread { thread: pid, process });
            }
            _ => {}
        }
        if is_of_kernel(&read("stat").unwrap_or_default()) {
            return Err(Refusal::Kernel(pid));
        }
        let threads = field("Threads:").unwrap_or(1);
        if threads <= 1 && status.lines().any(|line| line.starts_with("State:\tZ")) {
            return Err(Refusal::Ended(pid));
        }
        if let Err(error) = read("syscall") {
            return Err(refused(pid, field("Uid:"), error));
        }
        let exe = fs::read_link(folder.join("exe"));
        let exe = exe.map_err(|error| refused(pid, field("Uid:"), error))?;
        let name = exe.to_string_lossy();
        let program = PathBuf::from(name.strip_suffix(" (deleted)").unwrap_or(&name));
        let arguments = read("cmdline").unwrap_or_default();
        let arguments = arguments.split_terminator('\0').map(str::to_owned).collect();
        if !is_native(&folder.join("exe")) {
            return Err(Refusal::Foreign(pid));
        }
        Ok(Self { folder, program, arguments })
    }
}

fn refused(pid: u32, owner: Option<u32>, error: io::Error) -> Refusal {
    // SAFETY: reads this process's own number.
    let own = unsafe { libc::geteuid() };
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let scope = scope.ok().and_then(|scope| scope.trim().parse().ok()).unwrap_or(0);
    match (error.kind(), owner) {
        (ErrorKind::NotFound, _) => Refusal::Absent(pid),
        (ErrorKind::PermissionDenied, Some(owner)) if owner != own && own != 0 => {
            Refusal::OtherUser { pid, owner }
        }
        (ErrorKind::PermissionDenied, _) if scope != 0 => Refusal::Scope { pid, scope },
        (ErrorKind::PermissionDenied, _) => Refusal::Protected(pid),
        _ if error.raw_os_error() == Some(libc::ESRCH) => Refusal::Absent(pid),
        _ => Refusal::Io { pid, source: error },
    }
}

/// Returns the first number of a line of `status`.
pub fn number_of(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Whether a line of `stat` is a kernel thread's.
fn is_of_kernel(stat: &str) -> bool {
    /// PF_KTHREAD of linux/sched.h.
    const KERNEL: u32 = 0x0020_0000;
    let flags = stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().nth(6));
    flags.and_then(|flags| flags.parse::<u32>().ok()).is_some_and(|flags| flags & KERNEL != 0)
}

fn is_native(exe: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 6];
    let read = fs::File::open(exe).and_then(|mut file| file.read_exact(&mut start));
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    read.is_err() || start == [0x7f, b'E', b'L', b'F', 2, order]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_process_is_refused_with_the_remedy() {
        let why = |pid| Process::find(pid).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why(4_194_305).contains("no process"));
        // The kernel's thread that makes others, unless this is a container.
        if fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n") {
            assert!(why(2).contains("kernel"), "{}", why(2));
        }
        let status = fs::read_to_string("/proc/thread-self/status").expect("this thread");
        let (thread, own) = (number_of(&status, "Pid:"), std::process::id());
        let refused = why(thread.expect("a number"));
        assert!(refused.contains(&format!("ondeck who {own}")), "{refused}");
        assert!(Process::find(own).is_ok());
    }

    #[test]
    fn a_refusal_names_the_setting_that_causes_it() {
        let denied = || io::Error::from(ErrorKind::PermissionDenied);
        // SAFETY: reads this process's own number.
        let own = unsafe { libc::geteuid() };
        let protected = refused(7, Some(own), denied()).to_string();
        assert!(protected.contains("sudo ondeck who 7"), "{protected}");
        let scope = Refusal::Scope { pid: 7, scope: 1 }.to_string();
        assert!(scope.contains("ptrace_scope is 1") && scope.contains("sysctl"), "{scope}");
        let strict = Refusal::Scope { pid: 7, scope: 2 }.to_string();
        assert!(!strict.contains("sysctl"), "{strict}");
    }
}
