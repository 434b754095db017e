//! Files, devices and links of Windows. A new file has the rights that its folder gives.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Names that are devices in every folder.
const DEVICES: [&str; 2] = ["NUL", "CON"];

pub(super) fn ends_as_folder(name: &Path) -> bool {
    name.as_os_str().as_encoded_bytes().ends_with(b"/")
        || name.as_os_str().as_encoded_bytes().ends_with(b"\\")
}

/// Makes a file.
pub(super) fn create_probe(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Makes a file that is to stand where an older one may be.
pub(super) fn create(path: &Path, _older: Option<&Metadata>) -> io::Result<File> {
    create_probe(path)
}

/// What an older file has that a new one has not: nothing that is kept.
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub(super) fn take_over(_file: &File, _older: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Opens a device.
pub(super) fn open_stream(place: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(place.file_name().map_or(place, Path::new))
}

/// Whether it is a device.
pub(super) fn of_the_kernel(place: &Path) -> bool {
    let name = place.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| DEVICES.iter().any(|device| device.eq_ignore_ascii_case(name)))
}

/// What the link at that place says; nothing if there is none.
pub(super) fn link(place: &Path) -> io::Result<Option<PathBuf>> {
    let is_link = fs::symlink_metadata(place).is_ok_and(|found| found.is_symlink());
    if is_link { fs::read_link(place).map(Some) } else { Ok(None) }
}
