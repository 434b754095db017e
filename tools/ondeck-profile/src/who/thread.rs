//! One thread at one moment, as the kernel shows it.

use std::fs;
use std::path::{Path, PathBuf};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a CPU, or ready to be.
    Running,
    /// Asleep in a system call.
    Asleep,
    /// Asleep in the kernel, and not to be woken by signals: for a disk, or for a page of memory.
    Uninterruptible,
    /// Stopped by a signal or a debugger.
    Stopped,
    /// It has ended; the process has not.
    Ended,
}

/// A system call, its arguments, and the registers with which it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// `None` for a thread that sleeps outside of system calls.
    pub number: Option<i64>,
    pub arguments: [u64; 6],
    pub sp: u64,
    pub pc: u64,
}

/// A thread's files.
pub struct Look {
    pub tid: u32,
    folder: PathBuf,
}

impl Look {
    pub fn new(process: &Path, tid: u32) -> Self {
        Self { tid, folder: process.join("task").join(tid.to_string()) }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    pub fn name(&self) -> String {
        self.read("comm").trim_end().to_owned()
    }

    /// Returns the function of the kernel in which it sleeps; empty if that is not shown.
    pub fn place_in_kernel(&self) -> String {
        let name = self.read("wchan");
        if name == "0" { String::new() } else { name }
    }

    /// Returns its number in the process's own namespace, which its locks have.
    pub fn inner_tid(&self) -> u32 {
        let status = self.read("status");
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        inner
            .and_then(|numbers| numbers.split_ascii_whitespace().last()?.parse().ok())
            .unwrap_or(self.tid)
    }

    /// Returns its state, and the CPU on which it last ran; `None` if it is not there any more.
    pub fn state(&self) -> Option<(State, usize)> {
        let stat = self.read("stat");
        // The name before may have blanks and parentheses.
        let mut fields = stat.rsplit(')').next()?.split_ascii_whitespace();
        let state = match fields.next()? {
            "S" | "I" => State::Asleep,
            "D" => State::Uninterruptible,
            "T" | "t" => State::Stopped,
            "Z" | "X" => State::Ended,
            _ => State::Running,
        };
        // Field 39 of proc_pid_stat(5).
        Some((state, fields.nth(35)?.parse().ok()?))
    }

    /// Returns what it is called in; `None` while it runs.
    pub fn call(&self) -> Option<Call> {
        parse(&self.read("syscall"))
    }

    /// Returns the number of times that it has slept.
    pub fn sleeps(&self) -> Option<u64> {
        let status = self.read("status");
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse().ok()
    }

    /// Returns the time of the scheduler's clock, in milliseconds, at which it stopped running.
    pub fn stopped_running(&self) -> Option<f64> {
        super::since::last_run(&self.read("sched"))
    }
}

/// Parses a line of `syscall`: the number, six arguments, the stack pointer and the instruction;
/// `-1` and the last two; or `running`.
fn parse(line: &str) -> Option<Call> {
    let mut words = line.split_ascii_whitespace();
    let number: i64 = words.next()?.parse().ok()?;
    let numbers: Vec<u64> = words
        .map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok())
        .collect::<Option<_>>()?;
    let &[ref arguments @ .., sp, pc] = &*numbers else { return None };
    let arguments = match arguments {
        [] => [0; 6],
        _ => arguments.try_into().ok()?,
    };
    Some(Call { number: (number >= 0).then_some(number), arguments, sp, pc })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_has_the_call_or_only_the_registers() {
        let call = parse("202 0x1 0x2 0x3 0x0 0x0 0xffffffff 0x7ffc10 0x7f1234\n");
        let arguments = [1, 2, 3, 0, 0, 0xffff_ffff];
        assert_eq!(call, Some(Call { number: Some(202), arguments, sp: 0x7f_fc10, pc: 0x7f_1234 }));
        assert_eq!(parse("-1 0x10 0x20\n"), Some(Call { sp: 16, pc: 32, ..Call::default() }));
        assert_eq!(parse("running\n"), None);
    }

    #[test]
    fn this_thread_is_running_under_its_own_name() {
        let own = std::process::id();
        let task = fs::read_link("/proc/thread-self").expect("this thread");
        let tid = task.file_name().and_then(|tid| tid.to_str()?.parse().ok()).expect("a number");
        let look = Look::new(&Path::new("/proc").join(own.to_string()), tid);
        assert_eq!(look.state().map(|(state, _)| state), Some(State::Running));
        assert_eq!(look.inner_tid(), tid);
        assert!(!look.name().is_empty() && look.sleeps().is_some());
    }
}
