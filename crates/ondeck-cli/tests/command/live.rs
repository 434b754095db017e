//! `--live` on a terminal of the tests' own.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::ondeck;

/// Where the command's screen comes up, goes away, and where a drawing begins.
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
const DRAW: &str = "\u{1b}[?2026h";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

const COLUMNS: u16 = 70;

/// A command whose standard error is a terminal.
struct OnTerminal {
    /// Gone when it was waited for.
    child: Option<Child>,
    terminal: OwnedFd,
    written: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

/// A terminal of so many rows: the tests' side, and the command's. Neither is inherited by what
/// other tests start meanwhile, which would keep it open.
pub(crate) fn terminal(rows: u16) -> (OwnedFd, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).expect("a terminal");
    grantpt(&ours).expect("our terminal");
    unlockpt(&ours).expect("our terminal");
    let theirs = ioctl_tiocgptpeer(&ours, flags).expect("the other side");
    resize(&ours, rows);
    (ours, theirs)
}

fn resize(terminal: &OwnedFd, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).expect("a terminal has a size");
}

impl OnTerminal {
    fn start(rounds: &str, rows: u16) -> Self {
        let mut bench =
            ondeck(&["bench", "--locks", "std,spinlock,glibc", "--workloads", "throughput"]);
        bench.args(["--threads", "1,2", "--duration", "20ms", "--work", "0,0", "--live"]);
        bench.args(["--rounds", rounds]);
        Self::command(bench, rows)
    }

    fn command(mut command: Command, rows: u16) -> Self {
        let (terminal, theirs) = terminal(rows);
        let child = command
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(theirs)
            .spawn()
            .expect("the command starts");
        // It has a copy of the terminal, which would keep that open.
        drop(command);
        let written = Arc::new(Mutex::new(Vec::new()));
        let (copy, from) = (Arc::clone(&written), terminal.try_clone().expect("a copy"));
        let reader = std::thread::spawn(move || {
            let mut from = File::from(from);
            let mut part = [0; 4096];
            // The end of a terminal is an error.
            while let Ok(length @ 1..) = from.read(&mut part) {
                copy.lock().expect("no panic").extend_from_slice(&part[..length]);
            }
        });
        Self { child: Some(child), terminal, written, reader: Some(reader) }
    }

    fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().expect("no panic")).into_owned()
    }

    fn wait_until(&self, what: &str, happened: impl Fn(&str) -> bool) {
        const LIMIT: Duration = Duration::from_mins(2);
        let start = Instant::now();
        while !happened(&self.written()) {
            assert!(start.elapsed() < LIMIT, "{what} did not happen:\n{}", self.written());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("not waited for");
        kill(Pid::from_raw(child.id().cast_signed()), signal).expect("it runs");
    }

    /// Waits for the end: exit code, standard output, and what the terminal got.
    fn end(mut self) -> (Option<i32>, String, String) {
        let child = self.child.take().expect("not waited for");
        let output = child.wait_with_output().expect("it ends");
        self.reader.take().expect("not waited for").join().expect("no panic");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), stdout, self.written())
    }
}

/// A test that fails leaves nothing running.
impl Drop for OnTerminal {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

fn frames(written: &str) -> Vec<&str> {
    written.split(DRAW).skip(1).collect()
}

fn assert_given_back(written: &str) {
    let last = |word: &str| written.rfind(word);
    assert!(last(ENTER).is_some(), "the screen never came up:\n{written}");
    assert!(last(LEAVE) > last(ENTER), "the screen stays:\n{written}");
    assert!(last(SHOW_CURSOR) > last("\u{1b}[?25l"), "the cursor stays hidden");
    assert!(last(LEAVE) > last(DRAW), "drawn after the end");
}

#[test]
fn live_tables_fill_and_the_terminal_is_given_back() {
    let (code, stdout, written) = OnTerminal::start("8", 24).end();
    assert_eq!(code, Some(0), "{written}");
    assert_given_back(&written);
    let frames = frames(&written);
    assert!(frames.len() > 1, "{} drawings", frames.len());
    let last = frames.last().copied().unwrap_or_default();
    assert!(last.contains("throughput:") && last.contains("std"), "{last}");
    assert!(stdout.contains("throughput:") && !stdout.contains('\u{1b}'), "{stdout}");
}

#[test]
fn drawings_fit_a_terminal_that_changes_its_size() {
    let run = OnTerminal::start("100000", 6);
    let lines = |frame: &str| frame.matches("\r\n").count() + 1;
    run.wait_until("a full small screen", |written| {
        frames(written).iter().rev().skip(1).any(|frame| lines(frame) == 6)
    });
    for frame in frames(&run.written()) {
        assert!(lines(frame) <= 6, "{frame}");
    }
    resize(&run.terminal, 24);
    run.wait_until("a larger drawing", |written| {
        frames(written).iter().rev().skip(1).any(|frame| lines(frame) > 6)
    });
    run.signal(Signal::SIGINT);
    let (code, _, written) = run.end();
    assert_eq!(code, Some(1), "{written}");
    assert_given_back(&written);
}

#[test]
fn a_second_interrupt_gives_the_terminal_back_too() {
    let run = OnTerminal::start("100000", 24);
    run.wait_until("a drawing", |written| !frames(written).is_empty());
    // Both wait for it when it goes on.
    for signal in [Signal::SIGSTOP, Signal::SIGINT, Signal::SIGTERM, Signal::SIGCONT] {
        run.signal(signal);
    }
    let (code, _, written) = run.end();
    // 1 if the round was over before the second signal was seen.
    assert!(matches!(code, Some(1 | 130)), "{code:?}");
    assert_given_back(&written);
}

/// The table of `run --live` comes up beside the program, whose words go elsewhere, and goes with it.
#[test]
fn the_table_of_a_program_leaves_the_terminal_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = folder.path().join("words");
    let mut command = crate::shim::run(&["--live", "--output"]);
    command.arg(&words).args(["sh", "-c", "echo word; while :; do sleep 0.05; done"]);
    let run = OnTerminal::command(command, 24);
    run.wait_until("a drawing", |written| !frames(written).is_empty());
    run.signal(Signal::SIGTERM);
    let (code, stdout, written) = run.end();
    assert_eq!(code, None, "a signal ended it: {written}");
    assert_given_back(&written);
    assert!(written.contains("process ") && stdout.is_empty(), "{written}");
    assert_eq!(std::fs::read_to_string(&words).expect("the file"), "word\n");
}
