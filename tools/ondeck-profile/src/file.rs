//! One recording: copied, checked, and read field by field.
//!
//! Nothing in it is trusted. An index outside its table is ignored, so a file with a disk error
//! yields less data and never crashes the reader.

use std::fs::{File as Descriptor, OpenOptions};
use std::io::{self, Read as _};
use std::mem::offset_of;
use std::ops::{Deref, Range};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::{ptr, slice};

use ondeck_record::layout::{
    DEPTH, FRAMES, File, Header, LOCKS, Lock, MAGIC, MAPS, Role, SAMPLES, SIZE, STACKS, Sample,
    TRACKED_SIZE, TRACKS, Track, Tracked, VERSION, of_sample_key,
};

use crate::Error;

/// A copy of a recording. If a process records during the copy, its fields are from different
/// moments.
///
/// A recording is mostly a hole, and a program may start thousands of processes. So neither the
/// memory of a copy nor the time for it is more than what was recorded: no page of a hole is read
/// or written.
pub struct Recording {
    file: Zeros,
    /// The parts of the file that are no holes, ascending.
    parts: Vec<Range<usize>>,
}

/// Reads a number of the file.
pub fn get(number: &AtomicU64) -> u64 {
    number.load(Ordering::Acquire)
}

impl Recording {
    /// Opens, checks and copies a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        // Root reads folders in which other users may create files: opening a pipe could block
        // forever, and a link could lead anywhere.
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
        copy(&file, size as usize).map(|(file, parts)| Self { file, parts }).map_err(io)
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
        let start = offset_of!(File, samples);
        let numbers = self.parts.iter().flat_map(move |part| {
            let at = |byte: usize| byte.saturating_sub(start) / size_of::<Sample>();
            at(part.start)..at(part.end).min(SAMPLES)
        });
        numbers.filter_map(|number| {
            let sample = &self.file().samples[number];
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

/// Memory for a copy. Not of the allocator, which writes all zeros itself for this alignment.
struct Zeros(NonNull<Tracked>);

// SAFETY: the memory belongs to this object alone, and all its fields are atomics.
unsafe impl Send for Zeros {}
// SAFETY: as above.
unsafe impl Sync for Zeros {}

impl Zeros {
    fn map() -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a mapping at an address that the kernel chooses replaces no existing one.
        let start = unsafe { libc::mmap(ptr::null_mut(), TRACKED_SIZE, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // A few bytes would else take a large page each.
        // SAFETY: the advice changes no contents.
        unsafe { libc::madvise(start, TRACKED_SIZE, libc::MADV_NOHUGEPAGE) };
        NonNull::new(start.cast()).map(Self).ok_or_else(|| io::Error::other("no memory"))
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the bytes of the mapping, to which nothing else refers while the slice is used.
        // Every value is valid for an atomic.
        unsafe { slice::from_raw_parts_mut(self.0.cast().as_ptr(), TRACKED_SIZE) }
    }
}

impl Deref for Zeros {
    type Target = Tracked;

    fn deref(&self) -> &Tracked {
        // SAFETY: the mapping is aligned to a page and as long; all fields are atomics, for which
        // zeros are valid.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Zeros {
    fn drop(&mut self) {
        // SAFETY: the mapping of `map`, to which nothing refers any more.
        unsafe { libc::munmap(self.0.cast().as_ptr(), TRACKED_SIZE) };
    }
}

/// Copies the data among the first `size` bytes, without the holes. The file is not mapped: reading
/// a hole of a mapping takes memory, and if the file is truncated at the same time, reading the
/// mapping kills this process.
fn copy(from: &Descriptor, size: usize) -> io::Result<(Zeros, Vec<Range<usize>>)> {
    let mut file = Zeros::map()?;
    let mut parts = Vec::new();
    let bytes = file.bytes();
    let mut at = 0;
    while let Some(data) = next(from, at, libc::SEEK_DATA) {
        let end = next(from, data, libc::SEEK_HOLE).unwrap_or(size).min(size);
        if data >= end {
            break;
        }
        from.read_exact_at(&mut bytes[data..end], data as u64)?;
        parts.push(data..end);
        at = end;
    }
    Ok((file, parts))
}

/// Returns the start of the next data or hole, at `at` or after it; `None` if there is no more
/// data. A file system without holes reports data everywhere.
fn next(file: &Descriptor, at: usize, what: libc::c_int) -> Option<usize> {
    // SAFETY: lseek(2) accesses no memory.
    let found = unsafe { libc::lseek(file.as_raw_fd(), at.cast_signed() as libc::off_t, what) };
    usize::try_from(found).ok()
}

fn text(bytes: &[AtomicU8]) -> String {
    let bytes: Vec<u8> = bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
