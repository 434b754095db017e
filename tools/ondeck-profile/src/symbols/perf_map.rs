//! The names of functions that were compiled at run time: `/tmp/perf-PID.map`, which perf(1) reads.

use std::io::Read;
use std::path::Path;

use super::mapped;

/// What is read of a map, at most.
const MOST: u64 = 1 << 28;

/// Ranges of addresses with their names, sorted.
#[derive(Debug, Default)]
pub struct PerfMap {
    functions: Vec<(u64, u64, String)>,
}

impl PerfMap {
    /// Reads the map of a process. Its number inside of a container differs from the one outside.
    pub fn of(pid: u32) -> Self {
        let process = format!("/proc/{pid}");
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
        let inner = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpid:"))
            .and_then(|numbers| numbers.split_ascii_whitespace().last()?.parse().ok())
            .unwrap_or(pid);
        let places =
            [format!("{process}/root/tmp/perf-{inner}.map"), format!("/tmp/perf-{pid}.map")];
        let map = places.iter().find_map(|place| Self::read(Path::new(place)));
        map.unwrap_or_default()
    }

    /// Any user may have put something else there, of which this waits for nothing.
    fn read(place: &Path) -> Option<Self> {
        let mut text = Vec::new();
        mapped::open(place)?.take(MOST).read_to_end(&mut text).ok()?;
        Some(Self::parse(&String::from_utf8_lossy(&text)))
    }

    /// Parses lines of the start, the size and the name. A later line replaces earlier ones of its
    /// range: code is moved, and its memory used again.
    fn parse(text: &str) -> Self {
        let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
        let mut functions: Vec<(u64, u64, String)> = text
            .lines()
            .filter_map(|line| {
                let mut fields = line.splitn(3, ' ');
                let (start, size) = (number(fields.next()?)?, number(fields.next()?)?);
                Some((start, start.checked_add(size)?, fields.next()?.to_owned()))
            })
            .collect();
        functions.reverse();
        functions.sort_by_key(|function| function.0);
        functions.dedup_by_key(|function| function.0);
        Self { functions }
    }

    /// Returns the function at an address.
    pub fn function(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|function| function.0 <= address);
        let (_, end, name) = self.functions.get(after.checked_sub(1)?)?;
        (address < *end).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn a_pipe_or_a_device_in_its_place_is_no_map() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("perf-1.map");
        let path = CString::new(pipe.as_os_str().as_encoded_bytes()).expect("a path");
        // SAFETY: it is a string.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        for place in [&*pipe, Path::new("/dev/zero")] {
            assert!(PerfMap::read(place).is_none() && mapped::map(place).is_none());
        }
        std::fs::remove_file(&pipe).expect("a pipe");
        std::fs::write(&pipe, "10 8 main\n").expect("a file");
        assert_eq!(PerfMap::read(&pipe).expect("a map").function(0x17), Some("main"));
    }

    #[test]
    fn the_last_function_at_an_address_has_its_name() {
        let map = PerfMap::parse("7f00 10 old\nbad\n7f10 8 Main.run (x)\n7f00 10 new\n");
        let names = [0x7eff, 0x7f00, 0x7f0f, 0x7f10, 0x7f18].map(|at| map.function(at));
        assert_eq!(names, [None, Some("new"), Some("new"), Some("Main.run (x)"), None]);
    }
}
