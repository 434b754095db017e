//! On or off: by the environment, read before `main`, or by a call.
//!
//! The environment is read by a constructor, because a lock cannot read it: another thread may be changing it.
//! The linker takes the constructor along since it stands in the same object file as the flag that every
//! lock reads.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{fork, table};

/// Whether locks are to tell anything. It is written under the table's lock, and read again there: a lock that
/// reads an old value tells something that is then ignored.
static IS_ON: AtomicBool = AtomicBool::new(false);

static ABORTS: AtomicBool = AtomicBool::new(false);

/// The variable of the environment.
const VARIABLE: &CStr = c"ONDECK_DEADLOCK";

/// What becomes of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is told, and the program goes on.
    Report,
    /// It is told. If it is of a deadlock that has come about, the process is then aborted. No report of what
    /// only may deadlock aborts.
    Abort,
}

/// Whether deadlocks are detected. One load, relaxed.
#[inline(always)]
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Whether a deadlock aborts the process.
pub(crate) fn aborts() -> bool {
    ABORTS.load(Ordering::Relaxed)
}

/// Detects deadlocks from now on, in all threads.
///
/// Locks that are held already are unknown until they are locked the next time. If it was on before, what is
/// known stays known, and only the mode changes.
///
/// # Cost
///
/// From now on each lock and each unlock enters a table that all threads share, and each lock records a stack:
/// microseconds.
pub fn enable(mode: Mode) {
    fork::prepare();
    ABORTS.store(mode == Mode::Abort, Ordering::Relaxed);
    let _table = table::lock();
    IS_ON.store(true, Ordering::Relaxed);
}

/// Detects nothing any more, and forgets what is known of locks and their order. What is
/// [ignored](crate::ignore) stays so.
pub fn disable() {
    let mut table = table::lock();
    IS_ON.store(false, Ordering::Relaxed);
    table.clear();
}

/// What a value of `ONDECK_DEADLOCK` asks for, or what is wrong with it.
fn asked(value: &str) -> Result<Option<Mode>, String> {
    match value {
        "" | "off" => Ok(None),
        "report" => Ok(Some(Mode::Report)),
        "abort" => Ok(Some(Mode::Abort)),
        other => Err(format!("ONDECK_DEADLOCK={other}: not a mode; it is report, abort or off")),
    }
}

/// Called by the loader, after the C library's own constructors.
#[used]
#[unsafe(link_section = ".init_array.00102")]
static CONSTRUCTOR: extern "C" fn() = read;

extern "C" fn read() {
    // SAFETY: the name ends with a zero byte, and no other thread exists that changes the environment.
    let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    if value.is_null() {
        return;
    }
    // SAFETY: getenv returns a string that ends with a zero byte, which nothing changes meanwhile.
    let value = unsafe { CStr::from_ptr(value) }.to_string_lossy();
    match asked(&value) {
        Ok(Some(mode)) => enable(mode),
        Ok(None) => {}
        Err(unknown) => {
            let told = format!("ondeck: {unknown}\n");
            // SAFETY: the bytes are there; what cannot be written is lost.
            unsafe { libc::write(libc::STDERR_FILENO, told.as_ptr().cast(), told.len()) };
            // SAFETY: nothing of the program has run yet.
            unsafe { libc::exit(2) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_means_nothing_is_named_with_those_that_do() {
        let told = asked("yes").expect_err("no mode");
        assert_eq!(told, "ONDECK_DEADLOCK=yes: not a mode; it is report, abort or off");
        assert_eq!(asked("abort"), Ok(Some(Mode::Abort)));
        assert_eq!(asked("off"), Ok(None));
    }
}
