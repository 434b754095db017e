//! `ondeck run`: programs that are refused or cannot be started, and the command's messages.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use crate::shim::{compiled, output, run};
use crate::support::{ended, stderr, stdout};

#[test]
fn what_the_shim_cannot_serve_is_refused_with_the_reason() {
    const MAIN: &str = "int main(void) { return 0; }";
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
    let other_loader = loader("/no/such/ld.so");
    let musl = loader("/lib/ld-musl-x86_64.so.1");
    compiled(folder, "static", MAIN, &["-static"]);
    compiled(folder, "musl", MAIN, &[&musl]);
    compiled(folder, "other", MAIN, &[&other_loader]);
    for (name, words) in [
        ("static", &["statically", "--lock glibc"][..]),
        ("script", &["statically", "which runs"]),
        ("musl", &["musl"]),
        ("other", &["/no/such/ld.so", "not there"]),
        ("foreign", &["64-bit Arm", "64-bit x86"]),
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
    // Without the shim it runs, and a profile says what it lacks.
    let path = folder.join("static");
    let path = path.to_str().expect("UTF-8");
    ended(0, output(&["--lock", "glibc", path]));
    let report = folder.join("r.jsonl");
    let report = report.to_str().expect("UTF-8");
    let profiled = ended(0, output(&["--no-seccomp", "--profile", report, path]));
    let words = stderr(&profiled);
    let first = words.lines().find(|line| !line.starts_with("wrote")).unwrap_or_default();
    assert!(first.starts_with("nothing was recorded"), "{words}");
    assert!(words.contains("not observed: the locks of the program: it is linked statically"));
    assert!(fs::read_to_string(report).expect("a report").contains("linked statically"));
    let checked = ended(126, output(&["--deadlocks", "--", path]));
    assert!(stderr(&checked).contains("linked statically"), "{}", stderr(&checked));
    let exchanged = ended(126, output(&["--lock", "ondeck", "--profile", report, path]));
    assert!(stderr(&exchanged).contains("the shim cannot serve"), "{}", stderr(&exchanged));
}

#[test]
fn a_program_that_gets_more_rights_than_its_user_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled(folder.path(), "program", "int main(void) { return 0; }", &[]);
    let path = program.to_str().expect("UTF-8");
    let other_user = nix::unistd::geteuid().as_raw() + 1;
    if chown(&program, Some(other_user), Some(other_user)).is_err() {
        // Only root may give files away; this file already belongs to root.
        let output = ended(126, output(&["--", "su"]));
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
    let data = data.to_str().expect("UTF-8");
    for (arguments, code, word) in
        [(&["--", "no-such-program"][..], 127, "$PATH"), (&["--", data], 126, "chmod")]
    {
        let output = output(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(word), "{arguments:?} should name {word}: {message}");
        assert!(stdout(&output).is_empty() && !message.contains("panicked"), "{message}");
    }
    for (library, word) in [("/no/such.so", "/no/such.so"), (data, "link.sh")] {
        let output = run(&["true"]).env("ONDECK_PRELOAD_LIBRARY", library).output();
        let output = ended(125, output.expect("the command starts"));
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
}

#[test]
fn a_check_for_deadlocks_says_that_it_has_seen_nothing() {
    for (script, code) in [("exit 7", 7), ("exit 0", 0)] {
        // The observer of the tests notes nothing.
        let checked = ended(code, output(&["--deadlocks", "--", "sh", "-c", script]));
        assert!(stderr(&checked).contains("nothing was checked"), "{}", stderr(&checked));
    }
    for other in ["--compare", "--lock=ondeck", "--profile=p.html", "--record=r.json"] {
        ended(2, output(&["--deadlocks", other, "--", "true"]));
    }
}

#[test]
fn a_program_that_locks_nothing_has_no_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("app.json");
    let name = file.to_str().expect("UTF-8");
    // The shim of the tests records nothing.
    ended(125, output(&["--record", name, "--", "true"]));
    assert!(!file.exists());
}
