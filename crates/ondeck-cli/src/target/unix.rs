//! Files, streams and links of Unix.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// The user's own mask applies to it, as to any new file.
const NEW: u32 = 0o666;

/// A file that is there only to see whether it can be.
const PROBE: u32 = 0o600;

/// Type and other bits that are no permissions.
const PERMISSIONS: u32 = 0o777;

pub(super) fn ends_as_folder(name: &Path) -> bool {
    name.as_os_str().as_bytes().ends_with(b"/")
}

/// Makes a file that no other user reads.
pub(super) fn create_probe(path: &Path) -> io::Result<File> {
    create_with(path, PROBE)
}

/// Makes a file that is to stand where an older one may be.
pub(super) fn create(path: &Path, older: Option<&Metadata>) -> io::Result<File> {
    create_with(path, older.map_or(NEW, mode))
}

fn create_with(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

fn mode(of: &Metadata) -> u32 {
    of.permissions().mode() & PERMISSIONS
}

/// Gives the file the mode and owner of an older one.
pub(super) fn take_over(file: &File, older: &Metadata) -> io::Result<()> {
    // Only root may give files away; every other user keeps the group if it is one of theirs.
    if fchown(file, Some(older.uid()), Some(older.gid())).is_err() {
        _ = fchown(file, None, Some(older.gid()));
    }
    // After the owner, and past the mask.
    file.set_permissions(fs::Permissions::from_mode(mode(older)))
}

/// Opens a stream for adding to it.
pub(super) fn open_stream(place: &Path) -> io::Result<File> {
    let stream = OpenOptions::new().append(true).open(place)?;
    let found = stream.metadata()?;
    // A second opening of the file that standard output was redirected to would have a position of
    // its own, and each would overwrite the other.
    for own in [io::stdout().as_fd(), io::stderr().as_fd()] {
        let own = File::from(own.try_clone_to_owned()?);
        if own.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino())) {
            return Ok(own);
        }
    }
    Ok(stream)
}

/// Whether the kernel made it and not a user. The shared memory folder is for users.
pub(super) fn of_the_kernel(place: &Path) -> bool {
    let kernels = ["/dev", "/proc"].iter().any(|folder| place.starts_with(folder));
    kernels && !place.starts_with("/dev/shm")
}

/// What the link at that place says; nothing if there is none.
pub(super) fn link(place: &Path) -> io::Result<Option<PathBuf>> {
    // What links of /proc/self/fd lead to may have no name at all.
    if place.starts_with("/proc") {
        return Ok(None);
    }
    match fs::read_link(place) {
        Ok(link) => Ok(Some(link)),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::{Target, resolve};
    use super::*;

    fn written(name: &Path, text: &str) {
        Target::find(name).expect("writable").write(text.as_bytes()).expect("written");
    }

    #[test]
    fn an_older_file_keeps_its_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("r");
        fs::write(&name, "older and longer").expect("a file");
        fs::set_permissions(&name, fs::Permissions::from_mode(0o640)).expect("our file");
        written(&name, "new");
        assert_eq!(fs::read_to_string(&name).expect("the file"), "new");
        assert_eq!(fs::metadata(&name).expect("the file").mode() & 0o777, 0o640);
    }

    #[test]
    fn a_chain_of_links_stays_and_what_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let [first, second, end] = ["first", "second", "end"].map(|name| folder.path().join(name));
        symlink("second", &first).expect("a link");
        symlink(&end, &second).expect("a link");
        written(&first, "one");
        written(&first, "two");
        assert!(first.is_symlink() && second.is_symlink());
        assert_eq!(fs::read_to_string(&end).expect("the file"), "two");
        let place = |name| Target::find(name).expect("writable").place().to_owned();
        assert_eq!(place(&first), place(&end));
    }

    #[test]
    fn links_in_a_circle_and_folders_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let circle = folder.path().join("circle");
        symlink("circle", &circle).expect("a link");
        assert!(Target::find(&circle).is_err_and(|error| error.contains("circle")));
        for name in ["..", "/", "/dev", "new/"] {
            assert!(Target::find(Path::new(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn streams_are_known_by_their_place() {
        for (name, stream) in [
            ("/dev/null", true),
            ("/dev/stdout", true),
            ("/proc/self/fd/1", true),
            ("/dev/shm/r", false),
        ] {
            let place = resolve(Path::new(name)).expect("it leads somewhere");
            assert_eq!(of_the_kernel(&place), stream, "{name} leads to {}", place.display());
        }
    }
}
