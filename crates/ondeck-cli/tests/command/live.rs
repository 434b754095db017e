//! `--live` on a terminal of the tests' own.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::ondeck;

/// Where the command's screen comes up, goes away, and where a drawing begins.
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
const DRAW: &str = "\u{1b}[?2026h";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

const COLUMNS: u16 = 70;

/// A command whose standard error is a terminal.
struct OnTerminal {
    child: Child,
    terminal: OwnedFd,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl OnTerminal {
    fn start(rounds: &str, rows: u16) -> Self {
        let size = Winsize { ws_row: rows, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&size), None).expect("a terminal");
        let child =
            ondeck(&["bench", "--locks", "std,spinlock,glibc", "--workloads", "throughput"])
                .args(["--threads", "1,2", "--duration", "20ms", "--work", "0,0", "--live"])
                .args(["--rounds", rounds])
                .env("TERM", "xterm")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(pair.slave)
                .spawn()
                .expect("the command starts");
        let written = Arc::new(Mutex::new(Vec::new()));
        let (copy, from) = (Arc::clone(&written), pair.master.try_clone().expect("a copy"));
        let reader = std::thread::spawn(move || {
            let mut from = File::from(from);
            let mut part = [0; 4096];
            // The end of a terminal is an error.
            while let Ok(length @ 1..) = from.read(&mut part) {
                copy.lock().expect("no panic").extend_from_slice(&part[..length]);
            }
        });
        Self { child, terminal: pair.master, written, reader }
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

    fn resize(&self, rows: u16) {
        let size = rustix::termios::Winsize {
            ws_row: rows,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&self.terminal, size).expect("a terminal has a size");
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).expect("it runs");
    }

    /// Waits for the end: exit code, standard output, and what the terminal got.
    fn end(self) -> (Option<i32>, String, String) {
        let output = self.child.wait_with_output().expect("it ends");
        self.reader.join().expect("no panic");
        let written = self.written.lock().expect("no panic").clone();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (output.status.code(), text(output.stdout), text(written))
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
    run.resize(24);
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
