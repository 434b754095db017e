//! The destination of a report: a file that appears complete or not at all, or a stream.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;

/// Held while a temporary file exists: the thread that ends the process briefly waits for it.
pub(crate) static TEMPORARY: Mutex<()> = Mutex::new(());

/// A place to which a report can be written. Nothing there changes before [`Target::write`].
pub(crate) struct Target {
    place: PathBuf,
    way: Way,
}

enum Way {
    /// Written to a temporary file and renamed: no reader sees half a report, and a failed run
    /// leaves an older one alone.
    Rename,
    /// Written into the existing file, in a folder that takes no new files.
    InPlace(File),
    /// A pipe or a device, which must not be replaced.
    Stream(File),
}

impl Target {
    /// Resolves `name` and checks that a report can be written there. Otherwise returns an error
    /// message.
    pub(crate) fn find(name: &Path) -> Result<Self, String> {
        const NOT_A_FILE: &str = "it is a folder; name a file in it";
        const ASK_ANOTHER: &str = "name a file in a folder that exists and that you may write";
        if name.as_os_str().as_encoded_bytes().ends_with(b"/") || name.is_dir() {
            return Err(NOT_A_FILE.to_owned());
        }
        if let Some(stream) = stream(name) {
            let stream =
                stream.map_err(|error| format!("{error}; name a file that you may write"))?;
            return Ok(Self { place: name.to_owned(), way: Way::Stream(stream) });
        }
        let place = resolve(name).map_err(|error| format!("{error}; {ASK_ANOTHER}"))?;
        let existing = match fs::metadata(&place) {
            Ok(found) if found.permissions().readonly() => {
                return Err("it is read-only; name another file or make it writable".to_owned());
            }
            Ok(_) => {
                let file = OpenOptions::new().write(true).open(&place);
                Some(file.map_err(|error| format!("{error}; name a file that you may write"))?)
            }
            Err(_) => None,
        };
        // The temporary file is removed at once: a run that is killed would leave one that waited
        // for the end of the measurements.
        let held = TEMPORARY.lock();
        let probed = temporary(&place).map(drop);
        drop(held);
        let way = match (probed, existing) {
            (Ok(()), _) => Way::Rename,
            (Err(_), Some(file)) => Way::InPlace(file),
            (Err(error), None) => return Err(format!("{error}; {ASK_ANOTHER}")),
        };
        Ok(Self { place, way })
    }

    /// Its path with every link followed: two names of the same file have the same path.
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

/// Writes a new file and moves it to the place of an older one, whose mode it takes over.
fn replace(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let older = fs::metadata(place).ok();
    let _held = TEMPORARY.lock();
    let mut file = temporary(place)?;
    file.write_all(bytes)?;
    if let Some(older) = older {
        file.as_file().set_permissions(older.permissions())?;
    }
    file.persist(place).map(|_| ()).map_err(|error| error.error)
}

/// A new file beside `place`, which is removed unless it is renamed.
fn temporary(place: &Path) -> io::Result<NamedTempFile> {
    let folder = place.parent().unwrap_or(Path::new("/"));
    // Opened by hand for two reasons: the mode of an ordinary new file, and errors without the name
    // of the temporary file, which means nothing to the user.
    tempfile::Builder::new()
        .prefix(".ondeck-")
        .make_in(folder, |path| OpenOptions::new().write(true).create_new(true).open(path))
}

/// Opens a kernel object for appending: a device, a pipe, a stream of this process. `None` if the
/// name is an ordinary file, or does not exist.
fn stream(name: &Path) -> Option<io::Result<File>> {
    let streams = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    let is_own = streams.iter().any(|stream| name.starts_with(stream));
    let is_device = fs::metadata(name).is_ok_and(|found| !found.is_file());
    if !(is_own || is_device) {
        return None;
    }
    // If standard output was redirected to the file, a second opening would have a separate
    // position, and each would overwrite the other.
    for (stream, names) in [
        (libc::STDOUT_FILENO, ["/dev/stdout", "/proc/self/fd/1"]),
        (libc::STDERR_FILENO, ["/dev/stderr", "/proc/self/fd/2"]),
    ] {
        if names.iter().any(|own| name == Path::new(own)) {
            // SAFETY: both streams are open until the process ends.
            let own = unsafe { std::os::fd::BorrowedFd::borrow_raw(stream) };
            return Some(own.try_clone_to_owned().map(File::from));
        }
    }
    Some(OpenOptions::new().append(true).open(name))
}

/// Resolves a name that need not exist yet, following links.
fn resolve(name: &Path) -> io::Result<PathBuf> {
    /// The kernel's own limit.
    const MOST_LINKS: u32 = 40;
    let mut path = name.to_owned();
    for _ in 0..MOST_LINKS {
        let Some(file) = path.file_name() else { return fs::canonicalize(&path) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let place = fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(file);
        if !place.is_symlink() {
            return Ok(place);
        }
        let link = fs::read_link(&place)?;
        path = place.with_file_name("").join(link);
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
        // Root may write to every folder, so this test cannot provoke the refusal.
        let target = Target { place: name.clone(), way: Way::InPlace(file) };
        target.write(b"new").expect("written");
        assert_eq!(fs::read_to_string(&name).expect("the file"), "new");
    }

    #[test]
    fn an_older_file_keeps_its_mode_and_a_chain_of_links_stays() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let [first, second, end] = ["first", "second", "end"].map(|name| folder.path().join(name));
        fs::write(&end, "older and longer").expect("a file");
        fs::set_permissions(&end, fs::Permissions::from_mode(0o640)).expect("our file");
        symlink("second", &first).expect("a link");
        symlink(&end, &second).expect("a link");
        written(&first, "new");
        assert!(first.is_symlink() && second.is_symlink());
        assert_eq!(fs::read_to_string(&end).expect("the file"), "new");
        assert_eq!(fs::metadata(&end).expect("the file").permissions().mode() & 0o777, 0o640);
        let place = |name| Target::find(name).expect("writable").place().to_owned();
        assert_eq!(place(&first), place(&end));
    }

    #[test]
    fn links_in_a_circle_and_folders_are_refused_and_streams_are_none_of_both() {
        let folder = tempfile::tempdir().expect("a folder");
        let circle = folder.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).expect("a link");
        assert!(Target::find(&circle).is_err());
        for name in ["..", "/", "/dev", "new/"] {
            assert!(Target::find(Path::new(name)).is_err(), "{name}");
        }
        for (name, is_stream) in [
            ("/dev/null", true),
            ("/dev/stdout", true),
            ("/proc/self/fd/1", true),
            ("/dev/shm/r", false),
        ] {
            assert_eq!(stream(Path::new(name)).is_some(), is_stream, "{name}");
        }
    }
}
