//! One run of a program, from its start to its end, and its costs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Instant;

use ondeck_lab::results::{Better, Unit};
use ondeck_lab::sample::{CPU_PER_OP, INVOLUNTARY, Quantity, RUN, Sample, VOLUNTARY};
use regex_lite::Regex;

use super::inherited;
use super::supervise::pid;
use crate::outcome::Status;

/// The peak memory of a program; at least the memory that this command had when it started the
/// program.
const MAX_RSS: Quantity = Quantity {
    name: ondeck_report::program::MAX_RSS,
    unit: Unit::Bytes,
    better: Better::Lower,
    title: "Most memory at once",
};

/// The number that a program prints itself.
const PRINTED: Quantity = Quantity {
    name: ondeck_report::program::PRINTED,
    unit: Unit::Operations,
    better: Better::Higher,
    title: "The program's own number",
};

/// How a run ended.
pub(crate) enum Ended {
    /// Its costs, including those of the programs that it started and waited for. An operation is
    /// the run.
    Well(Sample),
    /// How it failed, and the last lines that it wrote to standard error.
    Badly(String, Vec<String>),
}

/// A run's input, and the destination of its output.
pub(crate) struct Streams {
    /// The file that standard input was redirected to: each run reads it from its start. A terminal
    /// or a pipe could be read only once.
    input: Option<File>,
    show: bool,
    /// Matches the number that the output has.
    metric: Option<Regex>,
}

impl Streams {
    pub(crate) fn new(show: bool, metric: Option<&Regex>) -> Self {
        let own = io::stdin().as_fd().try_clone_to_owned().ok().map(File::from);
        let is_file = |file: &File| file.metadata().is_ok_and(|found| found.is_file());
        Self { input: own.filter(is_file), show, metric: metric.cloned() }
    }

    fn input(&self) -> io::Result<Stdio> {
        // Reopened, so that it has its own file position.
        match self.input {
            Some(_) => Ok(File::open("/proc/self/fd/0")?.into()),
            None => Ok(Stdio::null()),
        }
    }
}

/// The unit of `ru_maxrss`.
const KIB: f64 = 1024.0;

/// Runs the program once.
pub(crate) fn take(mut command: Command, streams: &Streams) -> io::Result<Ended> {
    inherited::pass_on_to_child(&mut command, [true, !streams.show, !streams.show]);
    command.stdin(streams.input()?);
    let mut words = None;
    if !streams.show {
        let file = tempfile::tempfile()?;
        let output = match streams.metric {
            Some(_) => file.try_clone()?.into(),
            None => Stdio::null(),
        };
        command.stdout(output).stderr(file.try_clone()?);
        words = Some(file);
    }
    let start = Instant::now();
    let child = command.spawn()?;
    let (status, usage) = wait(pid(&child).as_raw())?;
    let wall = start.elapsed();
    if status != Status::Exited(0) {
        return Ok(Ended::Badly(in_words(status), words.map_or(Vec::new(), last_lines)));
    }
    let mut printed = None;
    if let Some(metric) = &streams.metric {
        printed = words.as_mut().and_then(|file| number(&end_of(file, MOST_PRINTED), metric));
        if printed.is_none() {
            let how = "printed no number that --metric matches".to_owned();
            return Ok(Ended::Badly(how, words.map_or(Vec::new(), last_lines)));
        }
    }
    let nanos = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    let mut values: Vec<_> = printed.map(|number| (PRINTED, number)).into_iter().collect();
    values.extend([
        (RUN, wall.as_secs_f64() * 1e3),
        (CPU_PER_OP, nanos(usage.ru_utime) + nanos(usage.ru_stime)),
        (VOLUNTARY, usage.ru_nvcsw as f64),
        (INVOLUNTARY, usage.ru_nivcsw as f64),
        (MAX_RSS, usage.ru_maxrss as f64 * KIB),
    ]);
    Ok(Ended::Well(Sample { values, span: wall, ..Sample::default() }))
}

fn wait(pid: libc::pid_t) -> io::Result<(Status, libc::rusage)> {
    let mut status = 0;
    // SAFETY: all zeros is a value of this type of plain data.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both live here for the length of the call.
    while unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == -1 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let status = if libc::WIFEXITED(status) {
        Status::Exited(libc::WEXITSTATUS(status) as u8)
    } else {
        Status::Killed(libc::WTERMSIG(status))
    };
    Ok((status, usage))
}

pub(crate) fn in_words(status: Status) -> String {
    match status {
        Status::Exited(code) => format!("ended with exit code {code}"),
        Status::Killed(signal) => match nix::sys::signal::Signal::try_from(signal) {
            Ok(signal) => format!("was ended by {signal}"),
            Err(_) => format!("was ended by signal {signal}"),
        },
    }
}

/// The end of a run's output that is searched for its number.
const MOST_PRINTED: u64 = 1 << 20;

/// Returns the number of the last match: its first group, or all of it.
fn number(text: &str, metric: &Regex) -> Option<f64> {
    let last = metric.captures_iter(text).last()?;
    let number = last.get(1).or_else(|| last.get(0))?.as_str().trim().parse::<f64>();
    number.ok().filter(|number| number.is_finite())
}

/// The last lines of a run's output.
fn last_lines(mut file: File) -> Vec<String> {
    const BYTES: u64 = 4_096;
    const LINES: usize = 5;
    let text = end_of(&mut file, BYTES);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(LINES);
    lines[last..].iter().map(|line| (*line).to_owned()).collect()
}

/// Returns this number of bytes of a file's end; nothing if it cannot be read.
fn end_of(file: &mut File, bytes: u64) -> String {
    let mut end = Vec::new();
    let length = file.metadata().map_or(0, |found| found.len());
    let read = file
        .seek(SeekFrom::Start(length.saturating_sub(bytes)))
        .and_then(|_| file.read_to_end(&mut end));
    if read.is_err() {
        return String::new();
    }
    String::from_utf8_lossy(&end).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Ended {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        take(command, &Streams::new(false, None)).expect("a shell")
    }

    #[test]
    fn a_run_that_fails_says_how_and_with_which_words() {
        let Ended::Badly(how, words) = shell("seq 9 >&2; exit 3") else { panic!("it failed") };
        assert_eq!(how, "ended with exit code 3");
        assert_eq!(words, ["5", "6", "7", "8", "9"]);
        let Ended::Badly(how, _) = shell("kill -SEGV $$") else { panic!("it failed") };
        assert_eq!(how, "was ended by SIGSEGV");
    }

    #[test]
    fn the_last_number_that_a_program_prints_counts() {
        let found = |metric: &str, text: &str| number(text, &Regex::new(metric).expect("a regex"));
        let text = "warm: 3 ops\nrate: 1.5e3 ops\nrate: 2500.5 ops, 7 %\n";
        assert_eq!(found("rate: ([^ ]+)", text), Some(2_500.5));
        assert_eq!(found(r"\d+ ops", text), None, "the match is no number");
        assert_eq!(found(r"\d+", text), Some(7.0));
        assert_eq!(found("(?m)^rate: (\\S+) ops$", text), Some(1_500.0));
        assert_eq!(found("latency: (.*)", text), None);
        assert_eq!(found("is (.*)", "it is inf"), None);
    }

    #[test]
    fn what_a_run_and_its_children_cost_is_counted() {
        let Ended::Well(idle) = shell("sleep 0.05; sleep 0.05") else { panic!("it went well") };
        // Two sleeps of a twentieth of a second cannot take less.
        assert!(idle.value(RUN) >= Some(1e2), "{idle:?}");
        assert!(idle.value(VOLUNTARY) >= Some(2.0), "{idle:?}");
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
        let Ended::Well(busy) = shell(busy) else { panic!("it went well") };
        assert!(busy.value(CPU_PER_OP) > idle.value(CPU_PER_OP), "{busy:?}");
        assert!(busy.value(MAX_RSS) > Some(1e5), "{busy:?}");
    }
}
