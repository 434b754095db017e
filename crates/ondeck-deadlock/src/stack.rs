//! Stacks: taken as addresses, and given names when they are printed.

use std::ffi::c_void;
use std::fmt;
use std::path::{Path, PathBuf};

/// How many calls of a stack are kept.
const MOST: usize = 40;

/// The calls that a thread was in. Its `Display` looks their names up, which reads the program's file.
#[derive(Clone, Copy)]
pub struct Stack {
    addresses: [usize; MOST],
    count: u8,
}

impl Stack {
    /// The calls that the calling thread is in, the newest 40 of them. Allocates nothing.
    #[inline(never)]
    pub(crate) fn of_caller() -> Self {
        let mut stack = Self { addresses: [0; MOST], count: 0 };
        // SAFETY: on Linux the unwinder needs no synchronization; that is for finding names on Windows.
        unsafe {
            backtrace::trace_unsynchronized(|frame| {
                stack.addresses[usize::from(stack.count)] = frame.ip().addr();
                stack.count += 1;
                usize::from(stack.count) < MOST
            });
        }
        stack
    }

    /// The return addresses, the innermost call first. The first few are this crate's own.
    pub fn addresses(&self) -> &[usize] {
        &self.addresses[..usize::from(self.count)]
    }

    /// A number that other stacks hardly have.
    pub(crate) fn digest(&self) -> u64 {
        let mix = |sum: u64, address: &usize| {
            (sum ^ *address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        };
        self.addresses().iter().fold(0, mix)
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.addresses()).finish()
    }
}

/// Crates whose innermost calls say nothing of the program.
const OWN: [&str; 6] =
    ["ondeck_deadlock", "ondeck", "lock_api", "parking_lot", "backtrace", "core"];

/// Whether a function is one of the locks rather than of the program that calls them: `a::b`, or a method,
/// `<a::b as c>::d`. With little debug information inlined functions have no path, so that the file tells.
fn is_own(name: &str, file: &Path) -> bool {
    let name = name.trim_start_matches(['<', '&']);
    let is_it = |own: &&str| name.strip_prefix(*own).is_some_and(|rest| rest.starts_with("::"));
    OWN.iter().any(is_it) || name.starts_with("_Unwind") || is_own_file(file)
}

/// Whether a file is of one of those crates: `lock_api-0.5.0/src/mutex.rs`, `ondeck/src/lib.rs`.
fn is_own_file(file: &Path) -> bool {
    let parts = || file.iter().filter_map(|part| part.to_str());
    parts().zip(parts().skip(1)).any(|(folder, next)| {
        let name = folder.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
        let name = name.strip_suffix('-').unwrap_or(name).replace('-', "_");
        next == "src" && OWN.contains(&name.as_str())
    })
}

/// A function, and where in it the call is.
struct Call {
    name: String,
    place: Option<(PathBuf, u32)>,
}

/// The calls at an address: several where functions were inlined.
fn calls_at(address: usize) -> Vec<Call> {
    let mut calls = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let name =
            symbol.name().map_or_else(|| format!("{address:#x}"), |name| format!("{name:#}"));
        let place = symbol.filename().map(Path::to_owned).zip(symbol.lineno());
        calls.push(Call { name, place });
    });
    if calls.is_empty() {
        calls.push(Call { name: format!("{address:#x}"), place: None });
    }
    calls
}

impl fmt::Display for Stack {
    /// A line for each call, without those of the locks themselves and of what started the thread.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let here = std::env::current_dir().unwrap_or_default();
        let calls = self.addresses().iter().flat_map(|address| calls_at(*address));
        let calls = calls.skip_while(Call::is_own).take_while(|call| !call.starts_thread());
        for (number, call) in calls.enumerate() {
            write!(f, "{number:>10}: {}", call.name)?;
            if let Some((file, line)) = call.place {
                write!(f, " at {}:{line}", file.strip_prefix(&here).unwrap_or(&file).display())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Call {
    fn is_own(&self) -> bool {
        let file = self.place.as_ref().map_or(Path::new(""), |(file, _)| file);
        is_own(&self.name, file)
    }

    /// Whether it is the standard library's, below what a thread runs.
    fn starts_thread(&self) -> bool {
        self.name.contains("__rust_begin_short_backtrace")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_locks_are_told_from_those_of_the_program() {
        for (name, file) in [
            ("ondeck::mutex::watched::lock", ""),
            ("<ondeck::fair::RawFairMutex as lock_api::RawMutex>::lock", ""),
            ("lock", "/registry/lock_api-0.5.0/src/mutex.rs"),
            ("begin", "/home/crates/ondeck-deadlock/src/hooks.rs"),
            ("begin", "src/github/ondeck/src/lib.rs"),
        ] {
            assert!(is_own(name, Path::new(file)), "{name} {file}");
        }
        for (name, file) in [
            ("ondeck_user::main", "/home/ondeck-user/src/main.rs"),
            ("{closure#0}", "/home/crates/ondeck/tests/deadlock.rs"),
            ("main", ""),
        ] {
            assert!(!is_own(name, Path::new(file)), "{name} {file}");
        }
    }
}
