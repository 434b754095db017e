//! The CPU quota of a control group: reading the one in force, and asking for one.

use std::fs;
use std::path::{Path, PathBuf};

/// The quota that this process runs under, the least of its group and the groups above; in words.
/// `None` if there is none, or the kernel does not tell.
pub fn in_force() -> Option<String> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let quotas = groups.lines().flat_map(|line| of_line(Path::new(ROOT), line));
    let least = quotas.min_by(|one, other| one.share().total_cmp(&other.share()))?;
    Some(least.to_string())
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
    let read: (Vec<PathBuf>, fn(&Path) -> Option<Quota>) = match controllers {
        "" => (vec![root.to_owned(), root.join("unified")], of_version_2),
        named if named.split(',').any(|controller| controller == "cpu") => {
            (vec![root.join(named), root.join("cpu")], of_version_1)
        }
        _ => return Vec::new(),
    };
    let (mounts, read) = read;
    mounts
        .iter()
        .flat_map(|mount| group.ancestors().map(|group| mount.join(group)))
        .filter_map(|folder| read(&folder))
        .collect()
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
