//! The coordinator's side of a team: the start, the window, the stop, and the stall.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ondeck::platform::{Native, Platform};

use super::{Outcome, Shared, TeamSetting, Until};
use crate::usage::Usage;

/// The interval of checks for a cancellation.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// How often the coordinator checks whether every thread runs; each check takes a moment of CPU
/// time.
const GATHERING: Duration = Duration::from_millis(1);

/// The time and the progress of all threads at one moment.
struct Snapshot {
    at: Instant,
    pairs: Vec<u64>,
}

impl Snapshot {
    fn take(shared: &Shared) -> Self {
        // Pairs first: if this thread is switched out in between, pairs are lost rather than
        // gained.
        let pairs = shared.progress();
        Self { at: Instant::now(), pairs }
    }
}

/// Opens the gate if it may be opened when all have come, or gives the team up; stops the team in
/// time, and waits for its end. The outcome lacks what the threads return; `Err` with the limit if
/// the team is stuck.
pub(super) fn watch<T>(
    setting: &TeamSetting,
    until: Until,
    shared: &Shared,
    may_open: impl FnOnce() -> bool,
) -> Result<Outcome<T>, Duration> {
    await_ready(setting, shared)?;
    let may_open = may_open();
    let mut begin = Snapshot::take(shared);
    let opened = begin.at;
    if may_open {
        shared.open();
    } else {
        shared.give_up();
    }

    let (Until::Elapsed(limit) | Until::Finished(limit)) = until;
    let timed = matches!(until, Until::Elapsed(_));
    let mut gathered = !timed;
    let mut end: Option<Snapshot> = None;
    let mut seen = begin.pairs.clone();
    let mut moved = begin.at;
    let mut gate = shared.gate();
    while gate.ended() < setting.threads {
        let now = Instant::now();
        if !gathered {
            let all = shared.all_run();
            // Under some locks a thread never runs, and the round would never start: it starts
            // after twice the time.
            if all || now - begin.at >= limit.saturating_mul(2) {
                gathered = true;
                begin = Snapshot::take(shared);
            }
        } else if end.is_none() && now.saturating_duration_since(begin.at) >= limit {
            end = Some(Snapshot::take(shared));
        }
        if end.is_some() || setting.cancel.load(Ordering::Relaxed) {
            shared.stop();
        }
        let progress = shared.progress();
        if progress != seen {
            seen = progress;
            moved = now;
        } else if now - moved >= setting.stall_limit {
            return Err(setting.stall_limit);
        }
        let next = match (gathered, &end) {
            (false, _) => GATHERING,
            (true, None) => limit.saturating_sub(now.saturating_duration_since(begin.at)),
            (true, Some(_)) => CANCEL_CHECK,
        };
        // Waits for a minimum time, so that the coordinator does not poll for a deadline just
        // ahead.
        gate = shared.await_change(gate, next.clamp(Duration::from_micros(50), CANCEL_CHECK));
    }
    drop(gate);
    let span = opened.elapsed();

    let end = end.unwrap_or_else(|| Snapshot::take(shared));
    let window_pairs: Vec<u64> =
        end.pairs.iter().zip(&begin.pairs).map(|(end, begin)| end - begin).collect();
    let contended_pairs =
        if timed { window_pairs.clone() } else { shared.first_end().unwrap_or_default().to_vec() };
    Ok(Outcome {
        window: end.at.saturating_duration_since(begin.at).max(Duration::from_nanos(1)),
        window_pairs,
        contended_pairs,
        pairs: Vec::new(),
        usage: Usage::default(),
        span,
        cpus: Native::cpus(),
        results: Vec::new(),
    })
}

/// Waits until every thread has come to the start.
fn await_ready(setting: &TeamSetting, shared: &Shared) -> Result<(), Duration> {
    let start = Instant::now();
    let mut gate = shared.gate();
    while gate.came() < setting.threads {
        // Creating 4,096 threads takes far less than the shortest limit allows.
        if start.elapsed() >= setting.stall_limit.saturating_mul(2) {
            drop(gate);
            shared.give_up();
            return Err(setting.stall_limit);
        }
        gate = shared.await_change(gate, CANCEL_CHECK);
    }
    Ok(())
}
