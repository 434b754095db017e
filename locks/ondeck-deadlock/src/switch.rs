//! Switches detection on or off: by the environment, read before `main`, or by a call.
//!
//! The environment is read by a constructor, because a lock cannot read it: another thread may be
//! changing it. The linker includes the constructor because it is in the same object file as the
//! flag that every lock reads.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{fork, table};

/// Whether locks report to this crate. It is written under the table's lock, and read again there,
/// so the report of a lock that reads an old value is ignored.
static IS_ON: AtomicBool = AtomicBool::new(false);

static REPORTS: AtomicBool = AtomicBool::new(false);

static ABORTS: AtomicBool = AtomicBool::new(false);

/// The variable of the environment.
const VARIABLE: &CStr = c"ONDECK_DEADLOCK";

/// What happens to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is delivered, and the program continues.
    Report,
    /// It is delivered, and then the process aborts if the report is of an actual deadlock. A
    /// report of a potential deadlock never aborts.
    Abort,
    /// There is none: only [`check`](crate::check) searches, and for actual deadlocks.
    OnRequest,
}

/// Returns whether deadlocks are detected. One relaxed load.
#[inline(always)]
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Returns whether locks search for deadlocks and for what may become one, and report them.
#[inline]
pub fn reports() -> bool {
    REPORTS.load(Ordering::Relaxed)
}

/// Returns whether a deadlock aborts the process.
pub(crate) fn aborts() -> bool {
    ABORTS.load(Ordering::Relaxed)
}

/// Detects deadlocks from now on, in all threads.
///
/// Locks that are already held are unknown until they are locked the next time. If detection was on
/// before, it keeps its information, and only the mode changes.
///
/// # Cost
///
/// From now on each lock and each unlock accesses a table that all threads share, and each lock
/// records a stack, which takes microseconds.
pub fn enable(mode: Mode) {
    fork::prepare();
    ABORTS.store(mode == Mode::Abort, Ordering::Relaxed);
    REPORTS.store(mode != Mode::OnRequest, Ordering::Relaxed);
    let _table = table::lock();
    IS_ON.store(true, Ordering::Relaxed);
}

/// Stops detection, and forgets all locks and their order. [Ignored](crate::ignore) locks stay
/// ignored.
pub fn disable() {
    let mut table = table::lock();
    IS_ON.store(false, Ordering::Relaxed);
    table.clear();
}

/// Parses a value of `ONDECK_DEADLOCK`, or returns the error in it.
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
    // SAFETY: the name ends with a zero byte, and there is no other thread that could change the
    // environment.
    let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    if value.is_null() {
        return;
    }
    // SAFETY: getenv returns a string that ends with a zero byte, and nothing changes it during the
    // borrow.
    let value = unsafe { CStr::from_ptr(value) }.to_string_lossy();
    match asked(&value) {
        Ok(Some(mode)) => enable(mode),
        Ok(None) => {}
        Err(unknown) => {
            let told = format!("ondeck: {unknown}\n");
            // SAFETY: the bytes are valid; a failed write is ignored.
            unsafe { libc::write(libc::STDERR_FILENO, told.as_ptr().cast(), told.len()) };
            // SAFETY: none of the program's code has run yet.
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
