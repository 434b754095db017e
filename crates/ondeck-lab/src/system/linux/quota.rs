//! The CPU quota of a control group: reading the one in force, and asking for one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::system::Refusal;

/// The quota that this process runs under, the least of its group and the groups above; in words.
/// `None` if there is none, or the kernel does not report it.
pub(super) fn in_force() -> Option<String> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let quotas = groups.lines().flat_map(|line| of_line(Path::new(ROOT), line));
    let least = quotas.min_by(|one, other| one.share().total_cmp(&other.share()))?;
    Some(least.to_string())
}

/// A control group of this process's own, with a quota; it goes back to where it was when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Imposed {
    group: PathBuf,
    parent: PathBuf,
}

/// The period of a quota that is asked for: the kernel's own.
const PERIOD: u64 = 100_000;

/// Moves this process into a control group of its own, which may use `percent` percent of a CPU.
///
/// Only in version 2, where a group can be made below one's own without touching other processes.
pub(super) fn impose(percent: u32) -> Result<Imposed, Refusal> {
    let refusal = |reason: String| Refusal {
        reason: format!("quota of {percent} % refused: {reason}"),
        fix:
            "start ondeck under a quota: systemd-run --scope -p CPUQuota=50% ondeck bench ..., or \
              docker run --cpus 0.5"
                .to_owned(),
    };
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let parent = own_group(Path::new(ROOT), &groups)
        .ok_or_else(|| refusal("there is no control group of version 2 here".to_owned()))?;
    let controllers = fs::read_to_string(parent.join("cgroup.controllers")).unwrap_or_default();
    if !controllers.split_whitespace().any(|controller| controller == "cpu") {
        let group = parent.display();
        return Err(refusal(format!("{group} has no cpu controller to hand on")));
    }
    let failed = |error: io::Error| refusal(error.to_string());
    // It may be on already; if it cannot be switched on, the new group has no cpu.max.
    let switched = put(&parent.join("cgroup.subtree_control"), "+cpu");
    let group = parent.join(format!("ondeck-{}", std::process::id()));
    fs::create_dir(&group).map_err(failed)?;
    let imposed = Imposed { group, parent };
    match imposed.enter(percent) {
        Ok(()) => Ok(imposed),
        Err(error) => Err(failed(switched.err().unwrap_or(error))),
    }
}

impl Imposed {
    fn enter(&self, percent: u32) -> io::Result<()> {
        let time = u64::from(percent) * PERIOD / 100;
        put(&self.group.join("cpu.max"), &format!("{time} {PERIOD}"))?;
        put(&self.group.join("cgroup.procs"), &std::process::id().to_string())
    }
}

impl Drop for Imposed {
    fn drop(&mut self) {
        // A failure here leaves an empty group, which costs nothing.
        let _ = put(&self.parent.join("cgroup.procs"), &std::process::id().to_string());
        let _ = fs::remove_dir(&self.group);
    }
}

/// Writes to a file of the kernel's, which is there.
fn put(file: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}

/// The folder of this process's group of version 2.
fn own_group(root: &Path, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    [root.to_owned(), root.join("unified")]
        .map(|mount| mount.join(path.trim_start_matches('/')))
        .into_iter()
        .find(|group| group.join("cgroup.controllers").exists())
}

const ROOT: &str = "/sys/fs/cgroup";

/// So much CPU time in each period, both in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quota {
    time: u64,
    period: u64,
}

impl Quota {
    fn share(self) -> f64 {
        self.time as f64 / self.period as f64
    }
}

impl std::fmt::Display for Quota {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = |micros: u64| micros as f64 / 1e3;
        write!(f, "{} ms of each {} ms", millis(self.time), millis(self.period))
    }
}

/// The quotas that a line of /proc/self/cgroup leads to, `number:controllers:path`: of the group and
/// of those above it.
fn of_line(root: &Path, line: &str) -> Vec<Quota> {
    let mut parts = line.splitn(3, ':');
    let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
    else {
        return Vec::new();
    };
    let group = PathBuf::from(path.trim_start_matches('/'));
    let found = |mounts: [PathBuf; 2], read: fn(&Path) -> Option<Quota>| {
        let folders =
            mounts.iter().flat_map(|mount| group.ancestors().map(|group| mount.join(group)));
        folders.filter_map(|folder| read(&folder)).collect()
    };
    match controllers {
        "" => found([root.to_owned(), root.join("unified")], of_version_2),
        named if named.split(',').any(|controller| controller == "cpu") => {
            found([root.join(named), root.join("cpu")], of_version_1)
        }
        _ => Vec::new(),
    }
}

fn of_version_2(folder: &Path) -> Option<Quota> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let (time, period) = text.trim().split_once(' ')?;
    // "max" is no number, and no quota.
    Some(Quota { time: time.parse().ok()?, period: period.parse().ok()? })
}

fn of_version_1(folder: &Path) -> Option<Quota> {
    let number = |file: &str| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok();
    // -1 is not a number of this kind, and no quota.
    Some(Quota { time: number("cpu.cfs_quota_us")?, period: number("cpu.cfs_period_us")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_of_the_group_and_of_those_above_it_are_found() {
        let root = tempfile::tempdir().expect("a folder");
        let group = root.path().join("one/two");
        fs::create_dir_all(&group).expect("a folder");
        fs::write(group.join("cpu.max"), "max 100000\n").expect("a file");
        fs::write(root.path().join("one/cpu.max"), "50000 100000\n").expect("a file");
        let found = of_line(root.path(), "0::/one/two");
        assert_eq!(found, [Quota { time: 50_000, period: 100_000 }]);
        assert_eq!(found[0].to_string(), "50 ms of each 100 ms");
    }

    #[test]
    fn a_group_is_entered_by_its_quota_and_then_its_processes_and_left_again() {
        let root = tempfile::tempdir().expect("a folder");
        let (parent, group) = (root.path().to_owned(), root.path().join("own"));
        fs::create_dir(&group).expect("a folder");
        let imposed = Imposed { group: group.clone(), parent: parent.clone() };
        // A group without a cpu controller has no such file, and nothing is made.
        assert!(imposed.enter(50).is_err() && !group.join("cpu.max").exists());
        for file in [group.join("cpu.max"), group.join("cgroup.procs"), parent.join("cgroup.procs")]
        {
            fs::write(file, "").expect("a file");
        }
        imposed.enter(50).expect("all files are there");
        let read = |file: PathBuf| fs::read_to_string(file).expect("a file");
        let process = std::process::id().to_string();
        assert_eq!(read(group.join("cpu.max")), "50000 100000");
        assert_eq!(read(group.join("cgroup.procs")), process);
        drop(imposed);
        assert_eq!(read(parent.join("cgroup.procs")), process);
    }

    #[test]
    fn the_group_of_version_2_is_found_beside_version_1() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(root.path().join("unified/box")).expect("a folder");
        assert_eq!(own_group(root.path(), "4:cpu:/\n0::/box\n"), None);
        fs::write(root.path().join("unified/box/cgroup.controllers"), "").expect("a file");
        assert!(own_group(root.path(), "4:cpu:/\n0::/box\n").is_some());
        assert_eq!(own_group(root.path(), "4:cpu:/\n"), None);
    }

    #[test]
    fn version_1_has_two_files_and_a_minus_for_none() {
        let root = tempfile::tempdir().expect("a folder");
        let group = root.path().join("cpu,cpuacct/box");
        fs::create_dir_all(&group).expect("a folder");
        fs::write(group.join("cpu.cfs_period_us"), "100000").expect("a file");
        fs::write(group.join("cpu.cfs_quota_us"), "-1").expect("a file");
        assert!(of_line(root.path(), "4:cpu,cpuacct:/box").is_empty());
        fs::write(group.join("cpu.cfs_quota_us"), "150000").expect("a file");
        assert_eq!(of_line(root.path(), "4:cpu,cpuacct:/box").len(), 1);
        assert!(
            of_line(root.path(), "5:memory:/box").is_empty() && of_line(root.path(), "").is_empty()
        );
    }
}
