//! What is mapped where: `/proc/self/maps`, copied when a stack has an address that no snapshot has.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::clock;
use crate::layout::{File, MAPS, RANGES};
use crate::sys::Descriptor;

/// At most one snapshot in so many times of what one costs, some tens of microseconds: some addresses, as
/// of code that is made while the program runs, come and go.
const SHARE: u64 = 64;

/// Set while a thread takes a snapshot; another thread does without.
static BUSY: AtomicBool = AtomicBool::new(false);
/// When the last one ended, and what it cost, in ticks.
static LAST: AtomicU64 = AtomicU64::new(0);
static COST: AtomicU64 = AtomicU64::new(0);

/// Whether the last snapshot has this address.
pub fn has(file: &File, address: u64) -> bool {
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
    low < used && bound(low, 0) <= address
}

/// Takes a snapshot now if an address is in no range, and the last one is not too young.
pub fn see(file: &File, address: u64) {
    if has(file, address) {
        return;
    }
    let passed = clock::ticks().saturating_sub(LAST.load(Ordering::Relaxed));
    if passed / SHARE >= COST.load(Ordering::Relaxed) {
        refresh(file);
    }
}

/// Takes a snapshot: all ranges anew, and the lines that name something behind those of before.
pub fn refresh(file: &File) {
    if BUSY.swap(true, Ordering::Acquire) {
        return;
    }
    let start = clock::ticks();
    if let Ok(maps) = Descriptor::open(c"/proc/self/maps", libc::O_RDONLY) {
        Snapshot { file, ranges: 0, text: file.header.maps_used.load(Ordering::Relaxed) as usize }
            .take(&maps);
    }
    let end = clock::ticks();
    COST.store(end.wrapping_sub(start), Ordering::Relaxed);
    LAST.store(end, Ordering::Relaxed);
    BUSY.store(false, Ordering::Release);
}

struct Snapshot<'a> {
    file: &'a File,
    ranges: usize,
    text: usize,
}

impl Snapshot<'_> {
    fn take(mut self, maps: &Descriptor) {
        // A line is an address range, flags and a path of at most 4,096 bytes.
        let mut buffer = [0_u8; 8192];
        let mut filled = 0;
        loop {
            let count = maps.read(&mut buffer[filled..]);
            filled += count;
            let mut start = 0;
            while let Some(length) = buffer[start..filled].iter().position(|byte| *byte == b'\n') {
                self.line(&buffer[start..=start + length]);
                start += length + 1;
            }
            if count == 0 {
                break;
            }
            buffer.copy_within(start..filled, 0);
            filled -= start;
        }
        self.file.header.snapshots.fetch_add(1, Ordering::Relaxed);
        // Release: what they count.
        self.file.header.ranges_used.store(self.ranges as u64, Ordering::Release);
        self.file.header.maps_used.store(self.text as u64, Ordering::Release);
    }

    fn line(&mut self, line: &[u8]) {
        let (from, rest) = hexadecimal(line);
        let (to, _) = hexadecimal(rest.get(1..).unwrap_or_default());
        if self.ranges < RANGES {
            self.file.ranges[self.ranges][0].store(from, Ordering::Relaxed);
            self.file.ranges[self.ranges][1].store(to, Ordering::Relaxed);
            self.ranges += 1;
        }
        let names_something = line.iter().any(|byte| matches!(byte, b'/' | b'['));
        if !names_something {
            return;
        }
        if self.text + line.len() > MAPS {
            self.file.header.dropped_maps.fetch_add(1, Ordering::Relaxed);
            return;
        }
        for (to, from) in self.file.maps[self.text..].iter().zip(line) {
            to.store(*from, Ordering::Relaxed);
        }
        self.text += line.len();
    }
}

/// A number in hexadecimal digits, and what stands behind it.
fn hexadecimal(text: &[u8]) -> (u64, &[u8]) {
    let mut number = 0_u64;
    for (index, digit) in text.iter().enumerate() {
        let Some(value) = (*digit as char).to_digit(16) else { return (number, &text[index..]) };
        number = number << 4 | u64::from(value);
    }
    (number, &[])
}
