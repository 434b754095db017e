//! One run in which every thread makes its pairs and stamps each of them into its own memory.
//!
//! A stamp is a reading of the tick counter: four for each pair, and once, in the section, the
//! number of the CPU, which the C library reads from memory. The cost of stamping is measured with
//! the lock that does nothing.
//!
//! Locks are called through pointers. The loop is compiled here, with the optimization of the loops
//! that measure; another crate processes the stamps.

use std::sync::Arc;

use ondeck::platform::{Native, Platform, Threads};

use crate::any::{AnyMutex, any};
use crate::clock::{Anchor, opaque};
use crate::schedstat::Account;
use crate::system;
use crate::team::{self, TeamError, TeamSetting, Until};
use crate::work::Work;
use crate::workload::guarded::Guarded;
use crate::workload::{NoLock, Subject};

/// How a run is made.
#[derive(Clone, Debug)]
pub struct Course {
    /// The threads.
    pub team: TeamSetting,
    /// Pairs of each thread.
    pub pairs: u32,
    /// Work in the section.
    pub section: Work,
    /// Work between an unlock and the next lock.
    pub outside: Work,
    /// The time after which an unfinished run is stopped.
    pub longest_run: std::time::Duration,
}

/// The stamps of a pair, in ticks.
#[derive(Clone, Copy, Default)]
pub struct Stamps {
    /// Just before the call that locks.
    pub wanted: u64,
    /// The first thing in the section.
    pub acquired: u64,
    /// The last thing in the section.
    pub released: u64,
    /// Just after the call that unlocks.
    pub freed: u64,
    /// The CPU in the section.
    pub cpu: u32,
}

/// What one thread recorded.
#[derive(Default)]
pub struct Recorded {
    /// The kernel's number of the thread.
    pub kernel_id: i32,
    /// Its pairs in their order.
    pub stamps: Vec<Stamps>,
    /// What the kernel charged it from `begin` to `end`.
    pub account: Account,
    /// Just before its first pair.
    pub begin: Anchor,
    /// Just after its last pair.
    pub end: Anchor,
    /// The run was stopped before this thread had made all its pairs.
    pub cut: bool,
}

impl Subject {
    /// Makes one run with this mutex and returns the record of each thread.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the lock is no mutex of the real machine or gets stuck, or the threads
    /// cannot be made.
    pub fn record(&self, course: &Course) -> Result<Vec<Recorded>, TeamError> {
        let refused =
            || TeamError::Refused("only mutexes of the real machine are traced".to_owned());
        record(self.calls.ok_or_else(refused)?, course)
    }
}

fn record(lock: AnyMutex<Native>, course: &Course) -> Result<Vec<Recorded>, TeamError> {
    let lock = Arc::new(Guarded::<Native, ()>::new(lock, ()));
    let Course { pairs, section, outside, .. } = *course;
    let until = Until::Finished(course.longest_run);
    let outcome = team::run::<Native, _>(&course.team, until, move |member| {
        let mut context = lock.context();
        // Written before the start, so that no page fault falls into the run.
        let mut stamps = vec![Stamps { cpu: u32::MAX, ..Stamps::default() }; pairs as usize];
        let kernel_id = system::thread_number();
        member.start()?;
        let before = Account::of_this_thread();
        let begin = Anchor::take();
        let mut made = 0;
        for stamp in &mut stamps {
            if member.stopped() {
                break;
            }
            let wanted = Native::ticks();
            let (acquired, cpu, released) = lock.with(&mut context, |_| {
                let acquired = Native::ticks();
                let cpu = Native::cpu();
                section.perform();
                (acquired, cpu, Native::ticks())
            });
            let freed = Native::ticks();
            *stamp = Stamps { wanted, acquired, released, freed, cpu };
            made += 1;
            member.done(made);
            outside.perform();
        }
        let end = Anchor::take();
        let account = Account::of_this_thread().since(before);
        let cut = made < u64::from(pairs);
        stamps.truncate(made as usize);
        Some(Recorded { kernel_id, stamps, account, begin, end, cut })
    })?;
    Ok(outcome.results)
}

/// The nanoseconds that stamping adds to a pair: measured on one thread by the loop around the lock
/// that does nothing, with and without stamps.
///
/// # Errors
///
/// [`TeamError`] if no thread can be created, or the measurement was cancelled.
pub fn cost(course: &Course) -> Result<f64, TeamError> {
    let scale = crate::clock::TickScale::get();
    let alone = Course {
        team: TeamSetting { threads: 1, ..course.team.clone() },
        section: Work::of_nanos(0),
        outside: Work::of_nanos(0),
        ..course.clone()
    };
    let mut least = f64::INFINITY;
    // The fastest of several: interruptions only ever make it slower.
    for _ in 0..5 {
        for recorded in record(any::<Native, NoLock>(), &alone)? {
            if let (Some(first), Some(last)) = (recorded.stamps.first(), recorded.stamps.last()) {
                let pairs = recorded.stamps.len().saturating_sub(1).max(1) as f64;
                least = least.min(scale.between(first.wanted, last.wanted) / pairs);
            }
        }
    }
    let bare =
        team::run::<Native, _>(&alone.team, Until::Finished(alone.longest_run), move |member| {
            member.start()?;
            let pairs = u64::from(alone.pairs.max(1));
            let mut least = f64::INFINITY;
            for _ in 0..5 {
                let start = Native::ticks();
                for made in 1..=pairs {
                    if member.stopped() {
                        break;
                    }
                    opaque();
                    member.done(made);
                }
                least = least.min(scale.between(start, Native::ticks()) / pairs as f64);
            }
            Some(least)
        })?;
    Ok((least - bare.results.first().copied().unwrap_or(0.0)).max(0.0))
}
