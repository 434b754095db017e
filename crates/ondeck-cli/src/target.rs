//! Where one report goes: a file that appears whole or not at all, or a stream.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;

/// Held while a temporary file exists: the thread that ends the process waits for it, for a moment.
pub(crate) static TEMPORARY: Mutex<()> = Mutex::new(());

/// A place that a report can be written to. Nothing is changed there until [`Target::write`].
pub(crate) struct Target {
    place: PathBuf,
    way: Way,
}

enum Way {
    /// Written beside its place and renamed: no reader sees half a report, and a failed run leaves
    /// an older one alone.
    Rename,
    /// Into the file that is there, in a folder that takes no new files.
    InPlace(File),
    /// A pipe or a device, which must not be replaced.
    Stream(File),
}

impl Target {
    /// Finds out where `name` leads and whether a report can be written there. In words if not.
    pub(crate) fn find(name: &Path) -> Result<Self, String> {
        const NOT_A_FILE: &str = "it is a folder; name a file in it";
        const ASK_ANOTHER: &str = "name a file in a folder that exists and that you may write";
        if name.as_os_str().as_bytes().ends_with(b"/") {
            return Err(NOT_A_FILE.to_owned());
        }
        let place = resolve(name).map_err(|error| format!("{error}; {ASK_ANOTHER}"))?;
        let stream = |place: PathBuf| match open_stream(&place) {
            Ok(file) => Ok(Self { place, way: Way::Stream(file) }),
            Err(error) => Err(format!("{error}; name a file that you may write")),
        };
        if of_the_kernel(&place) {
            return stream(place);
        }
        let existing = match fs::metadata(&place) {
            Ok(found) if found.is_dir() => return Err(NOT_A_FILE.to_owned()),
            Ok(found) if !found.is_file() => return stream(place),
            Ok(found) if found.permissions().readonly() => {
                return Err("it is read-only; name another file or make it writable".to_owned());
            }
            Ok(_) => {
                let file = OpenOptions::new().write(true).open(&place);
                Some(file.map_err(|error| format!("{error}; name a file that you may write"))?)
            }
            Err(_) => None,
        };
        // The temporary file goes at once: one that waited for the end of the measurements would
        // be left behind by a run that is killed.
        let held = TEMPORARY.lock();
        let probed = temporary(&place, 0o600).map(drop);
        drop(held);
        let way = match (probed, existing) {
            (Ok(()), _) => Way::Rename,
            (Err(_), Some(file)) => Way::InPlace(file),
            (Err(error), None) => return Err(format!("{error}; {ASK_ANOTHER}")),
        };
        Ok(Self { place, way })
    }

    /// Where it is, with every link followed: two names of the same file have the same place.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    pub(crate) fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self.way {
            Way::Rename => replace(&self.place, bytes),
            Way::InPlace(mut file) => {
                file.set_len(0)?;
                file.write_all(bytes)
            }
            Way::Stream(mut stream) => stream.write_all(bytes),
        }
    }
}

/// Writes a new file and puts it where an older one may be, whose mode and owner it takes over.
fn replace(place: &Path, bytes: &[u8]) -> io::Result<()> {
    /// The user's own mask applies to it, as to any new file.
    const NEW: u32 = 0o666;
    /// Type and other bits that are no permissions.
    const PERMISSIONS: u32 = 0o777;
    let older = fs::metadata(place).ok();
    let mode = older.as_ref().map_or(NEW, |older| older.permissions().mode() & PERMISSIONS);
    let _held = TEMPORARY.lock();
    let mut file = temporary(place, mode)?;
    file.write_all(bytes)?;
    if let Some(older) = older {
        // Only root may give files away; every other user keeps the group if it is one of theirs.
        if fchown(file.as_file(), Some(older.uid()), Some(older.gid())).is_err() {
            _ = fchown(file.as_file(), None, Some(older.gid()));
        }
        // After the owner, and past the mask.
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.persist(place).map(|_| ()).map_err(|error| error.error)
}

/// A new file beside `place`, which removes itself unless it is renamed.
fn temporary(place: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let folder = place.parent().unwrap_or(Path::new("/"));
    // Opened by hand, because tempfile's own errors name the temporary file, which means nothing
    // to the user.
    tempfile::Builder::new().prefix(".ondeck-").make_in(folder, |path| {
        OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
    })
}

/// Opens a stream for adding to it.
fn open_stream(place: &Path) -> io::Result<File> {
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
fn of_the_kernel(place: &Path) -> bool {
    let kernels = ["/dev", "/proc"].iter().any(|folder| place.starts_with(folder));
    kernels && !place.starts_with("/dev/shm")
}

/// Where a name leads that need not exist yet, links followed.
fn resolve(name: &Path) -> io::Result<PathBuf> {
    /// The kernel's own limit.
    const MOST_LINKS: u32 = 40;
    let mut path = name.to_owned();
    for _ in 0..MOST_LINKS {
        // `..` and `/` are folders, whatever they lead to.
        let Some(file) = path.file_name() else { return fs::canonicalize(&path) };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => fs::canonicalize(folder)?,
            _ => fs::canonicalize(".")?,
        };
        let place = folder.join(file);
        // What links of /proc/self/fd lead to may have no name at all.
        if place.starts_with("/proc") {
            return Ok(place);
        }
        match fs::read_link(&place) {
            Ok(link) => path = folder.join(link),
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(place);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

#[cfg(test)]
mod tests {
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
        std::os::unix::fs::symlink("second", &first).expect("a link");
        std::os::unix::fs::symlink(&end, &second).expect("a link");
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
        std::os::unix::fs::symlink("circle", &circle).expect("a link");
        assert!(Target::find(&circle).is_err_and(|error| error.contains("circle")));
        for name in ["..", "/", "/dev", "new/"] {
            assert!(Target::find(Path::new(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn finding_a_place_leaves_nothing_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = Target::find(&folder.path().join("r")).expect("writable");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
        drop(found);
    }

    #[test]
    fn a_file_in_a_closed_folder_is_written_in_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("r");
        fs::write(&name, "older and longer").expect("a file");
        let file = OpenOptions::new().write(true).open(&name).expect("our file");
        // Root may write every folder, so the refusal cannot be had here.
        let target = Target { place: name.clone(), way: Way::InPlace(file) };
        target.write(b"new").expect("written");
        assert_eq!(fs::read_to_string(&name).expect("the file"), "new");
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
