//! Stacks: recorded as addresses, and resolved to names when they are printed.

use std::ffi::c_void;
use std::fmt;
use std::path::{Path, PathBuf};

/// The number of calls of a stack that are kept.
const MOST: usize = 40;

/// The active calls of a thread. Its `Display` looks up their names, which reads the program's
/// file.
#[derive(Clone, Copy)]
pub struct Stack {
    addresses: [usize; MOST],
    count: u8,
}

impl Stack {
    /// Records the newest 40 active calls of the calling thread. Does not allocate.
    #[inline(never)]
    pub(crate) fn of_caller() -> Self {
        let mut stack = Self { addresses: [0; MOST], count: 0 };
        // SAFETY: on Linux the unwinder needs no synchronization; only name lookup on Windows does.
        unsafe {
            backtrace::trace_unsynchronized(|frame| {
                stack.addresses[usize::from(stack.count)] = frame.ip().addr();
                stack.count += 1;
                usize::from(stack.count) < MOST
            });
        }
        stack
    }

    /// Returns a stack of another process, whose names are not looked up here: the innermost 40 of
    /// its return addresses.
    pub fn of(addresses: impl IntoIterator<Item = usize>) -> Self {
        let mut stack = Self { addresses: [0; MOST], count: 0 };
        for (place, address) in stack.addresses.iter_mut().zip(addresses) {
            *place = address;
            stack.count += 1;
        }
        stack
    }

    /// Returns the return addresses, the innermost call first. In this process the first few are
    /// this crate's.
    pub fn addresses(&self) -> &[usize] {
        &self.addresses[..usize::from(self.count)]
    }

    /// Returns a hash of the stack, which other stacks are unlikely to have.
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

/// Crates whose innermost calls are not informative about the program.
const OWN: [&str; 6] =
    ["ondeck_deadlock", "ondeck", "lock_api", "parking_lot", "backtrace", "core"];

/// Returns whether a function belongs to the locks rather than to the program that calls them:
/// `a::b`, or a method, `<a::b as c>::d`. With little debug information inlined functions have no
/// path, so the file decides.
fn is_own(name: &str, file: &Path) -> bool {
    let name = name.trim_start_matches(['<', '&']);
    let is_it = |own: &&str| name.strip_prefix(*own).is_some_and(|rest| rest.starts_with("::"));
    OWN.iter().any(is_it) || name.starts_with("_Unwind") || is_own_file(file)
}

/// Returns whether a file belongs to one of those crates: `lock_api-0.5.0/src/mutex.rs`,
/// `ondeck/src/lib.rs`.
fn is_own_file(file: &Path) -> bool {
    let parts = || file.iter().filter_map(|part| part.to_str());
    parts().zip(parts().skip(1)).any(|(folder, next)| {
        let name = folder.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
        let name = name.strip_suffix('-').unwrap_or(name).replace('-', "_");
        next == "src" && OWN.contains(&name.as_str())
    })
}

/// A function, and the place of the call in it.
struct Call {
    name: String,
    place: Option<(PathBuf, u32)>,
}

/// Returns the calls at an address: several if functions were inlined.
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
    /// Writes a line for each call, without the calls inside the locks and the calls that started
    /// the thread.
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

    /// Returns whether it belongs to the standard library's code that starts a thread.
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
            ("begin", "/home/locks/ondeck-deadlock/src/hooks.rs"),
            ("begin", "src/github/ondeck/src/lib.rs"),
        ] {
            assert!(is_own(name, Path::new(file)), "{name} {file}");
        }
        for (name, file) in [
            ("ondeck_user::main", "/home/ondeck-user/src/main.rs"),
            ("{closure#0}", "/home/locks/ondeck/tests/deadlock.rs"),
            ("main", ""),
        ] {
            assert!(!is_own(name, Path::new(file)), "{name} {file}");
        }
    }
}
