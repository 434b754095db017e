//! The facts that describe this machine to a simulator: where its CPUs are, and what they cost each
//! other.
//!
//! [`measure`](super::measure) measures operations on a CPU that the scheduler chooses. Here each
//! number belongs to known CPUs: of one kind of core, or of pairs that share a core, a cache or a
//! socket.

mod layout;
mod memory;
mod wake;

use std::hint::black_box;
use std::time::Duration;

use ondeck::platform::{Fences, Native, Ordering, Platform};

pub use layout::{Cluster, Kind, Layout, Place, Shared};
pub use wake::Wakes;

use super::{per_operation, two_threads};
use crate::environment;
use crate::summary::Spread;
use crate::system;
use crate::work::Work;

/// Nanoseconds, or why there are none.
pub type Nanos = Result<f64, String>;

/// This machine.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// Where its CPUs are.
    pub layout: Layout,
    /// What each kind of its cores needs.
    pub cores: Vec<(Kind, Core)>,
    /// The one-way time of a cache line between CPUs that share this; only relations that this
    /// machine has.
    pub transfer: Vec<(Shared, Result<Spread, String>)>,
    /// A load of a line that no cache has.
    pub memory: Nanos,
    /// What the kernel needs.
    pub kernel: Kernel,
    /// Ticks of the counter in a nanosecond.
    pub ticks_per_nanosecond: f64,
}

/// What a core needs for operations on lines that are in its cache.
#[derive(Clone, Debug)]
pub struct Core {
    /// One PAUSE of ten in a row.
    pub pause: Nanos,
    /// A load that hits, of many in a row.
    pub load: Nanos,
    /// An exchange.
    pub exchange: Nanos,
    /// A full fence.
    pub fence: Nanos,
    /// A read of the ticks.
    pub ticks: Nanos,
    /// A piece of the laboratory's work.
    pub work: Nanos,
    /// The same while the other CPU of the core works too; none without such a CPU.
    pub work_beside_sibling: Option<Nanos>,
}

/// What the kernel needs.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// A system call that does next to nothing.
    pub system_call: Nanos,
    /// A futex wake that finds no waiter.
    pub wake_of_none: Nanos,
    /// A futex wait that finds another value.
    pub wait_in_vain: Nanos,
    /// From a futex wake to the woken thread running on the same CPU.
    pub wake_to_run_here: Nanos,
    /// Wakes of a thread on another CPU.
    pub wakes: Result<Wakes, String>,
    /// A heavy fence while no other CPU runs a thread of the process.
    pub heavy_fence: Nanos,
    /// The same while one does.
    pub heavy_fence_beside: Nanos,
    /// A sched_yield without another thread to run.
    pub yield_alone: Nanos,
    /// A read of the monotonic clock.
    pub clock: Nanos,
    /// The time slice, where the kernel reports it.
    pub slice: Option<Duration>,
    /// How late a timed wait may be, where the kernel reports it.
    pub timer_slack: Option<Duration>,
}

/// Nanoseconds in which a line moves from one core to the next at the moment, one way.
///
/// # Errors
///
/// If there is only one CPU, or no thread can be bound to one.
pub fn transfer() -> Nanos {
    one_way(&[(crate::cpus::first(), crate::cpus::second()?)], || Ok(())).map(|it| it.median)
}

/// Each single figure is the least of this number of measurements.
const SAMPLES: usize = 9;

/// Measures this machine, which takes some seconds. `progress` receives each step's name and the
/// share done.
///
/// A number that the machine refuses carries the reason. If `cancelled` becomes true, the remaining
/// numbers are refused for that reason.
///
/// Not generic: see [`super::measure`].
pub fn measure(progress: &mut dyn FnMut(&str, f64), cancelled: &dyn Fn() -> bool) -> Hardware {
    let layout = Layout::here();
    let ready = || if cancelled() { Err("interrupted".to_owned()) } else { Ok(()) };
    progress("each kind of core", 0.0);
    let cores = [Kind::Performance, Kind::Efficiency]
        .into_iter()
        .filter_map(|kind| Some((kind, layout.first_of(kind)?)))
        .map(|(kind, place)| (kind, core(place.cpu, layout.sibling(place), ready)))
        .collect();
    progress("lines from CPU to CPU", 0.2);
    let transfer = Shared::ALL
        .into_iter()
        .filter_map(|shared| {
            let pairs = layout.pairs(shared, 12);
            (!pairs.is_empty()).then(|| (shared, one_way(&pairs, ready)))
        })
        .collect();
    progress("memory", 0.5);
    let memory = ready().and_then(|()| memory::latency());
    progress("system calls and wakes", 0.7);
    let kernel = kernel(cancelled, ready);
    let ticks_per_nanosecond = Native::ticks_per_second() as f64 / 1e9;
    Hardware { layout, cores, transfer, memory, kernel, ticks_per_nanosecond }
}

/// The least of several measurements: other programs only ever make one longer.
fn least(ready: impl Fn() -> Result<(), String>, mut once: impl FnMut() -> Nanos) -> Nanos {
    (0..SAMPLES).try_fold(f64::INFINITY, |least, _| {
        ready()?;
        Ok(f64::min(least, once()?))
    })
}

fn core(cpu: usize, sibling: Option<usize>, ready: impl Fn() -> Result<(), String>) -> Core {
    let here =
        |once: &(dyn Fn() -> f64 + Sync)| least(&ready, || two_threads::on_cpu(cpu, || Ok(once())));
    let cell = <Native as Platform>::AtomicU32::new(0);
    let work = Work::of_nanos(1_000);
    Core {
        pause: here(&|| per_operation(|| Native::pause_times(10)) / 10.0),
        load: here(&|| per_operation(|| _ = black_box(cell.load(Ordering::Acquire)))),
        exchange: here(&|| per_operation(|| _ = black_box(cell.swap(1, Ordering::AcqRel)))),
        fence: here(&|| per_operation(|| Native::fence(Ordering::SeqCst))),
        ticks: here(&|| per_operation(|| _ = black_box(Native::ticks()))),
        work: here(&|| per_operation(|| work.perform())),
        work_beside_sibling: sibling.map(|sibling| {
            least(&ready, || {
                let both = || per_operation(|| work.perform());
                two_threads::beside(cpu, sibling, || work.perform(), both)
            })
        }),
    }
}

/// The median over all pairs.
///
/// Viennot's method: both threads try a compare-and-swap until it is their turn, and half of a
/// round trip is one way.
fn one_way(
    pairs: &[(usize, usize)],
    ready: impl Fn() -> Result<(), String>,
) -> Result<Spread, String> {
    let of_pair = |&(here, there): &(usize, usize)| {
        let once = || {
            let flag = <Native as Platform>::AtomicU32::new(0);
            let turn = |from: u32, to: u32| {
                flag.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            };
            let answer = || _ = turn(1, 0);
            two_threads::beside(here, there, answer, || {
                let trip = || while !turn(0, 1) {};
                trip();
                // A trip ends when the line is back: one way out and one way back.
                per_operation(trip) / 2.0
            })
        };
        // Not the least: a host has states, in which a line takes two or ten times as long.
        (0..SAMPLES).map(|_| ready().and_then(|()| once())).collect::<Vec<_>>()
    };
    let times: Result<Vec<_>, _> = pairs.iter().flat_map(of_pair).collect();
    times.map(|times| Spread::of(&times))
}

fn kernel(cancelled: impl Fn() -> bool, ready: impl Fn() -> Result<(), String>) -> Kernel {
    // Until this has been called, the light fence is a full one.
    Native::fences_are_asymmetric();
    let mut operations = super::operations();
    let mut of = |name: &str| {
        let known = operations.iter_mut().find(|operation| operation.name == name);
        let operation = known.expect("an operation of the table of costs");
        least(&ready, || (operation.time)())
    };
    Kernel {
        system_call: of("bare system call"),
        wake_of_none: of("wake without a waiter"),
        wait_in_vain: of("wait, value differs"),
        wake_to_run_here: least(&ready, wake::to_run_here),
        wakes: wake::measure(cancelled),
        heavy_fence: of("heavy fence, siblings asleep"),
        heavy_fence_beside: of("heavy fence, a sibling running"),
        yield_alone: of(super::YIELD_ALONE),
        clock: of("clock_gettime, monotonic"),
        slice: environment::slice(),
        timer_slack: system::timer_slack(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_figure_for_everything_or_a_reason() {
        let mut shares = Vec::new();
        let hardware = measure(&mut |_, share| shares.push(share), &|| false);
        assert!(shares.is_sorted() && shares.len() > 2, "{shares:?}");
        assert!(!hardware.layout.places.is_empty());
        for (kind, core) in &hardware.cores {
            for nanos in [&core.pause, &core.load, &core.exchange, &core.fence, &core.ticks] {
                assert!(nanos.as_ref().is_ok_and(|nanos| *nanos > 0.0), "{kind:?}: {core:?}");
            }
        }
        for (shared, nanos) in &hardware.transfer {
            assert!(nanos.as_ref().is_ok_and(|it| it.p25 > 0.0), "{shared:?}: {nanos:?}");
        }
        assert!(hardware.memory.is_ok_and(|nanos| nanos > 0.0));
        assert!(hardware.kernel.system_call.is_ok_and(|nanos| nanos > 0.0));
    }

    #[test]
    fn an_interrupted_measurement_says_so() {
        let hardware = measure(&mut |_, _| (), &|| true);
        assert_eq!(hardware.memory, Err("interrupted".to_owned()));
        assert_eq!(hardware.kernel.wakes, Err("interrupted".to_owned()));
    }
}
