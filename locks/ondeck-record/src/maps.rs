//! The mappings of the process: `/proc/PID/maps`, copied when a stack has an address that no
//! snapshot has.

use core::mem;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::layout::{BUILD_ID, File, RANGES};
use crate::sys::{self, Descriptor, Memory};
use crate::{build_id, clock, room};

/// Snapshots take at most 1/`SHARE` of the time, because some addresses, such as generated code,
/// come and go. One snapshot takes some tens of microseconds.
const SHARE: u64 = 64;

/// When the last one ended, and its cost, in ticks.
static LAST: AtomicU64 = AtomicU64::new(0);
static COST: AtomicU64 = AtomicU64::new(0);

/// Returns whether the last snapshot has this address.
pub fn has(file: &File, address: u64) -> bool {
    range_of(file, address).is_some()
}

/// Returns the range of the last snapshot that has this address.
pub fn range_of(file: &File, address: u64) -> Option<(u64, u64)> {
    let used = (file.header.ranges_used.load(Ordering::Acquire) as usize).min(RANGES);
    let bound = |index: usize, end: usize| file.ranges[index][end].load(Ordering::Relaxed);
    let (mut low, mut high) = (0, used);
    while low < high {
        let middle = usize::midpoint(low, high);
        if bound(middle, 1) <= address {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low < used && bound(low, 0) <= address).then(|| (bound(low, 0), bound(low, 1)))
}

/// Takes a snapshot now if an address is in no range and the last snapshot is not too recent.
pub fn see(file: &File, address: u64) {
    if has(file, address) {
        return;
    }
    let passed = clock::ticks().saturating_sub(LAST.load(Ordering::Relaxed));
    if passed / SHARE >= COST.load(Ordering::Relaxed) {
        refresh(file);
    }
}

/// Takes a snapshot: replaces all ranges, and appends the lines that name something to the earlier
/// ones.
pub fn refresh(file: &File) {
    // Only one thread at a time takes a snapshot; others skip it. The mark is in the file, because
    // the child of a fork has a copy of its parent's memory, in which a thread may have been in
    // here.
    if file.header.copying_maps.swap(1, Ordering::Acquire) != 0 {
        return;
    }
    let start = clock::ticks();
    let mut path = sys::of_process(file.header.pid.load(Ordering::Relaxed), b"maps");
    if let Some(path) = path.as_c_str()
        && let Ok(maps) = Descriptor::open(path, libc::O_RDONLY)
    {
        let text = file.header.maps_used.load(Ordering::Relaxed) as usize;
        let memory = Memory::open(file.header.pid.load(Ordering::Relaxed));
        Snapshot { file, memory, ranges: 0, text, line: Line::default() }.take(&maps);
    }
    let end = clock::ticks();
    COST.store(end.wrapping_sub(start), Ordering::Relaxed);
    LAST.store(end, Ordering::Relaxed);
    file.header.copying_maps.store(0, Ordering::Release);
}

/// The state of the line that is being read.
#[derive(Default)]
struct Line {
    length: usize,
    /// The beginning and the end of the range, and to which of the two the next digit belongs.
    range: [u64; 2],
    /// Where the range begins in its file.
    offset: u64,
    /// Which field the next byte belongs to: the two ends of the range, the permissions, the
    /// offset, the rest.
    field: usize,
    /// The byte with which a name begins: that of a file by `/`, of something else by `[`; 0 if
    /// there is none.
    name: u8,
    is_private: bool,
    /// There was no room for it.
    is_dropped: bool,
}

struct Snapshot<'a> {
    file: &'a File,
    /// That of the process.
    memory: Option<Memory>,
    ranges: usize,
    /// Bytes of whole lines.
    text: usize,
    line: Line,
}

impl Snapshot<'_> {
    fn take(mut self, maps: &Descriptor) {
        // Small, because stacks of threads may be small: lines of some thousand bytes are written
        // directly to their destination.
        let mut buffer = [0_u8; 512];
        loop {
            let count = maps.read(&mut buffer);
            for byte in &buffer[..count] {
                self.read(*byte);
            }
            if count == 0 {
                break;
            }
        }
        self.file.header.snapshots.fetch_add(1, Ordering::Relaxed);
        // Release: publishes the entries that they count.
        self.file.header.ranges_used.store(self.ranges as u64, Ordering::Release);
        self.file.header.maps_used.store(self.text as u64, Ordering::Release);
    }

    fn read(&mut self, byte: u8) {
        self.write(byte);
        let line = &mut self.line;
        match (line.field, (byte as char).to_digit(16)) {
            (field @ (0 | 1), Some(digit)) => {
                line.range[field] = line.range[field] << 4 | u64::from(digit);
            }
            (3, Some(digit)) => line.offset = line.offset << 4 | u64::from(digit),
            (0, None) => line.field = 1,
            // Reading a shared mapping of a device may reach the device.
            (2, None) if byte == b'p' => line.is_private = true,
            _ if byte == b' ' => line.field += 1,
            _ => {}
        }
        if line.name == 0 && matches!(byte, b'/' | b'[') {
            line.name = byte;
        }
        if byte == b'\n' {
            self.end_line();
        }
    }

    fn write(&mut self, byte: u8) {
        let at = self.text + self.line.length;
        self.line.length += 1;
        match self.file.maps.get(at).and_then(|to| room::reach(self.file, to)) {
            Some(to) => to.store(byte, Ordering::Relaxed),
            None => self.line.is_dropped = true,
        }
    }

    fn end_line(&mut self) {
        let line = mem::take(&mut self.line);
        let range = self.file.ranges.get(self.ranges);
        if let Some(range) = range.and_then(|range| room::reach(self.file, range)) {
            range[0].store(line.range[0], Ordering::Relaxed);
            range[1].store(line.range[1], Ordering::Relaxed);
            self.ranges += 1;
        }
        // A line that is not kept is overwritten by the next one.
        if line.name != 0 && line.is_dropped {
            self.file.header.dropped_maps.fetch_add(1, Ordering::Relaxed);
        } else if line.name != 0 {
            self.text += line.length;
            if line.name == b'/' && line.is_private && line.offset == 0 {
                self.identify(line.range[0]);
            }
        }
    }

    /// Writes a line with the build-id of the file that the last line names.
    fn identify(&mut self, start: u64) {
        let Some(memory) = &self.memory else { return };
        let Some(id) = build_id(start, |address, to| memory.read(address, to)) else { return };
        for byte in BUILD_ID.iter().copied().chain(id.digits()).chain([b'\n']) {
            self.write(byte);
        }
        let line = mem::take(&mut self.line);
        if !line.is_dropped {
            self.text += line.length;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    /// In a process the file is a mapping; for a snapshot ordinary memory is enough.
    fn file() -> Box<File> {
        // SAFETY: all fields are atomics, for which zeros are a value.
        unsafe { Box::<File>::new_zeroed().assume_init() }
    }

    #[test]
    fn a_snapshot_has_the_stack_and_this_program() {
        let file = file();
        refresh(&file);
        let here = 0_u64;
        assert!(
            has(&file, (&raw const here).addr() as u64) && has(&file, refresh as *const () as u64)
        );
        assert!(!has(&file, 1));
        let used = file.header.maps_used.load(Ordering::Relaxed) as usize;
        let bytes: Vec<u8> = file.maps[..used].iter().map(|b| b.load(Ordering::Relaxed)).collect();
        let text = String::from_utf8(bytes).expect("paths of this machine");
        assert!(text.contains("[stack]\n") && text.ends_with('\n'), "{text}");
        let libc = text.lines().find(|line| line.ends_with("/libc.so.6")).expect("the C library");
        let after = &text[text.find(libc).unwrap() + libc.len() + 1..];
        assert!(
            after.starts_with("build-id ") && after.lines().next().unwrap().len() > 24,
            "{text}"
        );
        let is_kept = |line: &str| line.contains(['/', '[']) || line.starts_with("build-id ");
        assert!(text.lines().all(is_kept), "{text}");
    }

    #[test]
    fn what_one_file_is_busy_with_does_not_keep_another_from_its_snapshot() {
        // A fork while a thread of the parent takes a snapshot: the mark is in the parent's file
        // only.
        let (parents, childs) = (file(), file());
        parents.header.copying_maps.store(1, Ordering::Relaxed);
        refresh(&parents);
        refresh(&childs);
        let taken = |file: &File| file.header.snapshots.load(Ordering::Relaxed);
        assert_eq!((taken(&parents), taken(&childs)), (0, 1));
        refresh(&childs);
        assert_eq!(taken(&childs), 2, "the first one has ended");
    }
}
