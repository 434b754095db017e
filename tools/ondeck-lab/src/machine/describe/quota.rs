//! The CPU quota of a control group of version 2.

use std::fmt;
use std::fs;
use std::path::Path;

/// The quota that this process runs under, the least of its group and the groups above; in words.
/// `None` if there is none, or the kernel does not report it.
pub(super) fn in_force() -> Option<String> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    Some(least(Path::new("/sys/fs/cgroup"), &groups)?.to_string())
}

/// A quota of CPU time in each period, both in microseconds.
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

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |micros: u64| micros as f64 / 1e3;
        write!(f, "{} ms of each {} ms", millis(self.time), millis(self.period))
    }
}

/// The least quota of the group that these lines of `/proc/self/cgroup` name, and of the groups
/// above it.
fn least(root: &Path, groups: &str) -> Option<Quota> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let group = Path::new(group.trim_start_matches('/'));
    // On systems that also mount version 1, version 2 is mounted one folder further down.
    let mounts = [root.to_owned(), root.join("unified")];
    let folders = mounts.iter().flat_map(|mount| group.ancestors().map(|group| mount.join(group)));
    folders
        .filter_map(|folder| of_folder(&folder))
        .min_by(|one, other| one.share().total_cmp(&other.share()))
}

fn of_folder(folder: &Path) -> Option<Quota> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let (time, period) = text.trim().split_once(' ')?;
    // "max" does not parse: there is no quota.
    Some(Quota { time: time.parse().ok()?, period: period.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_quota_of_the_group_and_of_those_above_it_is_found() {
        let root = tempfile::tempdir().expect("a folder");
        let group = root.path().join("one/two");
        fs::create_dir_all(&group).expect("a folder");
        assert_eq!(least(root.path(), "0::/one/two"), None);
        fs::write(group.join("cpu.max"), "max 100000\n").expect("a file");
        fs::write(root.path().join("one/cpu.max"), "50000 100000\n").expect("a file");
        fs::write(root.path().join("cpu.max"), "150000 100000\n").expect("a file");
        let found = least(root.path(), "4:cpu:/\n0::/one/two\n");
        assert_eq!(found, Some(Quota { time: 50_000, period: 100_000 }));
        assert_eq!(found.map(|quota| quota.to_string()), Some("50 ms of each 100 ms".to_owned()));
        assert_eq!(least(root.path(), "4:cpu:/one\n"), None);
    }
}
