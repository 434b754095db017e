//! `ondeck run`: a program's streams, signals and end.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{SigHandler, SigSet, Signal, kill, signal};
use nix::unistd::Pid;

use crate::shim::{pid, run, shim, wait_until};
use crate::support::{stderr, stdout};

/// Both ways of running a program: in this process's place, and beside it with a recording.
fn both_ways(folder: &Path, program: &[&str]) -> [Command; 2] {
    let report = folder.join("r.jsonl").into_os_string().into_string().expect("UTF-8");
    [run(&[&["--"], program].concat()), run(&[&["--profile", &report, "--"], program].concat())]
}

#[test]
fn a_program_keeps_its_streams_arguments_and_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "cat; echo \"$0 $1\"; echo words >&2; exit 7";
    for mut command in both_ways(folder.path(), &["sh", "-c", script, "a b", "--help"]) {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        child.stdin.take().expect("a pipe").write_all(b"input\n").expect("a reader");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(stdout(&output), "input\na b --help\n");
        assert!(stderr(&output).starts_with("words\n"), "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(7));
    }
}

#[test]
fn a_program_that_a_signal_ends_ends_the_command_by_that_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["KILL", "TERM", "SEGV", "PIPE"] {
        let script = format!("ulimit -c 0; kill -{name} $$");
        for mut command in both_ways(folder.path(), &["sh", "-c", &script]) {
            let output = command.output().expect("the command starts");
            let expected: Signal = format!("SIG{name}").parse().expect("a signal");
            assert_eq!(output.status.signal(), Some(expected as i32), "{}", stderr(&output));
        }
    }
}

/// The shim precedes the existing entries, and the program finds the variables that the shim reads.
#[test]
fn the_shim_is_preloaded_first() {
    let shown = "echo \"$LD_PRELOAD\"; test -s \"$ONDECK_CONTROL\"";
    let preloaded = run(&["--lock", "ondeck", "sh", "-c", shown])
        .env("LD_PRELOAD", "libc.so.6")
        .output()
        .expect("the command starts");
    assert_eq!(preloaded.status.code(), Some(0), "{}", stderr(&preloaded));
    assert_eq!(stdout(&preloaded), format!("{}:libc.so.6\n", shim().display()));

    let without = run(&["--lock", "glibc", "sh", "-c", "echo \"$LD_PRELOAD|$ONDECK_PROFILE\""])
        .env("LD_PRELOAD", format!("{}:libc.so.6", shim().display()))
        .env("ONDECK_PROFILE", "/nowhere")
        .output()
        .expect("the command starts");
    assert_eq!(stdout(&without), "libc.so.6|\n");
}

/// Rust's runtime ignores SIGPIPE and opens closed streams; a program must see neither.
#[test]
fn a_program_starts_with_the_signals_and_streams_that_the_command_was_started_with() {
    let folder = tempfile::tempdir().expect("a folder");
    // A shell would change the blocked signals.
    let signals = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"];
    let streams = ["sh", "-c", "test -e /proc/$$/fd/0 && echo open || echo closed"];
    let set = |command: &mut Command, unusual: bool| {
        // SAFETY: between fork and exec these are system calls only.
        unsafe {
            command.pre_exec(move || {
                let handler = if unusual { SigHandler::SigIgn } else { SigHandler::SigDfl };
                signal(Signal::SIGPIPE, handler)?;
                signal(Signal::SIGCHLD, handler)?;
                if unusual {
                    SigSet::from(Signal::SIGUSR2).thread_set_mask()?;
                    libc::close(0);
                }
                Ok(())
            });
        }
    };
    for (unusual, blocked, stream) in [(false, "0000\n", "open\n"), (true, "0800\n", "closed\n")] {
        for (program, word) in [(&signals[..], blocked), (&streams, stream)] {
            let mut direct = Command::new(program[0]);
            direct.args(&program[1..]).stdin(Stdio::null());
            set(&mut direct, unusual);
            let expected = stdout(&direct.output().expect("it starts"));
            assert!(expected.contains(word), "{expected}");
            for mut command in both_ways(folder.path(), program) {
                command.stdin(Stdio::null());
                set(&mut command, unusual);
                let output = command.output().expect("the command starts");
                assert_eq!(stdout(&output), expected, "{}", stderr(&output));
            }
        }
    }
}

/// A process's state, as ps shows it.
fn state(pid: Pid) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('-')
}

/// A shell that the command supervises, in a separate process group, and its process id.
fn supervised(folder: &Path, script: &str) -> (Child, Pid, impl Read) {
    let script = format!("echo $$; {script}");
    let [_, mut command] = both_ways(folder, &["sh", "-c", &script]);
    let mut child = command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut output = child.stdout.take().expect("a pipe");
    let mut line = Vec::new();
    let mut byte = [0];
    while output.read_exact(&mut byte).is_ok() && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    let number = String::from_utf8_lossy(&line).parse().expect("a process id");
    (child, Pid::from_raw(number), output)
}

#[test]
fn signals_that_are_sent_to_the_command_reach_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    // No SIGHUP: a shell cannot trap a signal that was ignored when it started, as under nohup(1).
    let script = "trap 'echo one' USR1; trap 'echo term; exit 9' TERM; echo ready
        while :; do sleep 0.01; done";
    let (child, _, mut output) = supervised(folder.path(), script);
    let mut text = String::new();
    let mut read_to = |end: &str| {
        let mut byte = [0];
        let start = text.len();
        while !text[start..].ends_with(end) && output.read_exact(&mut byte).is_ok() {
            text.push(char::from(byte[0]));
        }
        assert!(text[start..].ends_with(end), "{text}");
    };
    read_to("ready\n");
    for _ in 0..3 {
        kill(pid(&child), Signal::SIGUSR1).expect("it runs");
        read_to("one\n");
    }
    kill(pid(&child), Signal::SIGTERM).expect("it runs");
    read_to("term\n");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(9));
    assert_eq!(text, "ready\none\none\none\nterm\n", "each signal once");
}

#[test]
fn the_command_stops_and_goes_on_with_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let (child, program, _output) = supervised(folder.path(), "while :; do sleep 0.01; done");
    for stop in [Signal::SIGTSTP, Signal::SIGSTOP] {
        // A terminal would send to the group; another process sends to the program.
        let target = if stop == Signal::SIGTSTP { pid(&child) } else { program };
        kill(target, stop).expect("it runs");
        wait_until("both stopped", || state(program) == 'T' && state(pid(&child)) == 'T');
        kill(pid(&child), Signal::SIGCONT).expect("it is there");
        if stop == Signal::SIGSTOP {
            kill(program, Signal::SIGCONT).expect("it is there");
        }
        wait_until("both went on", || state(program) != 'T' && state(pid(&child)) != 'T');
    }
    kill(pid(&child), Signal::SIGTERM).expect("it runs");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.signal(), Some(libc::SIGTERM));
}

#[test]
fn a_program_does_not_outlive_a_command_that_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut child, program, _output) = supervised(folder.path(), "while :; do sleep 0.01; done");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    wait_until("the end of the program", || matches!(state(program), '-' | 'Z'));
}
