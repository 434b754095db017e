//! The stages of workloads that have situations of their own: what varies, and how far.

use std::time::Duration;

use ondeck::platform::{Linux, Platform};

use super::{Extent, Request, Stage};
use crate::sample::share_needs;
use crate::workload::{Subject, WorkloadInfo};

/// One situation of a workload.
struct Case {
    threads: usize,
    work: (u64, u64),
    capacity: usize,
    params: Vec<(&'static str, String)>,
}

impl Case {
    fn of_threads(threads: usize) -> Self {
        Self { threads, work: (0, 0), capacity: 0, params: Vec::new() }
    }

    fn with_work(self, work: (u64, u64)) -> Self {
        let params = vec![("section_ns", work.0.to_string()), ("outside_ns", work.1.to_string())];
        Self { work, params, ..self }
    }
}

/// How long the waiter of a slow handoff has had to fall asleep, in nanoseconds: twice what the most
/// patient lock of the zoo spins.
const SLOW_PACE: u64 = 100_000;

/// At the fast pace it has just come.
const FAST_PACE: u64 = 300;

pub(super) fn stages(
    request: &Request,
    workload: WorkloadInfo,
    subjects: &[Subject],
) -> Vec<Stage> {
    let (least, turns) = match request.extent {
        Extent::Quick => (Duration::from_millis(20), 2),
        Extent::Suite => (Duration::from_millis(100), 3),
        Extent::Full => (Duration::from_secs(1), 11),
    };
    cases(request, workload.name)
        .into_iter()
        .map(|case| {
            // A quick run is too short for shares.
            let turn = match request.extent {
                Extent::Quick => least,
                Extent::Suite | Extent::Full => least.max(share_needs(case.threads).mul_f64(1.1)),
            };
            Stage {
                workload,
                subjects: subjects.to_vec(),
                threads: case.threads,
                work: case.work,
                capacity: case.capacity,
                alone: false,
                params: case.params.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
                turn: request.round.unwrap_or(turn),
                turns: request.rounds.unwrap_or(turns),
                most_runs: usize::MAX,
                longest_run: Duration::MAX,
            }
        })
        .collect()
}

fn cases(request: &Request, workload: &str) -> Vec<Case> {
    // Numbers of threads: those asked for, or the extent's.
    let counts = |quick: &[usize], suite: &[usize]| {
        request.threads.clone().unwrap_or_else(|| match request.extent {
            Extent::Quick => quick.to_vec(),
            Extent::Suite | Extent::Full => suite.to_vec(),
        })
    };
    let work = |default: (u64, u64)| request.work.unwrap_or(default);
    match workload {
        "handoff" => handoff(request.extent),
        "capture" => counts(&[8], &[2, 8, 16])
            .into_iter()
            .map(|threads| Case::of_threads(threads).with_work(work((0, 0))))
            .collect(),
        "starve" => counts(&[8], &[8])
            .into_iter()
            .map(|threads| Case::of_threads(threads).with_work(work((100, 0))))
            .collect(),
        "oversubscribed" => {
            let times = |factors: &[usize]| factors.iter().map(|n| n * Linux::cpus()).collect();
            let (quick, suite): (Vec<_>, Vec<_>) = match request.extent {
                Extent::Full => (vec![], times(&[4, 8, 16, 32])),
                Extent::Quick | Extent::Suite => (times(&[8]), times(&[4, 16])),
            };
            let works = request.work.map_or(super::SUITE_WORK.to_vec(), |work| vec![work]);
            let works = if request.extent == Extent::Full { &works[..] } else { &works[..1] };
            let counts = counts(&quick, &suite);
            works
                .iter()
                .flat_map(|&work| {
                    counts.iter().map(move |&threads| Case::of_threads(threads).with_work(work))
                })
                .collect()
        }
        // One more: the server.
        "condvar" => counts(&[3, 9], &[2, 3, 9, 17])
            .into_iter()
            .map(|threads| Case::of_threads(threads.max(2)))
            .collect(),
        "producer_consumer" => {
            let capacities: &[usize] =
                if request.extent == Extent::Quick { &[8] } else { &[8, 128] };
            counts(&[16], &[16])
                .into_iter()
                .flat_map(|threads| {
                    capacities.iter().map(move |&capacity| Case {
                        capacity,
                        params: vec![("capacity", capacity.to_string())],
                        // A producer and a consumer, and so on.
                        ..Case::of_threads(threads.next_multiple_of(2).max(2))
                    })
                })
                .collect()
        }
        _ => counts(&[1, 8], &[1, 2, 4, 8, 16]).into_iter().map(Case::of_threads).collect(),
    }
}

fn handoff(extent: Extent) -> Vec<Case> {
    let paces = [("solo", 1, 0), ("fast", 2, FAST_PACE), ("slow", 2, SLOW_PACE)];
    // Without a second CPU the two would wait for each other's time slices.
    let possible = if Linux::cpus() > 1 { &paces[..] } else { &paces[..1] };
    let chosen = if extent == Extent::Quick { &possible[possible.len() - 1..] } else { possible };
    chosen
        .iter()
        .map(|&(pace, threads, nanos)| Case {
            work: (nanos, 0),
            params: vec![("pace", pace.to_owned())],
            ..Case::of_threads(threads)
        })
        .collect()
}
