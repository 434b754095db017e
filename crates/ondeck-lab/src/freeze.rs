//! A thread that never returns from a lock: says where it is, and keeps it from using a CPU that other
//! measurements need.
//!
//! A thread cannot be killed alone. It can be sent a signal whose handler never returns: then it
//! sleeps until the process ends, and its stack, with whatever the lock keeps on it, stays valid.

use std::fs;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Once;
use std::thread::JoinHandle;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// A signal that nothing else in this process uses.
const FREEZE: Signal = Signal::SIGUSR2;

extern "C" fn sleep_for_ever(_signal: libc::c_int) {
    loop {
        // Async-signal-safe; returns after every other signal.
        nix::unistd::pause();
    }
}

/// Makes the thread sleep until the process ends.
pub(crate) fn freeze<T>(handle: &JoinHandle<T>) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let action =
            SigAction::new(SigHandler::Handler(sleep_for_ever), SaFlags::empty(), SigSet::all());
        // SAFETY: the handler only calls pause(2), which is async-signal-safe.
        let installed = unsafe { sigaction(FREEZE, &action) };
        debug_assert!(installed.is_ok(), "SIGUSR2 can always be caught");
    });
    // A thread that has just ended cannot be signalled, and need not be.
    let _ = pthread_kill(handle.as_pthread_t(), FREEZE);
}

/// Where a thread is, in one line: its name, its state, and what it waits for in the kernel. The
/// thread is of the given process, or of this one.
pub(crate) fn describe(process: Option<u32>, kernel_id: i32) -> String {
    let process = process.map_or("self".to_owned(), |process| process.to_string());
    let read = |file: &str| {
        fs::read_to_string(format!("/proc/{process}/task/{kernel_id}/{file}")).unwrap_or_default()
    };
    let stat = read("stat");
    // "tid (name) state ...": the name may hold anything, so the last parenthesis ends it.
    let (name, state) = match (stat.find('('), stat.rfind(')')) {
        (Some(open), Some(close)) => (
            stat[open + 1..close].to_owned(),
            stat[close + 1..].trim_start().chars().next().unwrap_or('?'),
        ),
        _ => ("thread".to_owned(), '?'),
    };
    let state = match state {
        'R' => "running",
        'S' => "sleeping",
        'D' => "in uninterruptible sleep",
        'T' | 't' => "stopped",
        'Z' | 'X' => "dead",
        _ => "in an unknown state",
    };
    let channel = read("wchan");
    match channel.trim() {
        "" | "0" => format!("{name} ({kernel_id}) {state}"),
        channel => format!("{name} ({kernel_id}) {state} in {channel}"),
    }
}
