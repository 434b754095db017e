//! The folder into which a program's recorders write, one file for each process image.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;
use tempfile::TempDir;

/// A folder in memory: recording writes to mapped pages, which a disk's file system would
/// continuously write back.
const IN_MEMORY: &str = "/dev/shm";

/// Recordings are sparse, and take a tenth of this or less.
const ROOM_IN_MEMORY: u64 = 256 << 20;

/// Other users may create files, and cannot list them.
const DROP_BOX: u32 = 0o1733;

const PREFIX: &str = "ondeck-recording-";
const KEPT: &str = "ondeck-kept-";

/// Makes a new folder, which is removed with the value; also removes the folders of killed
/// commands.
pub(crate) fn folder() -> io::Result<TempDir> {
    let place = place();
    sweep(&place);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(place)?;
    if geteuid().is_root() {
        // A server started by root may change its user, and its children then create files.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(DROP_BOX))?;
    }
    Ok(folder)
}

/// Removes the folders of this user that are named after a process that no longer exists.
fn sweep(place: &Path) {
    for folder in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = folder.file_name();
        let Some((pid, _)) = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split_once('-'))
        else {
            continue;
        };
        let is_ours = folder.metadata().is_ok_and(|found| found.uid() == geteuid().as_raw());
        let ended = pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists();
        if is_ours && ended {
            // A folder that has gone since needs no removal.
            _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// Keeps a folder, under a name that protects it from removal by later commands.
pub(crate) fn keep(folder: TempDir) -> PathBuf {
    let path = folder.keep();
    let kept = path
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.strip_prefix(PREFIX))
        .map(|rest| path.with_file_name(format!("{KEPT}{rest}")));
    match kept {
        Some(kept) if fs::rename(&path, &kept).is_ok() => kept,
        _ => path,
    }
}

/// Frees the space that the recordings of a folder take. Removing them does not suffice: a process
/// that is still running has them mapped until its end.
pub(crate) fn give_back(folder: &Path) {
    let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()) {
        // Space that cannot be freed now is freed when the process ends.
        let opened = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path);
        if let Ok(file) = opened
            && let Ok(length) = file.metadata().map(|found| found.len())
        {
            _ = fallocate(&file, hole, 0, length.cast_signed());
        }
    }
}

/// The place of temporary files of this kind: the user's choice, in memory, or the usual place.
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

/// Returns the processes that still run with this folder in the environment that they were started
/// with.
pub(crate) fn left_behind(folder: &Path) -> Vec<u32> {
    let name = folder.as_os_str().as_encoded_bytes();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ"));
            environment.is_ok_and(|all| memchr::memmem::find(&all, name).is_some())
        })
        .collect()
}

/// Says of these processes that they were seen in part, and what to do; `None` if there are none.
pub(crate) fn say_left(pids: &[u32]) -> Option<String> {
    let listed: Vec<String> = pids.iter().map(u32::to_string).collect();
    (!pids.is_empty()).then(|| {
        format!(
            "process {}, from the end of the program that was started on: a server has to run in the foreground",
            listed.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_runs_on_is_found_by_its_environment() {
        let folder = Path::new("/no/such/folder/of/this/test");
        let mut child = std::process::Command::new("sleep");
        let mut child = child.arg("100").env("FOLDER", folder).spawn().expect("sleep(1)");
        // Until exec, the child has the environment of this process.
        let found = loop {
            let found = left_behind(folder);
            if !found.is_empty() {
                break found;
            }
        };
        child.kill().and_then(|()| child.wait()).expect("a child");
        assert_eq!(found, [child.id()]);
        assert!(say_left(&found).expect("one is left").contains(&child.id().to_string()));
        assert_eq!((left_behind(folder), say_left(&[])), (Vec::new(), None));
    }

    #[test]
    fn a_recording_that_is_mapped_somewhere_takes_no_room_any_more() {
        let folder = tempfile::tempdir_in(place()).expect("a folder");
        let path = folder.path().join("1.0.ondeck-profile");
        fs::write(&path, vec![1; 1 << 20]).expect("a file");
        let mapped = fs::File::open(&path).expect("our file");
        give_back(folder.path());
        let found = mapped.metadata().expect("our file");
        assert_eq!((found.len(), found.blocks()), (1 << 20, 0));
    }

    #[test]
    fn folders_go_with_their_command_and_kept_ones_stay() {
        let place = tempfile::tempdir().expect("a folder");
        let make = |name: String| {
            let path = place.path().join(name);
            fs::create_dir(&path).expect("a folder");
            fs::write(path.join("1.0.ondeck-profile"), "").expect("a file");
            path
        };
        // Process numbers never exceed the kernel's maximum.
        let [ended, alive] = [4_194_305, std::process::id()];
        let gone = make(format!("{PREFIX}{ended}-a"));
        let stay = [
            make(format!("{PREFIX}{alive}-b")),
            make(format!("{KEPT}{ended}-c")),
            make(format!("other-{ended}-d")),
        ];
        sweep(place.path());
        assert!(!gone.exists());
        assert!(stay.iter().all(|path| path.exists()));
        assert!(has_begun(&stay[0]) && !has_begun(place.path()));
        let prefix = format!("{PREFIX}{ended}-");
        let kept = tempfile::Builder::new().prefix(&prefix).tempdir_in(place.path());
        let kept = keep(kept.expect("a folder"));
        sweep(place.path());
        assert!(kept.exists(), "{}", kept.display());
    }
}
