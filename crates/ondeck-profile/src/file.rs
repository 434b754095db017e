//! One recording: mapped, checked, and read field by field.
//!
//! Nothing in it is trusted: a number that leads outside of a table is left out, so that a file with a
//! disk error gives less, never a fault.

use std::fs::File as Descriptor;
use std::mem::offset_of;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use memmap2::Mmap;
use ondeck_record::layout::{
    DEPTH, FRAMES, File, Header, LOCKS, Lock, MAGIC, MAPS, Role, SAMPLES, SIZE, STACKS, VERSION,
    of_sample_key,
};

use crate::Error;

/// A mapped recording. It may change while it is read.
pub struct Recording {
    map: Mmap,
}

/// Reads a number of the file.
pub fn get(number: &AtomicU64) -> u64 {
    number.load(Ordering::Acquire)
}

impl Recording {
    /// Opens and checks a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let file = Descriptor::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        // SAFETY: shared with the recorder, which writes it by atomics as it is read here. A file that
        // another program cuts off meanwhile would be a fault; recordings are not cut off.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let word = |at: usize| map.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        let magic = word(0).map(u64::from_ne_bytes);
        let path = path.to_owned();
        if magic == Some(0) && length == SIZE as u64 {
            return Err(Error::Unfinished { path });
        }
        if magic != Some(MAGIC) {
            let start = &map[..map.len().min(16)];
            let found = format!("\"{}\"", start.escape_ascii());
            return Err(Error::Foreign { path, found });
        }
        let version = map.get(8..12).and_then(|bytes| bytes.try_into().ok());
        match version.map(u32::from_ne_bytes) {
            Some(VERSION) => {}
            Some(found) => return Err(Error::Version { path, found, known: VERSION }),
            None => return Err(Error::Truncated { path, found: length, expected: SIZE as u64 }),
        }
        let size =
            word(offset_of!(File, header) + offset_of!(Header, size)).map(u64::from_ne_bytes);
        if let Some(found) = size
            && found != SIZE as u64
        {
            return Err(Error::Build { path, found, expected: SIZE as u64 });
        }
        if length < SIZE as u64 {
            return Err(Error::Truncated { path, found: length, expected: SIZE as u64 });
        }
        Ok(Self { map })
    }

    /// The whole file.
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins at a page")]
    pub fn file(&self) -> &File {
        // SAFETY: `open` has seen that it is long enough; a mapping begins at a page, which is the
        // alignment; all fields are atomics, for which every value is valid.
        unsafe { &*self.map.as_ptr().cast::<File>() }
    }

    /// The entries of locks that are in use, with their numbers.
    pub fn locks(&self) -> impl Iterator<Item = (usize, &Lock)> {
        let used = (get(&self.file().header.locks_used) as usize).min(LOCKS);
        self.file().locks[..used].iter().enumerate().filter(|(_, lock)| get(&lock.address) != 0)
    }

    /// Samples: lock, role, stack, count, ticks, longest.
    pub fn samples(&self) -> impl Iterator<Item = (usize, Role, u32, [u64; 3])> {
        self.file().samples[..SAMPLES].iter().filter_map(|sample| {
            let key = get(&sample.key);
            let (lock, role, stack) = of_sample_key(key);
            let values = [get(&sample.count), get(&sample.ticks), get(&sample.longest)];
            (key != 0).then_some((lock, role, stack, values))
        })
    }

    /// The return addresses of a stack, innermost first.
    pub fn stack(&self, number: u32) -> Vec<u64> {
        let Some(stack) = self.file().stacks[..STACKS].get(number as usize) else {
            return Vec::new();
        };
        let place = get(&stack.place);
        let (at, count) = ((place >> 8) as usize, (place & 0xff) as usize);
        if count > DEPTH || at > FRAMES - DEPTH {
            return Vec::new();
        }
        self.file().frames[at..at + count].iter().map(get).collect()
    }

    /// The snapshots of the mappings.
    pub fn maps(&self) -> String {
        let used = (get(&self.file().header.maps_used) as usize).min(MAPS);
        text(&self.file().maps[..used])
    }

    /// A text that ends at the first zero.
    pub fn text(bytes: &[AtomicU8]) -> String {
        let text = text(bytes);
        text.split('\0').next().unwrap_or_default().to_owned()
    }

    /// Texts that each end with a zero, up to an empty one.
    pub fn texts(bytes: &[AtomicU8]) -> Vec<String> {
        text(bytes).split('\0').take_while(|text| !text.is_empty()).map(str::to_owned).collect()
    }
}

fn text(bytes: &[AtomicU8]) -> String {
    let bytes: Vec<u8> = bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
