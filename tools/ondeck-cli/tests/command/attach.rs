//! `ondeck attach`: switches recording on and off in a program that is already running.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};

use crate::shim::{pid, run, wait_until};
use crate::support::{ended, ondeck, stderr, stdout};

/// A program that runs until its input ends, with its process id: the command becomes the program.
fn attachable(folder: &Path) -> Child {
    let mut child = run(&["cat"])
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let name = format!("/proc/{}/comm", child.id());
    wait_until("the program", || fs::read_to_string(&name).is_ok_and(|name| name == "cat\n"));
    // When the program answers, the loader has finished.
    child.stdin.as_mut().expect("a pipe").write_all(b"x").expect("a reader");
    child.stdout.as_mut().expect("a pipe").read_exact(&mut [0]).expect("an answer");
    child
}

#[test]
fn attaching_switches_recording_on_and_off_in_the_program_s_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = attachable(folder.path());
    let page = fs::read_dir(folder.path()).expect("the folder").next().expect("a page");
    let page = page.expect("a page").path();
    let number = program.id().to_string();
    let word = || fs::read(&page).expect("the page")[8];
    for switch in 1..3 {
        let mut attach = ondeck(&["attach", &number, "--for", "1h"]);
        attach.env("TMPDIR", folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let attached = attach.spawn().expect("the command starts");
        wait_until("recording", || word() == switch << 2 | 1);
        kill(pid(&attached), Signal::SIGINT).expect("it runs");
        let output = ended(0, attached.wait_with_output().expect("it ends"));
        assert_eq!(stdout(&output), "no thread has waited for a pthread lock yet\n");
        assert_eq!(word(), switch << 2 | 2);
    }
    // It also ends with the program.
    let mut attach = ondeck(&["attach", &number]);
    attach.env("TMPDIR", folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let attached = attach.spawn().expect("the command starts");
    wait_until("recording", || word() == 3 << 2 | 1);
    drop(program.stdin.take());
    assert_eq!(program.wait().expect("it ends").code(), Some(0));
    let output = attached.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(left.len(), 1, "the page: {left:?}");
}

#[test]
fn a_program_that_is_just_being_started_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    // The shell's child is slow to become the command.
    let script = "(sleep 0.3; exec \"$0\" run sleep 60) & \"$0\" attach $! --for 100ms; \
                  code=$?; kill $!; exit $code";
    let run = run(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(run.get_program());
    shell.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.env("TMPDIR", folder.path()).output().expect("a shell");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_process_that_cannot_be_attached_to_is_refused_with_the_reason() {
    let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().expect("it starts");
    let number = other.id().to_string();
    for (process, word) in [(&*number, "`ondeck who "), ("4194304", "no process"), ("0", "'0'")] {
        let output = ended(2, ondeck(&["attach", process]).output().expect("the command starts"));
        assert!(stderr(&output).contains(word), "{process}: {}", stderr(&output));
    }
    drop(other.stdin.take());
    other.wait().expect("it ends");
}
