//! `ondeck run`: what becomes of a program's streams, signals and end, what is refused, and comparisons.
//!
//! The shim of these tests is a library that maps its page and does nothing else. What the real one does
//! is of `crates/ondeck-preload/tests`, and both together of `ci/package.sh`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigHandler, SigSet, Signal, kill, signal};
use nix::unistd::Pid;

use crate::support::{ondeck, parsed, stderr, stdout};

const LIBRARY: &str = "libondeck_preload.so";

/// Compiles a C source with these options to a file of that name.
fn compiled(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&from, source).expect("a file");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let done = Command::new(compiler).args(options).arg(&from).arg("-o").arg(&to).output();
    let done = done.expect("a C compiler, which links Rust programs too");
    assert!(done.status.success(), "{}", stderr(&done));
    to
}

/// What the shim of the tests does when it is loaded.
const SHIM: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((constructor)) static void map(void)
{
    const char *name = getenv("ONDECK_CONTROL");
    int page = name ? open(name, O_RDONLY) : -1;
    mmap(NULL, 4096, PROT_READ, MAP_SHARED, page, 0);
    close(page);
}
"#;

fn shim() -> &'static Path {
    static MADE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = compiled(folder.path(), LIBRARY, SHIM, &["-shared", "-fPIC"]);
        (folder, path)
    });
    path
}

pub(crate) fn run(arguments: &[&str]) -> Command {
    let mut command = ondeck(&[&["run"], arguments].concat());
    command.env("ONDECK_PRELOAD_LIBRARY", shim()).env_remove("LD_PRELOAD");
    // Pages and recordings that a killed command leaves are not to be found by other programs.
    command.env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
    command
}

fn output(arguments: &[&str]) -> Output {
    run(arguments).output().expect("the command starts")
}

/// Both ways of running a program: in this process's place, and beside it with a recording.
fn both_ways(folder: &Path, program: &[&str]) -> [Command; 2] {
    let report = folder.join("r.folded").into_os_string().into_string().expect("UTF-8");
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

/// The shim is in front of what is there, and the program finds what the shim reads.
#[test]
fn the_shim_is_preloaded_first() {
    let shown = "echo \"$LD_PRELOAD|$ONDECK_LOCK\"; test -s \"$ONDECK_CONTROL\"";
    let preloaded = run(&["--lock", "go_spinbit", "sh", "-c", shown])
        .env("LD_PRELOAD", "libc.so.6")
        .output()
        .expect("the command starts");
    assert_eq!(preloaded.status.code(), Some(0), "{}", stderr(&preloaded));
    assert_eq!(stdout(&preloaded), format!("{}:libc.so.6|go_spinbit\n", shim().display()));

    let without = run(&["--lock", "glibc", "sh", "-c", "echo \"$LD_PRELOAD|$ONDECK_LOCK\""])
        .env("LD_PRELOAD", format!("{}:libc.so.6", shim().display()))
        .env("ONDECK_LOCK", "ondeck")
        .output()
        .expect("the command starts");
    assert_eq!(stdout(&without), "libc.so.6|\n");
}

/// Rust's runtime ignores SIGPIPE and opens closed streams; a program is to find neither.
#[test]
fn a_program_starts_with_the_signals_and_streams_that_the_command_was_started_with() {
    let folder = tempfile::tempdir().expect("a folder");
    // A shell would change what is blocked.
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

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    const LIMIT: Duration = Duration::from_mins(2);
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < LIMIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A process's state, as ps shows it.
fn state(pid: Pid) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('-')
}

/// A shell that the command supervises, in a process group of its own, and its process id.
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
    // No SIGHUP: a shell cannot trap a signal that it was started without, as under nohup(1).
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
        // What a terminal would send to the group, and what another process sends to the program.
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

#[test]
fn what_the_shim_cannot_serve_is_refused_with_the_reason() {
    const MAIN: &str = "int main(void) { return 0; }";
    const PRETENDS: &str = "int __tsan_init; int main(void) { return 0; }";
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let loader = |path: &str| format!("-Wl,--dynamic-linker={path}");
    let foreign = folder.join("foreign");
    fs::write(&foreign, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0").expect("a file");
    let broken = folder.join("broken");
    fs::write(&broken, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0").expect("a file");
    let script = folder.join("script");
    fs::write(&script, format!("#!{}\n", folder.join("static").display())).expect("a file");
    for path in [&foreign, &broken, &script] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("our file");
    }
    let other_loader = loader(folder.join("ld.so").to_str().expect("UTF-8"));
    let musl = loader("/lib/ld-musl-x86_64.so.1");
    fs::write(folder.join("ld.so"), "").expect("a file");
    compiled(folder, "static", MAIN, &["-static"]);
    compiled(folder, "musl", MAIN, &[&musl]);
    compiled(folder, "other", MAIN, &[&other_loader]);
    compiled(folder, "sanitized", PRETENDS, &[]);
    for (name, words) in [
        ("static", &["statically", "--lock glibc"][..]),
        ("script", &["statically", "which runs"]),
        ("musl", &["musl"]),
        ("other", &["no glibc"]),
        ("sanitized", &["ThreadSanitizer"]),
        ("foreign", &["64-bit Arm", "x86-64"]),
        ("broken", &["whole"]),
    ] {
        let path = folder.join(name);
        let output = output(&["--", path.to_str().expect("UTF-8")]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(126), "{name}: {message}");
        for word in words {
            assert!(message.contains(word), "{name} should say {word}: {message}");
        }
    }
    // Without the shim it is run.
    let path = folder.join("static");
    let output = output(&["--lock", "glibc", path.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_program_that_gets_more_rights_than_its_user_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled(folder.path(), "program", "int main(void) { return 0; }", &[]);
    let path = program.to_str().expect("UTF-8");
    let other_user = nix::unistd::geteuid().as_raw() + 1;
    if chown(&program, Some(other_user), Some(other_user)).is_err() {
        // Only root may give files away. There is one that is root's.
        let output = output(&["--", "su"]);
        assert_eq!(output.status.code(), Some(126), "{}", stderr(&output));
        assert!(stderr(&output).contains("set-user-ID"), "{}", stderr(&output));
        return;
    }
    for (mode, word) in
        [(0o4755, Some("set-user-ID")), (0o2755, Some("set-group-ID")), (0o755, None)]
    {
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).expect("root may");
        let output = output(&["--", path]);
        let message = stderr(&output);
        match word {
            Some(word) => assert!(message.contains(word), "{mode:o}: {message}"),
            None => assert_eq!(output.status.code(), Some(0), "{message}"),
        }
    }
}

#[test]
fn a_program_that_is_not_started_has_the_exit_codes_of_env() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    fs::write(&data, "text").expect("a file");
    let unwritable = folder.path().join("no/such/r.html");
    let (data, unwritable) = (data.to_str().expect("UTF-8"), unwritable.to_str().expect("UTF-8"));
    for (arguments, code, word) in [
        (&["--", "no-such-program"][..], 127, "$PATH"),
        (&["--", data], 126, "chmod"),
        (&["--lock", "spinlok", "true"], 2, "`spinlok`"),
        (&["--profile", unwritable, "true"], 2, unwritable),
        (&["--profile", "r.txt", "true"], 2, ".html"),
        (&["--lock", "glibc", "--profile", "r.html", "true"], 2, "--lock glibc"),
        (&["--json", "r.json", "true"], 2, "--compare"),
        (&["--compare", "--live", "true"], 2, "--live"),
        (&["--live", "true"], 2, "terminal"),
        (&["--compare", "--locks", "glibc", "true"], 2, "name another"),
        (&["--runs", "3", "true"], 2, "--compare"),
        (&[], 2, "PROGRAM"),
    ] {
        let output = output(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(word), "{arguments:?} should name {word}: {message}");
        assert!(stdout(&output).is_empty() && !message.contains("panicked"), "{message}");
    }
    for (library, word) in [("/no/such.so", "/no/such.so"), (data, "link.sh")] {
        let output = run(&["true"]).env("ONDECK_PRELOAD_LIBRARY", library).output();
        let output = output.expect("the command starts");
        assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
}

#[test]
fn a_stream_that_was_closed_may_be_given_to_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("words");
    let path = file.to_str().expect("UTF-8");
    let mut command = run(&["--output", path, "echo", "word"]);
    // SAFETY: a system call only.
    unsafe {
        command.pre_exec(|| {
            libc::close(1);
            Ok(())
        });
    }
    assert_eq!(command.output().expect("the command starts").status.code(), Some(0));
    assert_eq!(fs::read_to_string(&file).expect("the file"), "word\n");
}

#[test]
fn the_program_s_words_go_to_a_file_if_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("words");
    let path = file.to_str().expect("UTF-8");
    let output = output(&["--output", path, "sh", "-c", "echo out; echo err >&2"]);
    assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));
    assert_eq!(fs::read_to_string(&file).expect("the file"), "out\nerr\n");
}

#[test]
fn a_comparison_has_every_quantity_and_a_report_that_others_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("r.json");
    let count = folder.path().join("count");
    // Each run reads its input from the start, and only the shim's runs have the shim.
    let script = format!("read word; echo \"$word$LD_PRELOAD\" >> {}; echo seen", count.display());
    let input = folder.path().join("input");
    fs::write(&input, "word\n").expect("a file");
    let output = run(&["--compare", "--runs", "4", "--locks", "ondeck,go_spinbit", "--json"])
        .arg(&json)
        .args(["--", "sh", "-c", &script])
        .stdin(File::open(&input).expect("our file"))
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for words in ["A  glibc, 4 runs", "B  go_spinbit, 4 runs", "wall time", "CPU time", "memory"] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    assert!(!text.contains("seen"), "the program's output: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let lines = fs::read_to_string(&count).expect("the program ran");
    assert_eq!(lines.lines().count(), 3 * 5, "a warm-up and four runs of three locks");
    assert_eq!(lines.lines().filter(|line| *line == "word").count(), 5, "{lines}");

    let report = parsed(&json);
    let series = report["series"].as_array().expect("series");
    let locks: Vec<&str> = series.iter().filter_map(|one| one["lock"].as_str()).collect();
    assert_eq!(locks, ["glibc", "ondeck", "go_spinbit"]);
    assert!(series.iter().all(|one| one["metrics"].as_array().map(Vec::len) == Some(5)));
    let path = json.to_str().expect("UTF-8");
    let again = crate::support::run(&["compare", "--by", "lock", "--base", "glibc", path]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
}

#[test]
fn a_lock_that_a_program_fails_with_is_left_out_and_said() {
    let failing = "test -z \"$LD_PRELOAD\" || { echo broken >&2; exit 3; }";
    let output = output(&["--compare", "--runs", "2", "sh", "-c", failing]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    for word in ["ondeck: warm-up", "exit code 3", "broken"] {
        assert!(message.contains(word), "{word} is missing in {message}");
    }
}

/// A program that runs until its input ends, and its process id: the command becomes the program.
fn attachable(folder: &Path) -> Child {
    let mut child = run(&["cat"])
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let name = format!("/proc/{}/comm", child.id());
    wait_until("the program", || fs::read_to_string(&name).is_ok_and(|name| name == "cat\n"));
    // The loader is done when the program answers.
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
        let output = attached.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), "no thread has waited for a lock yet\n");
        assert_eq!(word(), switch << 2 | 2);
    }
    // It ends with the program, too.
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
fn a_process_that_cannot_be_attached_to_is_refused_with_the_reason() {
    let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().expect("it starts");
    let number = other.id().to_string();
    for (process, word) in [(&*number, "ondeck run"), ("4194304", "no process"), ("0", "'0'")] {
        let output = ondeck(&["attach", process]).output().expect("the command starts");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(word), "{process}: {}", stderr(&output));
    }
    drop(other.stdin.take());
    other.wait().expect("it ends");
}
