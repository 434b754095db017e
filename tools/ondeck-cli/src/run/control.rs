//! The page through which `ondeck attach` switches recording on and off in a running program:
//! [`ondeck_record::control`] has its layout.
//!
//! `ondeck run` makes one, becomes the program, and so cannot remove it. The next `ondeck run`
//! does, when no process has it mapped any more.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::geteuid;
use ondeck_record::control::{Control, MAGIC, SIZE, wanted};

use super::launch::CONTROL;
use super::recording;

const PREFIX: &str = "ondeck-control-";

/// The offsets of the fields in the file.
const WANTED: u64 = std::mem::offset_of!(Control, wanted) as u64;
const FOLDER: u64 = std::mem::offset_of!(Control, folder) as u64;
const LONGEST_FOLDER: usize = SIZE - FOLDER as usize - 1;

/// Makes a page for the program that this process is about to become. Returns `None` where no file
/// can be made; the program also runs without one.
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

/// A process that is younger may still be about to become its program.
const LOADED_BY: Duration = Duration::from_secs(10);

impl Page {
    /// Finds the page of a process, and waits for a process that is just being started; an error
    /// message if it has none.
    pub(crate) fn of(pid: u32) -> Result<Self, String> {
        let path = loop {
            match mapped_by(pid)? {
                Ok(path) => break path,
                Err(not_yet) if age(pid).is_none_or(|age| age > LOADED_BY) => return Err(not_yet),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        };
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

/// Returns the page that a process has mapped; an inner error if it may still map one.
fn mapped_by(pid: u32) -> Result<Result<PathBuf, String>, String> {
    let started = "start the program with `ondeck run -- PROGRAM`, and attach to its process";
    let read = |file: &str| {
        fs::read(format!("/proc/{pid}/{file}")).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("there is no process {pid}; see `ps -e`"),
            _ => format!("cannot read /proc/{pid}/{file}: {error}; only root and the user of the process may, and in some containers neither"),
        })
    };
    // Asked first: it may become its program, with the page, after its old environment was read.
    let is_beginning = is_beginning(pid);
    let environment = read("environ")?;
    let Some(path) = value(&environment, CONTROL) else {
        let why = format!(
            "process {pid} was not started by `ondeck run`: `ondeck who {pid}` shows what its \
             threads wait for now; to record it, {started}"
        );
        // In the middle of execve(2) a process has its new file, and no environment yet.
        return if is_beginning || environment.is_empty() { Ok(Err(why)) } else { Err(why) };
    };
    let path = PathBuf::from(path);
    let maps = read("maps")?;
    if memchr::memmem::find(&maps, path.as_os_str().as_bytes()).is_none() {
        return Ok(Err(format!(
            "process {pid} does not have the shim's page {} mapped: it has no shim, or another \
             one; {started}",
            path.display()
        )));
    }
    Ok(Ok(path))
}

/// Whether a process is still this command, or the shell that is about to start it.
fn is_beginning(pid: u32) -> bool {
    let program = |pid: &str| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let parent = stat(pid).and_then(|fields| fields.get(1).cloned()).unwrap_or_default();
    let own = program(&pid.to_string());
    own.is_some() && (own == program("self") || own == program(&parent))
}

/// Returns how long ago a process began.
fn age(pid: u32) -> Option<Duration> {
    /// The field of proc_pid_stat(5) less three, in ticks of which there are always 100 a second.
    const START: usize = 22 - 3;
    let begun = stat(pid)?.get(START)?.parse::<u64>().ok()?;
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let now = uptime.split('.').next()?.parse::<u64>().ok()?;
    Some(Duration::from_secs(now.saturating_sub(begun / 100)))
}

/// Returns the fields of /proc/PID/stat after the name: the state, the parent, ...
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
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
