//! The page through which `ondeck attach` switches recording on and off in a running program:
//! [`ondeck_record::control`] has its layout.
//!
//! `ondeck run` makes one, becomes the program, and so cannot remove it. The next `ondeck run` does,
//! when no process has it mapped any more.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use ondeck_record::control::{Control, MAGIC, SIZE, wanted};

use super::launch::CONTROL;
use super::recording;

const PREFIX: &str = "ondeck-control-";

/// The offsets of the fields in the file.
const WANTED: u64 = std::mem::offset_of!(Control, wanted) as u64;
const FOLDER: u64 = std::mem::offset_of!(Control, folder) as u64;
const LONGEST_FOLDER: usize = SIZE - FOLDER as usize - 1;

/// Makes a page for the program that this process is about to become. Returns `None` where no file can
/// be made; the program also runs without one.
pub(crate) fn for_program() -> Option<PathBuf> {
    let place = recording::place();
    sweep(&place);
    make(&place).ok()
}

fn make(place: &Path) -> io::Result<PathBuf> {
    /// The program's children may run as other users, and must be able to read it.
    const READABLE: u32 = 0o644;
    let mut file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(place)?;
    let mut page = [0; SIZE];
    page[..size_of_val(&MAGIC)].copy_from_slice(&MAGIC.to_ne_bytes());
    file.write_all(&page)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(READABLE))?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(path)
}

/// Removes the pages of this user that no process has mapped.
fn sweep(place: &Path) {
    let mut pages: Vec<PathBuf> = fs::read_dir(place)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|file| file.file_name().as_bytes().starts_with(PREFIX.as_bytes()))
        .filter(|file| file.metadata().is_ok_and(|found| is_stale(&found)))
        .map(|file| file.path())
        .collect();
    if pages.is_empty() {
        return;
    }
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(maps) = fs::read(process.path().join("maps")) else { continue };
        pages.retain(|page| memchr::memmem::find(&maps, page.as_os_str().as_bytes()).is_none());
    }
    for page in pages {
        // A page that has gone since needs no removal.
        _ = fs::remove_file(page);
    }
}

/// Whether the page belongs to this user, and is too old to belong to a program that is just being
/// loaded.
fn is_stale(page: &fs::Metadata) -> bool {
    const LOADED_BY_THEN: u64 = 60;
    let age = page.modified().ok().and_then(|time| time.elapsed().ok());
    page.uid() == geteuid().as_raw() && age.is_some_and(|age| age.as_secs() > LOADED_BY_THEN)
}

/// The page of a running process.
pub(crate) struct Page {
    file: File,
}

impl Page {
    /// Finds the page of a process; an error message if it has none.
    pub(crate) fn of(pid: u32) -> Result<Self, String> {
        let started = "start the program with `ondeck run -- PROGRAM`, and attach to its process";
        let read = |file: &str| {
            fs::read(format!("/proc/{pid}/{file}")).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => format!("there is no process {pid}; see `ps -e`"),
                _ => format!("cannot read /proc/{pid}/{file}: {error}; only root and the user of the process may, and in some containers neither"),
            })
        };
        let environment = read("environ")?;
        let Some(path) = value(&environment, CONTROL) else {
            return Err(format!("process {pid} was not started by `ondeck run`; {started}"));
        };
        let path = PathBuf::from(path);
        let maps = read("maps")?;
        if memchr::memmem::find(&maps, path.as_os_str().as_bytes()).is_none() {
            return Err(format!(
                "process {pid} does not have the shim's page {} mapped: it has no shim, or another \
                 one; {started}",
                path.display()
            ));
        }
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(|error| {
            format!("cannot write {}: {error}; become the user that started it", path.display())
        })?;
        let mut magic = [0; size_of_val(&MAGIC)];
        (&file).read_exact(&mut magic).map_err(|error| error.to_string())?;
        if u64::from_ne_bytes(magic) != MAGIC {
            return Err(format!("{} is no page of this version of the shim", path.display()));
        }
        Ok(Self { file })
    }

    /// Switches recording on, into that folder, in all processes that have the page.
    pub(crate) fn record_into(&self, folder: &Path) -> io::Result<()> {
        let mut bytes = folder.as_os_str().as_bytes().to_vec();
        if bytes.len() > LONGEST_FOLDER {
            return Err(io::Error::other("the folder's path is too long for the shim's page"));
        }
        bytes.push(0);
        // Written before the word that makes a process read it.
        self.file.write_all_at(&bytes, FOLDER)?;
        self.change(wanted::on_after)
    }

    pub(crate) fn stop(&self) -> io::Result<()> {
        self.change(wanted::off_after)
    }

    fn change(&self, next: fn(u32) -> u32) -> io::Result<()> {
        let mut word = [0; size_of::<u32>()];
        self.file.read_exact_at(&mut word, WANTED)?;
        self.file.write_all_at(&next(u32::from_ne_bytes(word)).to_ne_bytes(), WANTED)
    }
}

/// A variable's value among `NAME=value` strings, each terminated by a zero.
fn value(environment: &[u8], name: &str) -> Option<OsString> {
    let found = environment
        .split(|&byte| byte == 0)
        .find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(OsStr::from_bytes(found).to_owned()).filter(|found| !found.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_recorder_s_layout() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = make(folder.path()).expect("a page");
        let file = OpenOptions::new().read(true).write(true).open(&path).expect("our file");
        let page = Page { file };
        let word = || fs::read(&path).expect("the page")[8];
        assert_eq!(word(), 0, "as the environment says");
        for number in 1..4 {
            page.record_into(Path::new("/somewhere")).expect("our file");
            let bytes = fs::read(&path).expect("the page");
            assert_eq!(bytes.len(), SIZE);
            assert!(bytes.starts_with(b"ondeckCP") && bytes[9..12] == [0; 3]);
            assert!(bytes[16..].starts_with(b"/somewhere\0"));
            assert_eq!(word(), number << 2 | 1, "on, each time with another number");
            page.stop().expect("our file");
            assert_eq!(word(), number << 2 | 2, "off");
        }
        let long = "x".repeat(SIZE);
        assert!(page.record_into(Path::new(&long)).is_err());
    }

    #[test]
    fn a_page_stays_while_it_is_new_or_mapped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = make(folder.path()).expect("a page");
        sweep(folder.path());
        assert!(path.exists(), "it is new");
        let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
        let file = OpenOptions::new().write(true).open(&path).expect("our file");
        file.set_modified(old).expect("our file");
        let mapped = {
            use std::os::fd::AsRawFd;
            let file = File::open(&path).expect("our file");
            // SAFETY: a new private mapping that no pointer refers to; it is unmapped below.
            unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    SIZE,
                    libc::PROT_READ,
                    libc::MAP_SHARED,
                    file.as_raw_fd(),
                    0,
                )
            }
        };
        sweep(folder.path());
        assert!(path.exists(), "this process has it mapped");
        // SAFETY: the mapping was just made.
        assert_eq!(unsafe { libc::munmap(mapped, SIZE) }, 0);
        sweep(folder.path());
        assert!(!path.exists(), "it is old and no process has it mapped");
    }

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let environment = b"XONDECK_CONTROL=/a\0ONDECK_CONTROLX=/b\0ONDECK_CONTROL=/c d\0E=\0";
        assert_eq!(value(environment, "ONDECK_CONTROL"), Some("/c d".into()));
        assert_eq!(value(environment, "E"), None);
        assert_eq!(value(environment, "CONTROL"), None);
    }
}
