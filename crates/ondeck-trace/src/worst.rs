//! The worst idle of each lock that a campaign measured `idle` of: found in a moment of tracing
//! behind all measurements, so that nothing is measured under it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ondeck_lab::plan::{Extent, PAIRS_PER_RUN, Stage};
use ondeck_lab::results::trace::{Clip, LockTrace};
use ondeck_lab::results::{Failure, IdleTimeline, Series};
use ondeck_lab::sample::LONGEST;
use ondeck_lab::team::{TeamError, TeamSetting};
use ondeck_lab::workload;

use super::{Request, Sight, Traced, Tracer, failure};

/// More timelines than this no reader looks at.
const MOST_LOCKS: usize = 12;

/// No lock has more time: by then it has been preempted a hundred times.
const MOST_OF_A_LOCK: Duration = Duration::from_millis(400);

/// A drawing of a report is no broader than this many pixels.
const GRAINS: u64 = 500;

/// How long tracing takes behind these stages, about; nothing where `idle` is not among them.
pub fn planned(stages: &[Stage], extent: Extent) -> Duration {
    let locks = stages
        .iter()
        .filter(|stage| stage.workload.traced && !stage.baseline)
        .map(|stage| stage.subjects.len())
        .max();
    locks.map_or(Duration::ZERO, |locks| of_a_lock(locks, extent) * locks.min(MOST_LOCKS) as u32)
}

fn of_a_lock(locks: usize, extent: Extent) -> Duration {
    let all =
        if extent == Extent::Quick { Duration::from_secs(1) } else { Duration::from_millis(2_500) };
    (all / locks.clamp(1, MOST_LOCKS) as u32).min(MOST_OF_A_LOCK)
}

/// Traces the locks that `series` has longest idles of, as they were measured with the most
/// threads; those that failed are left alone, and the last of them if the time is over. `watch`
/// hears of each lock, and which part is behind.
pub fn trace(
    request: &ondeck_lab::plan::Request,
    series: &[Series],
    failures: &[Failure],
    mut watch: impl FnMut(f64, &str),
) -> (Vec<IdleTimeline>, Vec<Failure>) {
    let (threads, names) = locks(series, failures);
    if names.is_empty() || request.is_cancelled() {
        return (Vec::new(), Vec::new());
    }
    // A run that has begun at the end of a lock's time goes on for as long again.
    let time = of_a_lock(names.len(), request.extent);
    let (half, start) = (time / 2, Instant::now());
    let mut tracer = Tracer::new(Request {
        team: TeamSetting {
            threads,
            placement: request.placements.first().cloned().unwrap_or_default(),
            stall_limit: request.stall_limit,
            cancel: Arc::clone(&request.cancel),
        },
        runs: usize::MAX,
        duration: half,
        longest_run: half,
        pairs: PAIRS_PER_RUN,
        section_nanos: 0,
        outside_nanos: 0,
        longest_idles: 1,
        longest_waits: 0,
        grains: GRAINS,
        most: Sight::Machine,
    });
    let sight = tracer.sight();
    let all = Traced::all();
    let (mut timelines, mut failed) = (Vec::new(), Vec::new());
    for (place, name) in names.iter().enumerate() {
        let Some(lock) = all.iter().find(|lock| lock.info.name == *name) else { continue };
        // Making sense of a run takes as long as the machine is busy.
        if start.elapsed() >= time * names.len() as u32 {
            break;
        }
        watch(place as f64 / names.len() as f64, name);
        let (found, error) = tracer.trace(lock, |_| {});
        timelines.extend(timeline(found, threads, sight));
        match error {
            None => {}
            Some(TeamError::Cancelled) => break,
            Some(error) => failed.push(failure(name, threads, &error)),
        }
    }
    (timelines, failed)
}

/// The threads of the run with the most of them, and its locks: first those that were idle longest.
fn locks<'a>(series: &'a [Series], failures: &[Failure]) -> (usize, Vec<&'a str>) {
    let traced = |series: &&Series| {
        workload::named(&series.workload).is_some_and(|workload| workload.traced)
    };
    let of_idle = || series.iter().filter(traced);
    let threads = of_idle().map(|series| series.threads).max().unwrap_or(0);
    let mut locks: Vec<(&str, f64)> = Vec::new();
    for series in of_idle().filter(|series| series.threads == threads) {
        let longest = series.metric(LONGEST.name).map_or(0.0, |metric| metric.max);
        match locks.iter_mut().find(|(name, _)| *name == series.lock) {
            Some((_, most)) => *most = most.max(longest),
            None => locks.push((&series.lock, longest)),
        }
    }
    locks.retain(|(name, _)| !failures.iter().any(|failure| failure.lock == *name));
    locks.sort_by(|one, other| other.1.total_cmp(&one.1));
    locks.truncate(MOST_LOCKS);
    (threads, locks.into_iter().map(|(name, _)| name).collect())
}

/// The worst idle of a lock, if it was ever idle for long enough to be explained.
fn timeline(found: LockTrace, threads: usize, sight: Sight) -> Option<IdleTimeline> {
    let episode = found.longest_idles.into_iter().next()?;
    let shows =
        |clip: &Clip| clip.run == episode.run && clip.from <= episode.from && episode.to <= clip.to;
    let clip = found.clips.into_iter().find(shows)?;
    Some(IdleTimeline { lock: found.lock, threads, runs: found.runs, sight, episode, clip })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ondeck_lab::results::{Better, Metric};

    fn series(lock: &str, threads: usize, longest: f64) -> Series {
        let metric = Metric {
            name: LONGEST.name.to_owned(),
            unit: "ms".into(),
            better: Better::Lower,
            median: longest,
            p25: longest,
            p75: longest,
            min: longest,
            max: longest,
            n: 1,
            samples: vec![longest],
        };
        Series {
            workload: "idle".to_owned(),
            lock: lock.to_owned(),
            threads,
            params: std::collections::BTreeMap::new(),
            partial: false,
            cut_runs: 0,
            round_milliseconds: None,
            metrics: vec![metric],
            distribution: None,
        }
    }

    #[test]
    fn the_worst_locks_at_the_most_threads_are_traced_and_those_that_hung_are_not() {
        let mut wait = series("spin", 16, 99.0);
        wait.workload = "wait".to_owned();
        let all = [
            wait,
            series("mcs", 4, 70.0),
            series("std", 16, 2.0),
            series("ticket_spinlock", 16, 40.0),
            series("std", 16, 50.0),
            series("clh", 16, 60.0),
        ];
        let hung = Failure {
            workload: "wait".to_owned(),
            lock: "clh".to_owned(),
            threads: 2,
            kind: "deadlock".into(),
            message: String::new(),
            thread_states: Vec::new(),
        };
        assert_eq!(locks(&all, &[hung]), (16, vec!["std", "ticket_spinlock"]));
        assert_eq!(locks(&all[..1], &[]), (0, Vec::new()));
    }

    #[test]
    fn a_suite_is_not_lengthened_by_more_than_three_seconds() {
        for locks in [1, 5, 12, 40] {
            let time = of_a_lock(locks, Extent::Suite) * locks.min(MOST_LOCKS) as u32;
            assert!(time <= Duration::from_secs(3), "{locks} locks: {time:?}");
        }
    }
}
