//! Files that a program may have put where they are.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use memmap2::Mmap;

/// Opens a file; `None` if it cannot be opened, or is a pipe or a device, which may have no end.
pub(super) fn open(path: &Path) -> Option<File> {
    // Without the flag the call waits until a pipe has a writer.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// Maps a file; `None` if it cannot be opened.
pub(super) fn map(path: &Path) -> Option<Mmap> {
    let file = open(path)?;
    // SAFETY: the file is an installed object, which is not expected to be truncated while it is
    // mapped.
    unsafe { Mmap::map(&file) }.ok()
}
