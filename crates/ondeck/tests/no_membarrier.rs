//! The suite where membarrier(2) is refused: by a filter on system calls, and by the environment;
//! and where the table cannot be wiped in a forked child by the kernel.
//!
//! The other test files are part of this one. It runs them again, in a child of its own that the
//! refusal is in force for.

#![allow(clippy::duplicate_mod, reason = "each of these files is a test of its own, too")]

#[path = "condvar.rs"]
mod condvar;
#[path = "fork.rs"]
mod fork;
#[path = "lifetime.rs"]
mod lifetime;
#[path = "mutex.rs"]
mod mutex;
#[path = "parking.rs"]
mod parking;
#[path = "stress.rs"]
mod stress;

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use ondeck::platform::{Linux, Platform};

/// Set in a child: what is refused there.
const REFUSED: &str = "ONDECK_TEST_REFUSED";

/// A filter that refuses one system call with `errno`, whenever `argument` is not given or its third
/// argument equals it. Everything else is allowed.
fn filter(call: libc::c_long, argument: Option<u32>, errno: i32) -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    /// Where `seccomp_data` has the number, and the low half of the third argument.
    const NUMBER: u32 = 0;
    const THIRD: u32 = 16 + 2 * 8;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let refuse = libc::SECCOMP_RET_ERRNO | errno as u32;
    let mut program = vec![step(LOAD, 0, 0, NUMBER)];
    match argument {
        None => program.push(step(EQUAL, 0, 1, call as u32)),
        Some(value) => program.extend([
            step(EQUAL, 0, 3, call as u32),
            step(LOAD, 0, 0, THIRD),
            step(EQUAL, 0, 1, value),
        ]),
    }
    program.extend([step(RETURN, 0, 0, refuse), step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW)]);
    program
}

/// Runs every other test of this file in a child.
fn run_again(refused: &str, filter: Option<Vec<libc::sock_filter>>, environment: &[(&str, &str)]) {
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
    child
        .args(["--skip", "the_suite_passes"])
        .env(REFUSED, refused)
        .env("ONDECK_TEST_ROUNDS", "500")
        .env("ONDECK_STRESS_SECONDS", "0.5")
        .envs(environment.to_vec());
    if let Some(mut filter) = filter {
        let install = move || {
            let program =
                libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            // SAFETY: two system calls with live arguments; nothing is allocated after the fork.
            let result = unsafe {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
            };
            if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        };
        // SAFETY: `install` is safe between fork and exec.
        unsafe { child.pre_exec(install) };
    }
    let output = child.output().expect("the child starts, and filters are allowed");
    assert!(
        output.status.success(),
        "{refused}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_fences_are_as_the_refusal_says() {
    match std::env::var(REFUSED).as_deref() {
        Ok("membarrier") => assert!(!Linux::fences_are_asymmetric()),
        // Whatever this machine has.
        _ => _ = Linux::fences_are_asymmetric(),
    }
}

#[test]
fn the_suite_passes_where_a_filter_refuses_membarrier() {
    run_again("membarrier", Some(filter(libc::SYS_membarrier, None, libc::EPERM)), &[]);
}

#[test]
fn the_suite_passes_where_the_kernel_has_no_membarrier() {
    run_again("membarrier", Some(filter(libc::SYS_membarrier, None, libc::ENOSYS)), &[]);
}

#[test]
fn the_suite_passes_where_the_environment_refuses_membarrier() {
    run_again("membarrier", None, &[("ONDECK_NO_MEMBARRIER", "1")]);
}

#[test]
fn the_suite_passes_where_the_table_cannot_be_wiped_by_the_kernel() {
    let advice = Some(libc::MADV_WIPEONFORK as u32);
    let skip_bare_call = [("ONDECK_TEST_LIBRARY_FORK", "1")];
    run_again("wiping", Some(filter(libc::SYS_madvise, advice, libc::EINVAL)), &skip_bare_call);
}

#[test]
fn the_suite_passes_where_nobody_polls() {
    run_again("polling", None, &[("ONDECK_SPIN", "0,0,0,0,0")]);
}
