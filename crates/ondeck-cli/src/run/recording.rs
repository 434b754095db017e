//! The folder that a program's recorders write into, one file for each process image.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;
use tempfile::TempDir;

/// A folder in memory: recording writes to mapped pages, which a disk's file system would write back all
/// the while.
const IN_MEMORY: &str = "/dev/shm";

/// Recordings are sparse, and take a tenth of this or less.
const ROOM_IN_MEMORY: u64 = 256 << 20;

/// Others may make files, and see none of them.
const DROP_BOX: u32 = 0o1733;

/// A new folder, which goes when the value does.
pub(crate) fn folder() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("ondeck-recording-").tempdir_in(place())?;
    if geteuid().is_root() {
        // A server that root starts may become another user, and its children make files then.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(DROP_BOX))?;
    }
    Ok(folder)
}

/// Where temporary files of this kind go: where the user says, in memory, or where all others go.
pub(crate) fn place() -> PathBuf {
    let named = std::env::var_os("TMPDIR").is_some_and(|named| !named.is_empty());
    let roomy = |place: &Path| {
        statvfs(place)
            .is_ok_and(|found| found.blocks_available() * found.fragment_size() >= ROOM_IN_MEMORY)
    };
    let in_memory = Path::new(IN_MEMORY);
    if !named && roomy(in_memory) { in_memory.to_owned() } else { std::env::temp_dir() }
}

/// Whether any process has begun to record.
pub(crate) fn has_begun(folder: &Path) -> bool {
    let extension = Some(OsStr::new(ondeck_record::layout::EXTENSION));
    fs::read_dir(folder).is_ok_and(|mut files| {
        files.any(|file| file.is_ok_and(|file| file.path().extension() == extension))
    })
}
