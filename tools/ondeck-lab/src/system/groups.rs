//! Control groups, which limit the CPU time of threads together: cgroups(7), of both versions.
//!
//! Each team has a group of its own, below the group of the process, so that it begins with a whole
//! quota. Only its threads are in it, and not the coordinator: in version 1 a thread may be moved
//! alone, in version 2 if the group is *threaded*.
//!
//! ```text
//!                         version 1                version 2
//! the limit               cpu.cfs_period_us,       cpu.max
//!                         cpu.cfs_quota_us
//! a thread enters         tasks                    cgroup.threads
//! before that             -                        cgroup.type of the group: threaded
//!                                                  cgroup.subtree_control of its parent: +cpu
//! ```
//!
//! A group is removed with its team. What a killed process leaves behind, the next one removes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Quota, Refusal, Thread};

/// The beginning of the names of all groups. The number of the process follows, then that of the
/// group.
const NAME: &str = "ondeck";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// The file that lists the threads of a group, and to which a thread is written that moves
    /// there.
    fn threads(self) -> &'static str {
        match self {
            Self::One => "tasks",
            Self::Two => "cgroup.threads",
        }
    }
}

/// The group in whose hierarchy CPU time is limited, of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parent {
    version: Version,
    folder: PathBuf,
}

/// A group below that of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    parent: Parent,
    folder: PathBuf,
    /// Its creation has let groups below the parent limit CPU time.
    allowed: bool,
}

/// The groups of this process.
static GROUPS: Mutex<Vec<Group>> = Mutex::new(Vec::new());

/// Creates a group with that quota, which exists until the limit is dropped.
pub(crate) fn limited(quota: Quota) -> Result<Limit, Refusal> {
    let read = |file: &str| fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    let parent = Parent::of(&read("cgroup"), &read("mountinfo")).ok_or_else(|| {
        refusal(quota, "no control group of this process can limit CPU time", DELEGATE)
    })?;
    parent.sweep();
    Ok(Limit(Group::create(parent, quota)?))
}

/// Removes all groups, for the end of the process; their threads go on without a limit.
pub(crate) fn remove_all() {
    let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    groups.iter().for_each(Group::remove);
}

/// A group of threads whose CPU time is limited. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Limit(Group);

impl Limit {
    /// Moves a thread into the group; 0 is the caller.
    pub(crate) fn admit(&self, thread: Thread) -> io::Result<()> {
        self.0.take(thread)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        self.0.remove();
    }
}

const DELEGATE: &str = "let the controller cpu be delegated, as by `systemd-run --scope -p Delegate=yes ondeck ...`, or \
                        measure in a container with a limit, without --quota";

fn refusal(quota: Quota, why: &str, fix: &str) -> Refusal {
    Refusal { reason: format!("quota of {quota} CPUs refused: {why}"), fix: fix.to_owned() }
}

impl Parent {
    /// Finds it in `/proc/self/cgroup` and `/proc/self/mountinfo`. A controller is in one
    /// hierarchy: that of version 2 has what no hierarchy of version 1 has.
    fn of(groups: &str, mounts: &str) -> Option<Self> {
        let has = |list: &str, word: &str| list.split(',').any(|other| other == word);
        let path_in = |wanted: &dyn Fn(&str) -> bool| {
            groups.lines().find_map(|line| {
                // `4:cpu,cpuacct:/path`
                let (_, rest) = line.split_once(':')?;
                let (controllers, path) = rest.split_once(':')?;
                wanted(controllers).then_some(path)
            })
        };
        let first = path_in(&|controllers| has(controllers, "cpu"));
        let (version, path) = match first {
            Some(path) => (Version::One, path),
            None => (Version::Two, path_in(&str::is_empty)?),
        };
        let folder = mounts.lines().find_map(|line| {
            // `36 35 98:0 /root /point rw,noatime shared:1 - type source rw,cpu`
            let (before, behind) = line.split_once(" - ")?;
            let mut behind = behind.split(' ');
            let (kind, options) = (behind.next()?, behind.nth(1)?);
            let fits = match version {
                Version::One => kind == "cgroup" && has(options, "cpu"),
                Version::Two => kind == "cgroup2",
            };
            let mut before = before.split(' ').skip(3).filter(|_| fits);
            let (root, point) = (before.next()?, before.next()?);
            let below = Path::new(path).strip_prefix(root).ok()?;
            Some(Path::new(point).join(below))
        })?;
        Some(Self { version, folder })
    }

    /// Removes the groups of processes that are gone.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process = name.strip_prefix(NAME).and_then(|rest| rest.split('-').nth(1));
            let is_gone = |process: &str| !Path::new("/proc").join(process).exists();
            if process.is_some_and(is_gone) {
                // Another process may be faster.
                _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// Whether there is another group of this program.
    fn has_more(&self) -> bool {
        let is_ours = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(NAME);
        fs::read_dir(&self.folder).into_iter().flatten().flatten().any(is_ours)
    }
}

impl Group {
    fn create(parent: Parent, quota: Quota) -> Result<Self, Refusal> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if parent.version == Version::Two {
            let controllers = fs::read_to_string(parent.folder.join("cgroup.controllers"));
            if !controllers.unwrap_or_default().split_whitespace().any(|it| it == "cpu") {
                let why = format!("{} has no controller cpu", parent.folder.display());
                return Err(refusal(quota, &why, DELEGATE));
            }
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = parent.folder.join(format!("{NAME}-{}-{number}", process::id()));
        let mut group = Self { parent, folder, allowed: false };
        fs::create_dir(&group.folder).map_err(|error| group.refused(quota, "", &error))?;
        let limited = group.limit(quota);
        if limited.is_err() {
            group.remove();
        } else {
            GROUPS.lock().unwrap_or_else(PoisonError::into_inner).push(group.clone());
        }
        limited.map(|()| group)
    }

    fn limit(&mut self, quota: Quota) -> Result<(), Refusal> {
        let (period, share) = (Quota::PERIOD.as_micros(), quota.micros_in_a_period());
        let write = |file: &str, text: &str| {
            let written = fs::write(self.folder.join(file), text);
            written.map_err(|error| self.refused(quota, file, &error))
        };
        match self.parent.version {
            Version::One => {
                write("cpu.cfs_period_us", &period.to_string())?;
                write("cpu.cfs_quota_us", &share.to_string())
            }
            Version::Two => {
                write("cgroup.type", "threaded")?;
                let control = self.parent.folder.join("cgroup.subtree_control");
                let allowed = fs::read_to_string(&control).unwrap_or_default();
                if !allowed.split_whitespace().any(|it| it == "cpu") {
                    let written = fs::write(&control, "+cpu");
                    written
                        .map_err(|error| self.refused(quota, "cgroup.subtree_control", &error))?;
                    self.allowed = true;
                }
                let write = |text: &str| fs::write(self.folder.join("cpu.max"), text);
                write(&format!("{share} {period}"))
                    .map_err(|error| self.refused(quota, "cpu.max", &error))
            }
        }
    }

    /// The refusal of a file of the group, or of the group itself.
    fn refused(&self, quota: Quota, file: &str, error: &io::Error) -> Refusal {
        let fix = match error.raw_os_error() {
            Some(libc::EINVAL) => "ask for no more than the group of this process has itself",
            Some(libc::ENOENT | libc::EOPNOTSUPP | libc::EBUSY) => DELEGATE,
            _ => {
                "run as root, or in a group that is delegated to you, as by `systemd-run --user --scope -p Delegate=yes \
                 ondeck ...`, or measure in a container with a limit, without --quota"
            }
        };
        let place = if file.is_empty() { self.folder.clone() } else { self.folder.join(file) };
        refusal(quota, &format!("{}: {error}", place.display()), fix)
    }

    /// Moves a thread into the group; 0 is the caller.
    fn take(&self, thread: Thread) -> io::Result<()> {
        fs::write(self.folder.join(self.parent.version.threads()), thread.to_string())
    }

    /// Moves the threads that are left into the parent, and removes the group.
    fn remove(&self) {
        /// A thread that has ended is still in its group for a moment.
        const TRIES: u32 = 100;
        let threads = self.parent.version.threads();
        for _ in 0..TRIES {
            for thread in fs::read_to_string(self.folder.join(threads)).unwrap_or_default().lines()
            {
                // It may have ended.
                _ = fs::write(self.parent.folder.join(threads), thread);
            }
            match fs::remove_dir(&self.folder) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    thread::sleep(Duration::from_millis(1));
                }
                _ => break,
            }
        }
        if self.allowed && !self.parent.has_more() {
            _ = fs::write(self.parent.folder.join("cgroup.subtree_control"), "-cpu");
        }
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|group| group.folder != self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota() -> Quota {
        "1".parse().expect("there is a CPU")
    }

    /// A folder that takes the place of a parent of version 2 with these controllers.
    fn parent_with(controllers: &str) -> (tempfile::TempDir, Parent) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("cgroup.controllers"), controllers).expect("a file");
        fs::write(folder.path().join("cgroup.subtree_control"), "").expect("a file");
        let parent = Parent { version: Version::Two, folder: folder.path().to_owned() };
        (folder, parent)
    }

    #[test]
    fn the_hierarchy_is_the_one_with_the_controller() {
        let parent = |groups, mounts| Parent::of(groups, mounts);
        let one = "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                   31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
        let found = parent("4:cpu,cpuacct:/user\n3:memory:/x\n0::/y\n", one);
        let folder = "/sys/fs/cgroup/cpu,cpuacct/user".into();
        assert_eq!(found, Some(Parent { version: Version::One, folder }));
        // A container's mount begins at its own group.
        let two = "40 30 0:30 /docker/a /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let found = parent("0::/docker/a/b\n", two);
        let folder = "/sys/fs/cgroup/b".into();
        assert_eq!(found, Some(Parent { version: Version::Two, folder }));
        assert_eq!(parent("0::/elsewhere\n", two), None);
        assert_eq!(parent("4:cpu:/\n", two), None);
        assert_eq!(parent("", ""), None);
    }

    #[test]
    fn without_the_controller_the_refusal_names_it_and_the_fix() {
        let (folder, parent) = parent_with("memory pids");
        let refusal = Group::create(parent, quota()).expect_err("no controller");
        assert!(refusal.reason.contains("has no controller cpu"), "{refusal:?}");
        assert!(refusal.fix.contains("Delegate=yes"), "{refusal:?}");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2);
    }

    #[test]
    fn a_folder_that_may_not_be_written_is_refused_by_its_name() {
        let parent = Parent { version: Version::One, folder: "/proc/self".into() };
        let refusal = Group::create(parent, quota()).expect_err("no folder");
        let place = format!("/proc/self/{NAME}-{}-", process::id());
        assert!(refusal.reason.contains(&place) && !refusal.reason.contains("/:"), "{refusal:?}");
        assert!(refusal.fix.contains("without --quota"), "{refusal:?}");
    }

    /// The kernel makes the files of a group; here the writes do.
    #[test]
    fn a_group_of_version_2_is_threaded_and_limited() {
        let (folder, parent) = parent_with("cpuset cpu memory");
        let group = Group::create(parent, quota()).expect("a group");
        let read = |file: &str| fs::read_to_string(group.folder.join(file)).expect(file);
        assert_eq!([read("cgroup.type"), read("cpu.max")], ["threaded", "100000 100000"]);
        let control = || fs::read_to_string(folder.path().join("cgroup.subtree_control"));
        assert_eq!(control().expect("a file"), "+cpu");
        group.take(7).expect("a file");
        assert_eq!(read("cgroup.threads"), "7");
        // Removing its files is the kernel's part.
        fs::remove_file(group.folder.join("cgroup.type")).expect("a file");
        fs::remove_file(group.folder.join("cpu.max")).expect("a file");
        fs::remove_file(group.folder.join("cgroup.threads")).expect("a file");
        group.remove();
        assert!(!group.folder.exists());
        assert_eq!(control().expect("a file"), "-cpu");
    }

    #[test]
    fn the_groups_of_processes_that_are_gone_are_removed() {
        let (folder, parent) = parent_with("cpu");
        let group = |process: u32| folder.path().join(format!("{NAME}-{process}-0"));
        // No kernel has a process of this number.
        let (gone, own) = (group(u32::MAX), group(process::id()));
        fs::create_dir(&gone).expect("a folder");
        fs::create_dir(&own).expect("a folder");
        parent.sweep();
        assert_eq!([gone.exists(), own.exists()], [false, true]);
    }

    /// Where the system permits it, as to root.
    #[test]
    fn a_group_of_this_system_is_gone_with_its_limit() {
        let Ok(limit) = limited(quota()) else { return };
        let folder = GROUPS.lock().expect("no panic").last().expect("a group").folder.clone();
        let is_there = || folder.exists();
        assert!(is_there());
        // A thread that is stuck in a lock stays in the group until it is removed.
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let (entered, has_entered) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let limit = &limit;
            scope.spawn(move || {
                entered.send(limit.admit(0).is_ok()).expect("it is awaited");
                receive.recv().expect_err("the end");
            });
            assert!(has_entered.recv().expect("it enters"));
            remove_all();
            assert!(!is_there());
            drop(send);
        });
        drop(limit);
    }
}
