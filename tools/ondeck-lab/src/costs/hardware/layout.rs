//! Which of the usable CPUs share a core, a last-level cache, a socket.

use std::fs;
use std::path::Path;

use crate::cpus;
use crate::system;

/// The kind of a core, where a machine has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All cores are of this kind, or it is a performance core.
    Performance,
    /// An efficiency core.
    Efficiency,
}

/// Where a CPU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number.
    pub cpu: usize,
    /// Its core, from 0 in order of appearance.
    pub core: usize,
    /// Its cluster, the cores of one kind that share a last-level cache: an index of
    /// [`Layout::clusters`].
    pub cluster: usize,
}

/// Cores of one kind that share a last-level cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The socket, from 0 in order of appearance.
    pub socket: usize,
    /// The kind of the cores.
    pub kind: Kind,
    /// Usable cores.
    pub cores: usize,
    /// Usable CPUs of each core, at most.
    pub smt: usize,
}

/// What two CPUs have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// A core.
    Core,
    /// A last-level cache.
    Cluster,
    /// A socket.
    Socket,
    /// The machine.
    Machine,
}

impl Shared {
    /// All of them, nearest first.
    pub const ALL: [Self; 4] = [Self::Core, Self::Cluster, Self::Socket, Self::Machine];
}

/// The CPUs that this process may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// By number, ascending.
    pub places: Vec<Place>,
    /// In order of appearance.
    pub clusters: Vec<Cluster>,
}

impl Layout {
    /// Reads the layout from `/sys`. Where a file is missing, CPUs do not differ in what it
    /// describes.
    pub fn here() -> Self {
        Self::read(Path::new("/sys/devices"), &system::usable_cpus())
    }

    fn read(devices: &Path, cpus: &[usize]) -> Self {
        let text = |path: String| fs::read_to_string(devices.join(path)).unwrap_or_default();
        let efficient = cpus::listed(&text("cpu_atom/cpus".to_owned())).unwrap_or_default();
        let mut layout = Self::default();
        let (mut cores, mut clusters, mut sockets) = (Vec::new(), Vec::new(), Vec::new());
        for &cpu in cpus {
            let of_cpu = |file: &str| text(format!("system/cpu/cpu{cpu}/{file}")).trim().to_owned();
            let siblings = of_cpu("topology/thread_siblings_list");
            // A kernel that does not report siblings has none.
            let core = if siblings.is_empty() { cpu.to_string() } else { siblings };
            let kind = if efficient.contains(&cpu) { Kind::Efficiency } else { Kind::Performance };
            let socket = index_of(&mut sockets, of_cpu("topology/physical_package_id"));
            let cache = last_level(|file| of_cpu(&format!("cache/{file}")));
            let known = clusters.len();
            let cluster = index_of(&mut clusters, (socket, cache, kind));
            if cluster == known {
                layout.clusters.push(Cluster { socket, kind, cores: 0, smt: 0 });
            }
            let known = cores.len();
            let core = index_of(&mut cores, core);
            layout.clusters[cluster].cores += usize::from(core == known);
            layout.places.push(Place { cpu, core, cluster });
            let smt = layout.places.iter().filter(|place| place.core == core).count();
            layout.clusters[cluster].smt = layout.clusters[cluster].smt.max(smt);
        }
        layout
    }

    /// What two CPUs have in common.
    pub fn shared(&self, one: &Place, other: &Place) -> Shared {
        let socket = |place: &Place| self.clusters[place.cluster].socket;
        if one.core == other.core {
            Shared::Core
        } else if one.cluster == other.cluster {
            Shared::Cluster
        } else if socket(one) == socket(other) {
            Shared::Socket
        } else {
            Shared::Machine
        }
    }

    /// Up to `most` pairs of CPUs, spread over the machine, that share exactly this.
    pub fn pairs(&self, shared: Shared, most: usize) -> Vec<(usize, usize)> {
        let all: Vec<_> = self
            .places
            .iter()
            .enumerate()
            .flat_map(|(index, one)| self.places[index + 1..].iter().map(move |other| (one, other)))
            .filter(|(one, other)| self.shared(one, other) == shared)
            .map(|(one, other)| (one.cpu, other.cpu))
            .collect();
        all.iter().step_by(all.len().div_ceil(most.max(1)).max(1)).copied().collect()
    }

    /// The first CPU of that kind.
    pub fn first_of(&self, kind: Kind) -> Option<Place> {
        self.places.iter().find(|place| self.clusters[place.cluster].kind == kind).copied()
    }

    /// The other CPU of its core.
    pub fn sibling(&self, place: Place) -> Option<usize> {
        let other = |it: &&Place| it.core == place.core && it.cpu != place.cpu;
        self.places.iter().find(other).map(|it| it.cpu)
    }
}

/// The CPUs that share the cache of the highest level, as the kernel lists them.
fn last_level(read: impl Fn(&str) -> String) -> String {
    /// No kernel lists more.
    const MOST: usize = 16;
    (0..MOST)
        .filter_map(|index| {
            let level: u32 = read(&format!("index{index}/level")).parse().ok()?;
            Some((level, read(&format!("index{index}/shared_cpu_list"))))
        })
        .max_by_key(|(level, _)| *level)
        .map(|(_, cpus)| cpus)
        .unwrap_or_default()
}

fn index_of<T: PartialEq>(known: &mut Vec<T>, item: T) -> usize {
    known.iter().position(|it| *it == item).unwrap_or_else(|| {
        known.push(item);
        known.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of two sockets with two clusters of two cores of two CPUs each, numbered as Linux
    /// does, and the second cluster of each socket of efficiency cores.
    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: String, text: String| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        for cpu in 0..16 {
            let core = cpu % 8;
            let (socket, cluster) = (core / 4, core / 2);
            let folder = format!("system/cpu/cpu{cpu}");
            write(format!("{folder}/topology/physical_package_id"), format!("{}\n", socket * 3));
            write(
                format!("{folder}/topology/thread_siblings_list"),
                format!("{core},{}\n", core + 8),
            );
            let (first, last) = (cluster * 2, cluster * 2 + 1);
            for (index, level, cpus) in [
                (0, 1, format!("{core},{}\n", core + 8)),
                (1, 3, format!("{first}-{last},{}-{}\n", first + 8, last + 8)),
            ] {
                write(format!("{folder}/cache/index{index}/level"), format!("{level}\n"));
                write(format!("{folder}/cache/index{index}/shared_cpu_list"), cpus);
            }
        }
        write("cpu_atom/cpus".to_owned(), "2-3,6-7,10-11,14-15\n".to_owned());
        root
    }

    #[test]
    fn cores_clusters_sockets_and_kinds_are_those_of_the_kernel() {
        let root = machine();
        let layout = Layout::read(root.path(), &(0..16).collect::<Vec<_>>());
        let cluster = |socket, kind| Cluster { socket, kind, cores: 2, smt: 2 };
        assert_eq!(
            layout.clusters,
            [
                cluster(0, Kind::Performance),
                cluster(0, Kind::Efficiency),
                cluster(1, Kind::Performance),
                cluster(1, Kind::Efficiency),
            ]
        );
        let shared = |a: usize, b: usize| layout.shared(&layout.places[a], &layout.places[b]);
        assert_eq!(
            [shared(0, 8), shared(0, 9), shared(0, 2), shared(0, 4)],
            [Shared::Core, Shared::Cluster, Shared::Socket, Shared::Machine]
        );
        assert_eq!(layout.pairs(Shared::Core, 100).len(), 8);
        assert_eq!(layout.pairs(Shared::Core, 3), [(0, 8), (3, 11), (6, 14)]);
        assert_eq!(layout.first_of(Kind::Efficiency).map(|place| place.cpu), Some(2));
        assert_eq!(layout.sibling(layout.places[2]), Some(10));
    }

    #[test]
    fn a_process_that_may_use_some_cpus_has_those_only() {
        let root = machine();
        let layout = Layout::read(root.path(), &[0, 1, 8]);
        assert_eq!(
            layout.clusters,
            [Cluster { socket: 0, kind: Kind::Performance, cores: 2, smt: 2 }]
        );
        assert_eq!(layout.sibling(layout.places[1]), None);
    }

    #[test]
    fn a_kernel_that_does_not_tell_has_equal_cores() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::read(root.path(), &[0, 1, 2]);
        assert_eq!(
            layout.clusters,
            [Cluster { socket: 0, kind: Kind::Performance, cores: 3, smt: 1 }]
        );
    }
}
