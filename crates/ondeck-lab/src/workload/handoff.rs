//! `handoff`: how long it takes from one thread's unlock until another, which waits, has the lock.
//!
//! Two threads and a word that says whose turn it is. The coordinator takes the lock, lets the
//! worker come, waits for as long as the pace says, notes the time and unlocks; the worker notes
//! when it has the lock. At the fast pace the worker has just come, and may still be polling; at the
//! slow pace it has had time to fall asleep. Solo is one thread that hands the lock to itself: what
//! the clock and the lock cost without a second thread.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ondeck::platform::{Linux, Platform};
use ondeck_zoo::RawLock;

use super::{Apart, Situation, Workload, WorkloadInfo};
use crate::clock::TickScale;
use crate::sample::{HANDOFF, Sample, histogram};
use crate::team::{self, Member, TeamError, Until};

pub(super) struct Handoff;

impl Workload for Handoff {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "handoff",
        about: "Time from an unlock until a waiting thread has the lock",
        source: "Rhys Hiltner, the benchmark MutexHandoff of Go's runtime, for issue 68578",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let shared = Arc::new(Shared { lock: Apart(L::new()), turn: Apart(AtomicU64::new(0)) });
        // The worker waits for so long before it is handed the lock.
        let pace = situation.section;
        let threads = situation.team.threads;
        let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
            let mut times = Vec::new();
            if !member.start() {
                return times;
            }
            match (threads, member.index) {
                (1, _) => shared.solo(member, &mut times),
                (_, 0) => shared.coordinate(member, || pace.perform()),
                _ => shared.work(member, &mut times),
            }
            times
        })?;
        let scale = TickScale::get();
        let mut times = histogram();
        let mut all: Vec<f64> = Vec::new();
        for &ticks in outcome.results.iter().flatten() {
            let nanos = scale.nanos(ticks);
            all.push(nanos);
            times.saturating_record((nanos.round() as u64).max(1));
        }
        all.sort_by(f64::total_cmp);
        let mut sample = Sample::of_outcome(&outcome);
        // Nothing is shared out: the two take turns.
        sample.values.retain(|(quantity, _)| quantity.name != "share");
        if let Some(&median) = all.get(all.len() / 2) {
            sample.values.insert(0, (HANDOFF, median));
        }
        sample.times = Some(times);
        Ok(sample)
    }
}

struct Shared<L> {
    lock: Apart<L>,
    /// Even: the coordinator's. Odd: the worker may come for the lock. The time of the unlock
    /// travels beside it, in [`Shared::work`].
    turn: Apart<AtomicU64>,
}

/// Ends both threads when one has been told to stop.
const OVER: u64 = u64::MAX;

impl<L: RawLock<Linux>> Shared<L> {
    fn solo(&self, member: &Member, times: &mut Vec<u64>) {
        let context = L::Context::default();
        while !member.stopped() {
            // SAFETY: the context stays here until the unlock and serves this acquisition alone.
            unsafe { self.lock.0.lock(&context) };
            let before = Linux::ticks();
            // SAFETY: locked above with this context.
            unsafe { self.lock.0.unlock(&context) };
            // SAFETY: as above.
            unsafe { self.lock.0.lock(&context) };
            let after = Linux::ticks();
            // SAFETY: as above.
            unsafe { self.lock.0.unlock(&context) };
            note(times, after.saturating_sub(before));
            member.done(times.len() as u64);
        }
    }

    fn coordinate(&self, member: &Member, pace: impl Fn()) {
        let context = L::Context::default();
        let turn = &self.turn.0;
        let mut handed = 0;
        loop {
            // SAFETY: the context stays here until the unlock and serves this acquisition alone.
            unsafe { self.lock.0.lock(&context) };
            turn.store(1, Ordering::Release);
            pace();
            let before = Linux::ticks();
            // SAFETY: locked above with this context.
            unsafe { self.lock.0.unlock(&context) };
            // The worker has the lock, or will, and waits for the time that is sent here.
            turn.store(before.max(2), Ordering::Release);
            while turn.load(Ordering::Acquire) != 0 {
                hint::spin_loop();
            }
            handed += 1;
            member.done(handed);
            if member.stopped() {
                turn.store(OVER, Ordering::Release);
                return;
            }
        }
    }

    fn work(&self, member: &Member, times: &mut Vec<u64>) {
        let context = L::Context::default();
        let turn = &self.turn.0;
        loop {
            let now = loop {
                match turn.load(Ordering::Acquire) {
                    0 => hint::spin_loop(),
                    now => break now,
                }
            };
            if now == OVER {
                return;
            }
            // SAFETY: the context stays here until the unlock and serves this acquisition alone.
            unsafe { self.lock.0.lock(&context) };
            let after = Linux::ticks();
            // SAFETY: locked above with this context.
            unsafe { self.lock.0.unlock(&context) };
            let before = loop {
                match turn.load(Ordering::Acquire) {
                    1 => hint::spin_loop(),
                    before => break before,
                }
            };
            note(times, after.saturating_sub(before));
            turn.store(0, Ordering::Release);
            member.done(times.len() as u64);
        }
    }
}

/// Keeps a time, up to as many as a round can use.
fn note(times: &mut Vec<u64>, ticks: u64) {
    const MOST: usize = 1 << 20;
    if times.len() < MOST {
        times.push(ticks);
    } else {
        let place = times.len() - 1;
        times[place] = ticks;
    }
}
