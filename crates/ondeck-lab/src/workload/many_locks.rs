//! `many_locks`: an array of locks, of which each thread locks a random one again and again.
//!
//! Nobody waits for long where there are many locks; what shows instead is the memory that they
//! take. Each lock guards a counter, as each lock of a program guards something. Side by side,
//! several small locks share a cache line, and threads disturb each other at locks that they do not
//! share; padded to lines of their own they do not, but fewer of them fit into a cache.

use std::sync::Arc;

use fastrand::Rng;
use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::guarded::Guarded;
use super::{Apart, EmptyLock, Situation, Workload, WorkloadInfo, audit};
use crate::sample::{FOOTPRINT, Sample};
use crate::team::{self, TeamError, Until};

pub(super) struct ManyLocks;

/// A lock and its counter.
type Slot<L> = Guarded<L, u32>;

impl Workload for ManyLocks {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "many_locks",
        about: "Pairs a second at random locks of an array, and its memory",
        source: "the hashed lock arrays of kernels and databases; sizes as in Rust's parking_lot",
        counted: false,
        empty: EmptyLock::OneThread,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        if situation.variant == "padded" {
            round::<L, Apart<Slot<L>>>(situation, Apart, |slot| &slot.0)
        } else {
            round::<L, Slot<L>>(situation, |slot| slot, |slot| slot)
        }
    }
}

/// A round with slots that are kept as `S`.
fn round<L: RawLock<Linux>, S: Send + Sync + 'static>(
    situation: &Situation,
    keep: impl Fn(Slot<L>) -> S,
    slot_of: impl Fn(&S) -> &Slot<L> + Copy + Send + Sync + 'static,
) -> Result<Sample, TeamError> {
    let count = situation.capacity.max(1);
    let slots: Arc<[S]> = (0..count).map(|_| keep(Guarded::new(0))).collect();
    let (section, outside) = (situation.section, situation.outside);
    let shared = Arc::clone(&slots);
    let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
        let mut context = L::Context::default();
        // The same locks for every kind of lock.
        let mut rng = Rng::with_seed(member.index as u64);
        if !member.start() {
            return;
        }
        let mut pairs = 0;
        while !member.stopped() {
            slot_of(&shared[rng.usize(0..count)]).with(&mut context, |counter| {
                **counter = counter.wrapping_add(1);
                section.perform();
            });
            pairs += 1;
            member.done(pairs);
            outside.perform();
        }
    })?;
    let mut context = L::Context::default();
    let guarded = slots.iter().fold(0_u32, |sum, slot| {
        sum.wrapping_add(slot_of(slot).with(&mut context, |counter| **counter))
    });
    audit::balance(
        "acquisitions",
        u64::from(guarded),
        outcome.total_pairs() & u64::from(u32::MAX),
    )?;
    let mut sample = Sample::of_outcome(&outcome);
    sample.values.push((FOOTPRINT, (count * size_of::<S>()) as f64));
    Ok(sample)
}
