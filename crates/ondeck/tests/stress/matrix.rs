//! The rows of the matrix, each in a separate process, which is started, stopped and judged here.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;
use std::{io, thread};

use fastrand::Rng;
use ondeck::platform::Linux;

use super::seccomp::Filter;
use super::settings::{Cpus, Membarrier, Settings, VARIABLE};

/// Runs a row in a separate process. Returns the row's output.
pub fn run(settings: &Settings) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--ignored", "--exact", "one_row", "--nocapture", "--test-threads", "1"]);
    command.env(VARIABLE, settings.text());
    prepare(&mut command, settings);
    let (mut reader, writer) = io::pipe().expect("a pipe");
    command.stdout(writer.try_clone().expect("a pipe")).stderr(writer);
    let mut child = command.spawn().expect("the row starts, and filters are allowed");
    // The command holds the write ends of the pipe.
    drop(command);
    let said = thread::spawn(move || {
        let mut text = Vec::new();
        reader.read_to_end(&mut text).expect("a pipe is read");
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut rng = Rng::with_seed(settings.seed);
    let mut stops = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is a child of ours") {
            break status;
        }
        thread::sleep(Duration::from_micros(rng.u64(500..10_000)));
        if settings.stops {
            stop(&child, Duration::from_micros(rng.u64(0..5_000)));
            stops += 1;
        }
    };
    let said = said.join().expect("it only reads");
    assert!(
        status.success(),
        "{status}\n{said}\n{settings:?}\nrun it again:\n{VARIABLE}='{}' cargo test -p ondeck --test stress -- \
         matrix --nocapture\n",
        settings.text()
    );
    let seen =
        said.lines().filter(|line| line.starts_with("seen: ") || line.starts_with("refused: "));
    let seen: Vec<&str> = seen.collect();
    assert!(!seen.is_empty(), "the row did not run\n{said}");
    format!("{settings:?}\n  {}, {stops} stops", seen.join("\n  "))
}

/// Stops a process and lets it continue. The child is not reaped during this, so its number is not
/// reused.
fn stop(child: &Child, length: Duration) {
    let process = child.id().cast_signed();
    // SAFETY: signals to a child of ours.
    unsafe { libc::kill(process, libc::SIGSTOP) };
    thread::sleep(length);
    // SAFETY: as above.
    unsafe { libc::kill(process, libc::SIGCONT) };
}

/// Prepares a child with the settings that a row has from the start of its process.
fn prepare(command: &mut Command, settings: &Settings) {
    match settings.membarrier {
        Membarrier::Allowed => {}
        Membarrier::Forbidden => Filter::no_membarrier(libc::EPERM).install_in(command),
        Membarrier::Missing => Filter::no_membarrier(libc::ENOSYS).install_in(command),
        Membarrier::Unwanted => _ = command.env("ONDECK_NO_MEMBARRIER", "1"),
    }
    if settings.unwiped {
        Filter::no_wiping().install_in(command);
    }
    if settings.unpolled {
        command.env("ONDECK_SPIN", "0,0,0,0,0");
    }
    let cpus = Linux::affinity();
    let pinned = settings.cpus == Cpus::Pinned;
    let last = [*cpus.last().expect("a thread runs somewhere")];
    // SAFETY: only system calls, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            // A stopped child must not outlive the process that would continue it.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if pinned {
                Linux::set_affinity(&last).map_err(|_| io::Error::last_os_error())?;
            }
            Ok(())
        });
    }
}
