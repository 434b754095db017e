//! The machine that the engine reads: where each CPU is, and plain numbers.

use super::leaf::Leaves;
use super::sections::{
    Class, Clock, Cluster, Futex, Idle, Membarrier, Policy, Scheduler, StoreBuffer, Transfer, Yield,
};
use crate::time::{Time, of_nanos};

/// The most CPUs that a simulated machine can have.
pub const MAX_CPUS: usize = 512;

/// The place of a CPU: what it shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The core, whose caches are private.
    pub core: usize,
    /// The cores that share a last-level cache.
    pub cluster: usize,
    /// The socket, which is also the NUMA node.
    pub socket: usize,
    /// The index of the core's class in [`Costs::classes`].
    pub class: usize,
    /// The other CPU of the core, if it has two.
    pub sibling: Option<usize>,
}

impl Place {
    /// All CPUs of a machine, from its number of sockets, clusters in each, cores in each, CPUs in
    /// each.
    pub fn all_of([sockets, clusters, cores, smt]: [usize; 4]) -> Vec<Self> {
        let class = String::new();
        let cluster =
            |number| Cluster { socket: number / clusters, class: class.clone(), cores, smt };
        let all: Vec<_> = (0..sockets * clusters).map(cluster).collect();
        Self::of_clusters(&all, &[class])
    }

    /// All CPUs of these clusters.
    ///
    /// The first CPUs of all cores come first, cluster by cluster, then the second CPUs of the
    /// cores that have two, as Linux numbers them on servers.
    pub(super) fn of_clusters(clusters: &[Cluster], classes: &[String]) -> Vec<Self> {
        let (mut places, mut seconds) = (Vec::new(), Vec::new());
        for (cluster, group) in clusters.iter().enumerate() {
            let class = classes.iter().position(|name| *name == group.class);
            let class = class.unwrap_or_else(|| unreachable!("{} is a class", group.class));
            for _ in 0..group.cores {
                let (core, socket) = (places.len(), group.socket);
                let place = Self { core, cluster, socket, class, sibling: None };
                places.push(place);
                if group.smt == 2 {
                    seconds.push(Self { sibling: Some(core), ..place });
                }
            }
        }
        for second in seconds {
            places[second.core].sibling = Some(places.len());
            places.push(second);
        }
        places
    }
}

/// A simulated machine, as the engine reads it.
///
/// Values from a [`MachineFile`](super::MachineFile) are in the ranges of [`keys`](super::keys); a
/// value that is made by hand is not checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Where each CPU is, by its number.
    pub places: Vec<Place>,
    /// A CPU of each core.
    pub cpu_of_core: Vec<usize>,
    /// The costs of cores of each class.
    pub classes: Vec<Class>,
    /// The costs of moving a cache line.
    pub transfer: Transfer,
    /// The store buffer of a core.
    pub store_buffer: StoreBuffer,
    /// The futex system call.
    pub futex: Futex,
    /// The hash buckets of the kernel's futexes.
    pub futex_buckets: usize,
    /// The system call membarrier(2).
    pub membarrier: Membarrier,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Idle states, shallow to deep, with rising `after`; without states, idle CPUs poll.
    pub idle: Vec<Idle>,
    /// The clocks.
    pub clock: Clock,
}

impl Costs {
    /// The machine of these leaves, which are complete and in their ranges.
    pub(super) fn read(
        leaves: &Leaves,
        clusters: &[Cluster],
        classes: &[String],
        idle: &[String],
    ) -> Self {
        let places = Place::of_clusters(clusters, classes);
        let cores = places.iter().map(|place| place.core + 1).max().unwrap_or(0);
        let futex = Futex::read(leaves, "futex");
        Self {
            // The first CPUs of all cores come first.
            cpu_of_core: (0..cores).collect(),
            classes: classes
                .iter()
                .map(|class| Class::read(leaves, &format!("class.{class}")))
                .collect(),
            transfer: Transfer::read(leaves, "transfer"),
            store_buffer: StoreBuffer::read(leaves, "store_buffer"),
            // The kernel rounds up to a power of two.
            futex_buckets: (futex.hash_buckets_per_cpu * places.len()).next_power_of_two(),
            futex,
            membarrier: Membarrier::read(leaves, "membarrier"),
            scheduler: Scheduler::read(leaves, "scheduler"),
            idle: idle.iter().map(|path| Idle::read(leaves, path)).collect(),
            clock: Clock::read(leaves, "clock"),
            places,
        }
    }

    /// How many sockets there are.
    pub fn sockets(&self) -> usize {
        self.places.iter().map(|place| place.socket + 1).max().unwrap_or(0)
    }

    /// The way of a line from one core to another.
    #[inline]
    pub fn distance(&self, from: &Place, to: &Place) -> Time {
        if from.core == to.core {
            self.transfer.smt_sibling
        } else if from.cluster == to.cluster {
            self.transfer.same_cluster
        } else if from.socket == to.socket {
            self.transfer.same_socket
        } else {
            self.transfer.cross_socket
        }
    }
}

/// A machine of that shape ([`Place::all_of`]) with round numbers, for tests.
pub fn small(shape: [usize; 4]) -> Costs {
    let nanos = of_nanos;
    Costs {
        places: Place::all_of(shape),
        cpu_of_core: (0..shape[..3].iter().product()).collect(),
        classes: vec![Class {
            pause: nanos(10.0),
            hit: nanos(1.0),
            rmw: nanos(5.0),
            fence: nanos(8.0),
            tsc_read: nanos(7.0),
            speed: 1.0,
            smt_speed: 0.5,
        }],
        transfer: Transfer {
            smt_sibling: nanos(10.0),
            same_cluster: nanos(40.0),
            same_socket: nanos(100.0),
            cross_socket: nanos(200.0),
            memory: nanos(90.0),
            invalidate: nanos(2.0),
            read_occupancy: nanos(3.0),
            jitter: 0.0,
            turnaround: 0.25,
        },
        store_buffer: StoreBuffer { entries: 4 },
        futex: Futex {
            entry: nanos(100.0),
            hash_buckets_per_cpu: 256,
            bucket_hold: nanos(50.0),
            wake: nanos(700.0),
            timer_slack: nanos(50_000.0),
        },
        futex_buckets: 16,
        membarrier: Membarrier {
            base: nanos(500.0),
            per_cpu: nanos(300.0),
            interrupted: nanos(1_500.0),
        },
        scheduler: Scheduler {
            policy: Policy::Eevdf,
            slice: nanos(3_000_000.0),
            tick: nanos(1_000_000.0),
            wakeup_granularity: nanos(1_000_000.0),
            sleeper_credit: nanos(3_000_000.0),
            switch: nanos(1_000.0),
            migration: nanos(500.0),
            wake_latency: nanos(2_000.0),
            wake_jitter: 0.0,
            yield_to: Yield::Next,
            yield_cost: nanos(300.0),
            balance_interval: nanos(4_000_000.0),
        },
        idle: vec![
            Idle { after: 0, exit: 0 },
            Idle { after: nanos(1_000_000.0), exit: nanos(50_000.0) },
        ],
        clock: Clock { tsc_ghz: 2.0, monotonic_read: nanos(20.0) },
    }
}
