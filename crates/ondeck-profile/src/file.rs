//! One recording: copied, checked, and read field by field.
//!
//! Nothing in it is trusted. An index outside its table is ignored, so a file with a disk error yields less data and
//! never crashes the reader.

use std::fs::{File as Descriptor, OpenOptions};
use std::io::{self, Read as _};
use std::mem::offset_of;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::{ptr, slice};

use ondeck_record::layout::{
    DEPTH, FRAMES, File, Header, LOCKS, Lock, MAGIC, MAPS, Role, SAMPLES, SIZE, STACKS,
    TRACKED_SIZE, TRACKS, Track, Tracked, VERSION, of_sample_key,
};

use crate::Error;

/// A copy of a recording. If a process records during the copy, its fields are from different moments.
pub struct Recording {
    file: Box<Tracked>,
}

/// Reads a number of the file.
pub fn get(number: &AtomicU64) -> u64 {
    number.load(Ordering::Acquire)
}

impl Recording {
    /// Opens, checks and copies a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        // Root reads folders in which other users may create files: opening a pipe could block forever, and a link
        // could lead anywhere.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
            .map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let length = metadata.len();
        let mut head = Vec::new();
        if metadata.is_file() {
            (&file).take(size_of::<Header>() as u64).read_to_end(&mut head).map_err(io)?;
        }
        let word = |at: usize| head.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        let magic = word(0).map(u64::from_ne_bytes);
        let unusable = |why: String| Err(Error::Unusable { path: path.to_owned(), why });
        let truncated = |size: u64| {
            unusable(format!(
                "is truncated: {length} bytes of {size}; copy it whole (it is mostly a hole: `cp --sparse=always`)"
            ))
        };
        let sizes = [SIZE as u64, TRACKED_SIZE as u64];
        if magic == Some(0) && sizes.contains(&length) {
            return unusable(
                "was not begun: its process ended, or failed, while it made the file".to_owned(),
            );
        }
        if magic != Some(MAGIC) {
            let start = head[..head.len().min(16)].escape_ascii();
            return unusable(format!("is not a recording of ondeck: it begins with \"{start}\""));
        }
        let version = head.get(8..12).and_then(|bytes| bytes.try_into().ok());
        match version.map(u32::from_ne_bytes) {
            Some(VERSION) => {}
            Some(found) => {
                return unusable(format!(
                    "has version {found} of the format, and this program reads version {VERSION}: use the \
                     `ondeck` whose library recorded it"
                ));
            }
            None => return truncated(SIZE as u64),
        }
        let size = word(offset_of!(File, header) + offset_of!(Header, size));
        let size = size.map_or(SIZE as u64, u64::from_ne_bytes);
        if !sizes.contains(&size) {
            return unusable(format!(
                "was recorded by a library of another build, whose recordings have {size} bytes instead of \
                 {SIZE}: use the `ondeck` and the library of one build"
            ));
        }
        if length < size {
            return truncated(size);
        }
        copy(&file, size as usize).map(|file| Self { file }).map_err(io)
    }

    /// Returns the whole file.
    pub fn file(&self) -> &File {
        &self.file.file
    }

    /// Returns the operations of threads; zeros if the file has none.
    pub fn tracks(&self) -> &[Track; TRACKS] {
        &self.file.tracks
    }

    /// Returns the used entries of locks, with their numbers.
    pub fn locks(&self) -> impl Iterator<Item = (usize, &Lock)> {
        let used = (get(&self.file().header.locks_used) as usize).min(LOCKS);
        self.file().locks[..used].iter().enumerate().filter(|(_, lock)| get(&lock.address) != 0)
    }

    /// Returns the samples: lock, role, stack, count, ticks, longest.
    pub fn samples(&self) -> impl Iterator<Item = (usize, Role, u32, [u64; 3])> {
        self.file().samples[..SAMPLES].iter().filter_map(|sample| {
            let key = get(&sample.key);
            let (lock, role, stack) = of_sample_key(key);
            let values = [get(&sample.count), get(&sample.ticks), get(&sample.longest)];
            (key != 0).then_some((lock, role, stack, values))
        })
    }

    /// Returns the return addresses of a stack, innermost first.
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

    /// Returns the snapshots of the mappings.
    pub fn maps(&self) -> String {
        let used = (get(&self.file().header.maps_used) as usize).min(MAPS);
        text(&self.file().maps[..used])
    }

    /// Returns the text up to the first zero.
    pub fn text(bytes: &[AtomicU8]) -> String {
        let text = text(bytes);
        text.split('\0').next().unwrap_or_default().to_owned()
    }

    /// Returns zero-terminated texts, up to an empty one.
    pub fn texts(bytes: &[AtomicU8]) -> Vec<String> {
        text(bytes).split('\0').take_while(|text| !text.is_empty()).map(str::to_owned).collect()
    }
}

/// Copies the data among the first `size` bytes, without the holes. The file is not mapped: reading a hole of a mapping
/// takes memory, and if the file is truncated at the same time, reading the mapping kills this process.
fn copy(from: &Descriptor, size: usize) -> io::Result<Box<Tracked>> {
    // SAFETY: all fields are atomics, for which zeros are valid.
    let mut file = unsafe { Box::<Tracked>::new_zeroed().assume_init() };
    // SAFETY: the bytes of the object, to which nothing else refers while the slice is used. Every value is valid for
    // an atomic.
    let bytes =
        unsafe { slice::from_raw_parts_mut(ptr::from_mut(&mut *file).cast::<u8>(), TRACKED_SIZE) };
    let mut at = 0;
    while let Some(data) = next(from, at, libc::SEEK_DATA) {
        let end = next(from, data, libc::SEEK_HOLE).unwrap_or(size).min(size);
        if data >= end {
            break;
        }
        from.read_exact_at(&mut bytes[data..end], data as u64)?;
        at = end;
    }
    Ok(file)
}

/// Returns the start of the next data or hole, at `at` or after it; `None` if there is no more data. A file system
/// without holes reports data everywhere.
fn next(file: &Descriptor, at: usize, what: libc::c_int) -> Option<usize> {
    // SAFETY: lseek(2) accesses no memory.
    let found = unsafe { libc::lseek(file.as_raw_fd(), at.cast_signed() as libc::off_t, what) };
    usize::try_from(found).ok()
}

fn text(bytes: &[AtomicU8]) -> String {
    let bytes: Vec<u8> = bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
