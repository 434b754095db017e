//! Files in memory.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

/// Maps a file; `None` if it cannot be opened.
pub(super) fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: the file is an installed object, which is not expected to be truncated while it is
    // mapped.
    unsafe { Mmap::map(&file) }.ok()
}
