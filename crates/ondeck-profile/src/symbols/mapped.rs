//! Files in memory.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

/// Maps a file; `None` if it cannot be opened.
pub(super) fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: an object that is installed; that it is cut off meanwhile is not expected of one.
    unsafe { Mmap::map(&file) }.ok()
}
