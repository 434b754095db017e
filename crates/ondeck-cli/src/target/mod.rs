//! Where one report goes: a file that appears whole or not at all, or a stream.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
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
        if system::ends_as_folder(name) {
            return Err(NOT_A_FILE.to_owned());
        }
        let place = resolve(name).map_err(|error| format!("{error}; {ASK_ANOTHER}"))?;
        let stream = |place: PathBuf| match system::open_stream(&place) {
            Ok(file) => Ok(Self { place, way: Way::Stream(file) }),
            Err(error) => Err(format!("{error}; name a file that you may write")),
        };
        if system::of_the_kernel(&place) {
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
        let probed = temporary(&place, system::create_probe).map(drop);
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
    let older = fs::metadata(place).ok();
    let _held = TEMPORARY.lock();
    let mut file = temporary(place, |path| system::create(path, older.as_ref()))?;
    file.write_all(bytes)?;
    if let Some(older) = older {
        system::take_over(file.as_file(), &older)?;
    }
    file.persist(place).map(|_| ()).map_err(|error| error.error)
}

/// A new file beside `place`, which removes itself unless it is renamed.
fn temporary(
    place: &Path,
    create: impl FnMut(&Path) -> io::Result<File>,
) -> io::Result<NamedTempFile> {
    let folder = place.parent().unwrap_or(Path::new("/"));
    // Opened by hand, because tempfile's own errors name the temporary file, which means nothing
    // to the user.
    tempfile::Builder::new().prefix(".ondeck-").make_in(folder, create)
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
        match system::link(&place)? {
            Some(link) => path = folder.join(link),
            None => return Ok(place),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
