//! Where each hardware thread of a machine is.

use super::spec::{Spec, Transfer};

/// As many hardware threads as a simulated machine can have.
pub const MAX_THREADS: u64 = 512;

/// One hardware thread: a CPU, as the operating system counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareThread {
    /// Its core, from 0, over the whole machine.
    pub core: usize,
    /// Its cluster: an index of [`Spec::clusters`].
    pub cluster: usize,
    /// Its socket: the number of the file.
    pub socket: usize,
    /// Its class: an index of [`Spec::classes`].
    pub class: usize,
    /// The other hardware thread of its core.
    pub sibling: Option<usize>,
}

/// How far two hardware threads are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// They are the same.
    Same,
    /// They share a core.
    SmtSibling,
    /// They share a cluster.
    SameCluster,
    /// They share a socket.
    SameSocket,
    /// They are on two sockets.
    CrossSocket,
}

/// All hardware threads of a machine by number.
///
/// The first hardware threads of all cores come first, cluster by cluster, then the second ones of the cores
/// that have two, as Linux numbers them on servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    threads: Vec<HardwareThread>,
    cores: usize,
}

impl Spec {
    /// Where each hardware thread is. Costs an allocation; linear in hardware threads.
    ///
    /// # Panics
    ///
    /// If a cluster's class is not among the classes, which a machine file cannot have.
    pub fn topology(&self) -> Topology {
        Topology::of(self)
    }
}

impl Topology {
    fn of(spec: &Spec) -> Self {
        let mut firsts = Vec::new();
        let mut seconds = Vec::new();
        for (cluster, group) in spec.clusters.iter().enumerate() {
            let class = spec
                .classes
                .iter()
                .position(|(name, _)| *name == group.class)
                .unwrap_or_else(|| panic!("there is no class {}", group.class));
            for _ in 0..group.cores {
                let core = firsts.len();
                let socket = group.socket as usize;
                firsts.push(HardwareThread { core, cluster, socket, class, sibling: None });
                if group.smt == 2 {
                    seconds.push(HardwareThread {
                        core,
                        cluster,
                        socket,
                        class,
                        sibling: Some(core),
                    });
                }
            }
        }
        let cores = firsts.len();
        for (index, second) in seconds.iter().enumerate() {
            firsts[second.core].sibling = Some(cores + index);
        }
        firsts.extend(seconds);
        Self { threads: firsts, cores }
    }

    /// All hardware threads, by number.
    pub fn threads(&self) -> &[HardwareThread] {
        &self.threads
    }

    /// How many cores there are.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// How far two hardware threads are from each other.
    ///
    /// # Panics
    ///
    /// If the machine does not have one of them.
    pub fn distance(&self, one: usize, other: usize) -> Distance {
        let (a, b) = (&self.threads[one], &self.threads[other]);
        if one == other {
            Distance::Same
        } else if a.core == b.core {
            Distance::SmtSibling
        } else if a.cluster == b.cluster {
            Distance::SameCluster
        } else if a.socket == b.socket {
            Distance::SameSocket
        } else {
            Distance::CrossSocket
        }
    }
}

impl Transfer {
    /// The time that a line needs over that distance, in nanoseconds; 0 for none.
    pub fn over(&self, distance: Distance) -> f64 {
        match distance {
            Distance::Same => 0.0,
            Distance::SmtSibling => self.smt_sibling,
            Distance::SameCluster => self.same_cluster,
            Distance::SameSocket => self.same_socket,
            Distance::CrossSocket => self.cross_socket,
        }
    }
}
