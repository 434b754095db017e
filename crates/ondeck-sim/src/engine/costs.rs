//! What things cost on the simulated machine, as the engine reads it: picoseconds, and where each CPU is.

use super::time::{Time, of_nanos};
use crate::machine::{self, HardwareThread, Spec};

/// Where a CPU is: what of it is shared with which others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The core, which has its caches for itself.
    pub core: usize,
    /// The cores that share a last-level cache.
    pub cluster: usize,
    /// The socket, which is also the NUMA node.
    pub socket: usize,
    /// Which of [`Costs::classes`] the core is.
    pub class: usize,
    /// The other CPU of the core, if it has two.
    pub sibling: Option<usize>,
}

impl Place {
    /// All CPUs of a machine, from its number of sockets, clusters in each, cores in each, CPUs in each. The second CPUs of cores come last.
    pub fn all_of([sockets, clusters, cores, smt]: [usize; 4]) -> Vec<Self> {
        let all = sockets * clusters * cores;
        let place = |cpu: usize| {
            let core = cpu % all;
            Self {
                core,
                cluster: core / cores,
                socket: core / cores / clusters,
                class: 0,
                sibling: (smt == 2).then(|| (cpu + all) % (2 * all)),
            }
        };
        (0..all * smt).map(place).collect()
    }
}

/// What a core of a class does in which time.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// One PAUSE, or what stands for it.
    pub pause: Time,
    /// A load or store that hits in the core's own cache.
    pub hit: Time,
    /// A locked operation on a line that the core owns.
    pub rmw: Time,
    /// A full fence with an empty store buffer.
    pub fence: Time,
    /// A read of the time-stamp counter.
    pub tsc_read: Time,
    /// How much work is done in a nanosecond.
    pub speed: f64,
    /// The part of its speed that a CPU keeps while its sibling runs, too.
    pub smt_speed: f64,
}

/// One-way times of a cache line from one cache to another.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Between the two CPUs of a core.
    pub smt_sibling: Time,
    /// Within a cluster.
    pub same_cluster: Time,
    /// Between clusters of a socket.
    pub same_socket: Time,
    /// Between sockets.
    pub cross_socket: Time,
    /// From memory, of a line that no cache has.
    pub memory: Time,
    /// More for each further cache that has a copy of a line that is written.
    pub invalidate: Time,
    /// For how long a read of a shared line keeps others from that line.
    pub read_occupancy: Time,
    /// Each transfer is shorter or longer by up to this part, at random.
    pub jitter: f64,
    /// The part of a line's way for which the line's home does not know yet that the line has come.
    pub turnaround: f64,
}

/// What waits in the kernel cost.
#[derive(Clone, Copy, Debug)]
pub struct Futex {
    /// Into the kernel and out of it.
    pub entry: Time,
    /// Hash buckets of the machine.
    pub buckets: usize,
    /// For how long a bucket's lock is held for an operation on its queue.
    pub bucket_hold: Time,
    /// What waking a thread costs the thread that wakes it.
    pub wake: Time,
    /// How late a deadline is.
    pub timer_slack: Time,
}

/// What membarrier(2) costs.
#[derive(Clone, Copy, Debug)]
pub struct Membarrier {
    /// Without any CPU to interrupt.
    pub base: Time,
    /// More for each CPU that is interrupted.
    pub per_cpu: Time,
    /// What the interrupted CPU loses.
    pub interrupted: Time,
}

/// How the scheduler chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// By virtual run time; a woken thread preempts one that had much more.
    Fair,
    /// In turn, a slice each.
    RoundRobin,
    /// In turn, until the thread sleeps.
    Fifo,
    /// In turn, long slices; a woken thread preempts once.
    Windows,
}

/// What sched_yield(2) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// The next ready thread of the CPU runs.
    Next,
    /// All ready threads of the CPU run before the caller does.
    Last,
    /// Only costs.
    Nothing,
}

/// The scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// How threads are chosen.
    pub policy: Policy,
    /// How long a thread runs while others wait for its CPU.
    pub slice: Time,
    /// Slices end at multiples of this only.
    pub tick: Time,
    /// A woken thread preempts if it is behind by more.
    pub wakeup_granularity: Time,
    /// How far a thread that slept may be behind.
    pub sleeper_credit: Time,
    /// From one thread to another on a CPU.
    pub switch: Time,
    /// More if the thread ran elsewhere before.
    pub migration: Time,
    /// From the wake to an idle CPU that polls.
    pub wake_latency: Time,
    /// What sched_yield(2) does.
    pub yields: Yield,
    /// What it costs.
    pub yield_cost: Time,
    /// A busy CPU gives a thread to an idle one no more often.
    pub balance_interval: Time,
}

/// A state of an idle CPU.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// It is reached after so long.
    pub after: Time,
    /// Time to leave it.
    pub exit: Time,
}

/// Clocks.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Ticks of the time-stamp counter in a second.
    pub tsc_hertz: u64,
    /// A read of the monotonic clock.
    pub monotonic_read: Time,
}

/// A machine as the engine reads it.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Where each CPU is, by its number.
    pub places: Vec<Place>,
    /// A CPU of each core.
    pub cpu_of_core: Vec<usize>,
    /// What cores of each class do.
    pub classes: Vec<Class>,
    /// Cache lines.
    pub transfer: Transfer,
    /// Stores that a CPU can have under way.
    pub store_buffer: usize,
    /// Waits in the kernel.
    pub futex: Futex,
    /// Heavy fences.
    pub membarrier: Membarrier,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Idle states, the shallowest first.
    pub idle: Vec<Idle>,
    /// Clocks.
    pub clock: Clock,
}

impl Costs {
    /// A line's way from one core to another, of another core's.
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

impl From<&Spec> for Costs {
    fn from(spec: &Spec) -> Self {
        let topology = spec.topology();
        let places: Vec<Place> = topology
            .threads()
            .iter()
            .map(|&HardwareThread { core, cluster, socket, class, sibling }| Place {
                core,
                cluster,
                socket,
                class,
                sibling,
            })
            .collect();
        let mut cpu_of_core = vec![0; topology.cores()];
        // The first CPU of a core stands for it.
        for (cpu, place) in places.iter().enumerate().rev() {
            cpu_of_core[place.core] = cpu;
        }
        let class = |class: &machine::Class| Class {
            pause: of_nanos(class.pause),
            hit: of_nanos(class.hit),
            rmw: of_nanos(class.rmw),
            fence: of_nanos(class.fence),
            tsc_read: of_nanos(class.tsc_read),
            speed: class.speed,
            smt_speed: class.smt_speed,
        };
        let (transfer, futex, scheduler) = (&spec.transfer, &spec.futex, &spec.scheduler);
        Self {
            cpu_of_core,
            classes: spec.classes.iter().map(|(_, it)| class(it)).collect(),
            transfer: Transfer {
                smt_sibling: of_nanos(transfer.smt_sibling),
                same_cluster: of_nanos(transfer.same_cluster),
                same_socket: of_nanos(transfer.same_socket),
                cross_socket: of_nanos(transfer.cross_socket),
                memory: of_nanos(transfer.memory),
                invalidate: of_nanos(transfer.invalidate),
                read_occupancy: of_nanos(transfer.read_occupancy),
                jitter: transfer.jitter,
                turnaround: transfer.turnaround,
            },
            store_buffer: spec.store_buffer.entries as usize,
            futex: Futex {
                entry: of_nanos(futex.entry),
                // The kernel rounds up to a power of two.
                buckets: (futex.hash_buckets_per_cpu as usize * places.len()).next_power_of_two(),
                bucket_hold: of_nanos(futex.bucket_hold),
                wake: of_nanos(futex.wake),
                timer_slack: of_nanos(futex.timer_slack),
            },
            membarrier: Membarrier {
                base: of_nanos(spec.membarrier.base),
                per_cpu: of_nanos(spec.membarrier.per_cpu),
                interrupted: of_nanos(spec.membarrier.interrupted),
            },
            scheduler: Scheduler {
                policy: match scheduler.policy {
                    machine::Policy::Eevdf | machine::Policy::Cfs => Policy::Fair,
                    machine::Policy::RoundRobin => Policy::RoundRobin,
                    machine::Policy::Fifo => Policy::Fifo,
                    machine::Policy::Windows => Policy::Windows,
                },
                slice: of_nanos(scheduler.slice),
                tick: of_nanos(scheduler.tick),
                wakeup_granularity: of_nanos(scheduler.wakeup_granularity),
                sleeper_credit: of_nanos(scheduler.sleeper_credit),
                switch: of_nanos(scheduler.switch),
                migration: of_nanos(scheduler.migration),
                wake_latency: of_nanos(scheduler.wake_latency),
                yields: match scheduler.yield_to {
                    machine::Yield::Next => Yield::Next,
                    machine::Yield::Last => Yield::Last,
                    machine::Yield::Nothing => Yield::Nothing,
                },
                yield_cost: of_nanos(scheduler.yield_cost),
                balance_interval: of_nanos(scheduler.balance_interval),
            },
            idle: spec
                .idle
                .iter()
                .map(|state| Idle { after: of_nanos(state.after), exit: of_nanos(state.exit) })
                .collect(),
            clock: Clock {
                tsc_hertz: (spec.clock.tsc_ghz * 1e9).round() as u64,
                monotonic_read: of_nanos(spec.clock.monotonic_read),
            },
            places,
        }
    }
}
