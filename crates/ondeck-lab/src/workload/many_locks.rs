//! `many_locks`: an array of locks, of which each thread repeatedly locks a random one.
//!
//! With many locks no thread waits for long; their memory shows instead. Each lock guards a counter, as
//! each lock of a program guards something. Small locks that are adjacent share a cache line, and threads
//! disturb each other at locks that they do not share. Padded to separate lines they do not, but fewer of
//! them fit into a cache.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use fastrand::Rng;
use ondeck_zoo::RawLock;

use super::face::{Across, Judged, Shelf, Table};
use super::situation::{ALONE, Rounds, by, counts};
use super::{
    Apart, Asked, EmptyLock, Round, Schedule, Situation, Workload, WorkloadInfo, audit, param,
};
use crate::any::Memory;
use crate::machine::Machine;
use crate::sample::{FOOTPRINT, Sample, THROUGHPUT};
use crate::team::{self, TeamError, Until};
use crate::work::Work;

pub(super) struct ManyLocks;

/// A lock and its counter. Atomic, so that without a working lock no memory is corrupted.
struct Slot<L> {
    lock: L,
    counter: AtomicU32,
}

impl<L> Slot<L> {
    #[inline(always)]
    fn add<M: Machine>(&self, context: &mut L::Context, section: Work)
    where
        L: RawLock<M>,
    {
        let (Self { lock, counter }, context) = (self, &*context);
        // SAFETY: the exclusive borrow keeps the context in place and out of other uses until the unlock.
        unsafe { lock.lock(context) };
        M::touch(counter, false);
        let count = counter.load(Relaxed);
        M::touch(counter, true);
        counter.store(count.wrapping_add(1), Relaxed);
        M::perform(section);
        // SAFETY: locked above with this context.
        unsafe { lock.unlock(context) };
    }
}

/// Values one after the other, the first one at the beginning of a cache line: which of them share a line is not left to
/// the allocator, whose choice differs between two runs.
struct Lines<S> {
    memory: Memory,
    count: usize,
    of: PhantomData<S>,
}

impl<S> Lines<S> {
    fn new(count: usize, make: impl Fn() -> S) -> Self {
        let memory = Memory::of(Layout::array::<S>(count).expect("an array that fits into memory"));
        let mut lines = Self { memory, count: 0, of: PhantomData };
        while lines.count < count {
            // SAFETY: the place is within the memory, and aligned, because the memory is as for this array.
            unsafe { lines.start().add(lines.count).write(make()) };
            lines.count += 1;
        }
        lines
    }

    fn start(&self) -> *mut S {
        self.memory.at(0).cast()
    }
}

impl<S> Deref for Lines<S> {
    type Target = [S];

    fn deref(&self) -> &[S] {
        // SAFETY: `new` has written `count` values, and the slice is borrowed from `self`, which owns them.
        unsafe { slice::from_raw_parts(self.start(), self.count) }
    }
}

impl<S> Drop for Lines<S> {
    fn drop(&mut self) {
        // SAFETY: `new` has written `count` values, and no reference to them outlives `self`.
        unsafe { ptr::slice_from_raw_parts_mut(self.start(), self.count).drop_in_place() };
    }
}

// SAFETY: it owns its values, as a boxed slice does.
unsafe impl<S: Send> Send for Lines<S> {}

// SAFETY: a shared reference gives shared references of the values only.
unsafe impl<S: Sync> Sync for Lines<S> {}

/// The number of locks of an array: few, so that threads meet; and as many as fill a first-level cache
/// with a cache line each.
const LOCKS: [usize; 2] = [16, 512];

/// The same for a long campaign: also more than a second-level cache holds.
const MORE_LOCKS: [usize; 4] = [16, 512, 8_192, 131_072];

/// The number of locks, and whether each has its own cache lines.
#[derive(Clone, Copy)]
pub(super) struct Array {
    locks: usize,
    padded: bool,
}

impl Workload for ManyLocks {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "many_locks",
        title: "Many locks",
        about: "Pairs a second at random locks of an array, and its memory",
        source: "the hashed lock arrays of kernels and databases; sizes as in Rust's parking_lot",
        lead: "An array of locks, of which each thread locks a random one. No thread waits for long; \
             what shows is the memory that the locks take, and the cache lines that they share.",
        cannot_show: "a program whose data is larger than the locks. With 2 CPUs two threads seldom meet.",
        empty: EmptyLock::OneThread,
        shares_data: true,
        quantities: &[FOOTPRINT],
        judged: Judged::By(THROUGHPUT),
        shelf: Shelf::Programs,
        table: Table::Situations(&[
            Across {
                heading: "million pairs/s by locks; {} threads",
                quantity: (THROUGHPUT, 1e-6),
                label,
            },
            Across {
                heading: "KiB of locks and what they guard",
                quantity: (FOOTPRINT, 1.0 / 1024.0),
                label,
            },
        ]),
        ..WorkloadInfo::USUAL
    };

    type Own = Array;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Array>>) {
        let rounds = Rounds::by(
            asked.extent,
            Rounds::of_millis(20, 1).short(),
            Rounds::of_millis(40, 2),
            Rounds::of_millis(1_000, 11),
        );
        let sizes: &[usize] = by(asked.extent, &LOCKS[1..], &LOCKS, &MORE_LOCKS);
        let counts = counts(asked, &[2], &[2 * asked.cpus], &[1, 2, 8, 32]);
        let work = asked.work.unwrap_or(ALONE);
        let mut situations = Vec::new();
        for &locks in sizes {
            for padded in [false, true] {
                let named = if padded { param::YES } else { param::NO };
                situations.extend(counts.iter().map(|&threads| {
                    let params =
                        [(param::LOCKS, locks.to_string()), (param::PADDED, named.to_owned())];
                    Situation::working(threads, work).with(Array { locks, padded }, params)
                }));
            }
        }
        (rounds, situations)
    }

    fn round<M: Machine, L: RawLock<M>>(given: &Round, own: &Array) -> Result<Sample, TeamError> {
        if own.padded {
            round::<M, L, Apart<Slot<L>>>(given, own.locks, Apart, |slot| &slot.0)
        } else {
            round::<M, L, Slot<L>>(given, own.locks, |slot| slot, |slot| slot)
        }
    }
}

/// The heading of an array's column.
fn label(params: &BTreeMap<String, String>) -> String {
    let of = |name: &str| params.get(name).map_or("", String::as_str);
    let padded = if of(param::PADDED) == param::YES { " padded" } else { "" };
    format!("{}{padded}", of(param::LOCKS))
}

/// A round whose slots are stored as `S`.
fn round<M: Machine, L: RawLock<M>, S: Send + Sync + 'static>(
    given: &Round,
    count: usize,
    keep: impl Fn(Slot<L>) -> S,
    slot_of: impl Fn(&S) -> &Slot<L> + Copy + Send + Sync + 'static,
) -> Result<Sample, TeamError> {
    let slot = || Slot { lock: L::new(), counter: AtomicU32::new(0) };
    let slots = Arc::new(Lines::new(count, || keep(slot())));
    let (section, outside) = (given.section, given.outside);
    let shared = Arc::clone(&slots);
    let outcome = team::run::<M, _>(&given.team, Until::Elapsed(given.length), move |member| {
        let mut context = L::Context::default();
        // The same locks for every kind of lock.
        let mut rng = Rng::with_seed(member.index as u64);
        if !member.start() {
            return;
        }
        let mut pairs = 0;
        while !member.stopped() {
            slot_of(&shared[rng.usize(0..count)]).add::<M>(&mut context, section);
            pairs += 1;
            member.done(pairs);
            M::perform(outside);
        }
    })?;
    let guarded =
        slots.iter().fold(0_u32, |sum, slot| sum.wrapping_add(slot_of(slot).counter.load(Relaxed)));
    audit::balance(
        "acquisitions",
        u64::from(guarded),
        outcome.total_pairs() & u64::from(u32::MAX),
    )?;
    let mut sample = Sample::of_outcome(&outcome);
    sample.values.push((FOOTPRINT, (count * size_of::<S>()) as f64));
    Ok(sample)
}
