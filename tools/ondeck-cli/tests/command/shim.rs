//! `ondeck run` with a shim that only maps its page. `locks/ondeck-preload/tests` tests the real
//! one, and `ci/package.sh` tests both together.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use crate::support::{ondeck, stderr};

const LIBRARY: &str = "libondeck_preload.so";
const OBSERVER: &str = "libondeck_observe.so";

/// Compiles a C source with these options to a file with that name.
pub(crate) fn compiled(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&from, source).expect("a file");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let done = Command::new(compiler).args(options).arg(&from).arg("-o").arg(&to).output();
    let done = done.expect("a C compiler, which links Rust programs too");
    assert!(done.status.success(), "{}", stderr(&done));
    to
}

/// The source of the tests' shim.
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

/// The tests' shim, and the observer, which is the same.
fn libraries() -> &'static [PathBuf; 2] {
    static MADE: OnceLock<(tempfile::TempDir, [PathBuf; 2])> = OnceLock::new();
    let (_, paths) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |name| compiled(folder.path(), name, SHIM, &["-shared", "-fPIC"]);
        let paths = [LIBRARY, OBSERVER].map(make);
        (folder, paths)
    });
    paths
}

pub(crate) fn shim() -> &'static Path {
    &libraries()[0]
}

pub(crate) fn run(arguments: &[&str]) -> Command {
    let mut command = ondeck(&[&["run"], arguments].concat());
    let [shim, observer] = libraries();
    command.env("ONDECK_PRELOAD_LIBRARY", shim).env("ONDECK_OBSERVE_LIBRARY", observer);
    command.env_remove("LD_PRELOAD");
    // Other programs must not find the pages and recordings that a killed command leaves.
    command.env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
    command
}

pub(crate) fn output(arguments: &[&str]) -> Output {
    run(arguments).output().expect("the command starts")
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    const LIMIT: Duration = Duration::from_mins(2);
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < LIMIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}
