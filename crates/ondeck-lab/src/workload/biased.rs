//! `biased`: one thread acquires the lock nearly always, another now and then.
//!
//! After a given number of its sections the owner grants the other thread one. The other polls a line that the
//! owner writes only then, so that polling does not disturb the owner. If the other thread cannot keep up, its
//! part is smaller than requested; the table shows it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::prelude::*;

pub(super) struct Biased;

/// The number of the owner's sections before each one of the other thread; 0: the other has none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Every(u64);

impl Every {
    /// The values that this workload measures: 0, 0.001, 0.1, 1 and 10 % of all sections.
    const ALL: [Self; 5] = [Self(0), Self(100_000), Self(1_000), Self(100), Self(10)];

    fn percent(self) -> String {
        if self.0 == 0 { "0".to_owned() } else { (100.0 / self.0 as f64).to_string() }
    }
}

/// The thread that acquires the lock nearly always.
const OWNER: usize = 0;

/// The data that the lock guards. Atomic, so that without a working lock no memory is corrupted.
struct Guarded<L> {
    lock: L,
    count: AtomicU64,
}

impl Workload for Biased {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "biased",
        title: "One thread almost always",
        about: "One thread has the lock almost always, another now and then",
        locks: Group::Biased,
        empty: EmptyLock::OF_TWO_ROLES,
        shares_data: true,
        quantities: &[OWNER_PAIR, VISIT_P50, VISIT_P99, VISITS],
        table: Table::Quantities {
            heading: "one thread almost always, another now and then; {}",
            columns: &[
                Column("M/s", THROUGHPUT, Shown::Millions),
                Column("owner", OWNER_PAIR, Shown::Time),
                Column("p50", VISIT_P50, Shown::Time),
                Column("p99", VISIT_P99, Shown::Time),
                Column("visits", VISITS, Shown::Significant),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
            ],
            note: "owner: its pair; p50, p99: the other thread's waits; visits: its part",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = Every;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Every>>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(8, 1), (40, 3), (500, 11)]);
        let works = by(asked.extent, &[ALONE][..], &[ALONE], &[ALONE, PROGRAM]);
        let works = asked.work.map_or(works.to_vec(), |work| vec![work]);
        let parts = by(asked.extent, &Every::ALL[2..4], &Every::ALL[..], &Every::ALL[..]);
        let of = |work, every: Every| {
            Situation::working(2, work).with(every, [(param::VISITS, every.percent())])
        };
        (rounds, product(&works, parts, of))
    }

    fn round<M: Machine, L: RawLock<M>>(given: &Round, &every: &Every) -> Sampled {
        let (section, outside) = (given.section, given.outside);
        let guarded = Apart(Guarded { lock: L::new(), count: AtomicU64::new(0) });
        let shared = (guarded, Apart(AtomicU64::new(0)));
        let (shared, outcome) =
            given.timed::<M, _, _>(shared, move |member, (Apart(guarded), Apart(called))| {
                let context = L::Context::default();
                let mut waits = Times::new::<M>();
                member.start()?;
                if member.index == OWNER {
                    let mut left = every.0;
                    let own = || pair::<M, L>(guarded, &context, section, false);
                    member.repeat(own, |_| {
                        M::perform(outside);
                        left = left.wrapping_sub(1);
                        if left == 0 {
                            left = every.0;
                            called.store(called.load(Relaxed) + 1, Relaxed);
                        }
                    });
                    return Some(waits);
                }
                let mut pairs = 0;
                while !member.stopped() {
                    if called.load(Relaxed) <= pairs {
                        M::pause();
                        continue;
                    }
                    let before = M::ticks();
                    let has_it = pair::<M, L>(guarded, &context, section, true);
                    pairs += 1;
                    member.done(pairs);
                    waits.record(has_it.saturating_sub(before));
                }
                Some(waits)
            })?;
        audit::balance("sections", shared.0.0.count.load(Relaxed), outcome.total_pairs())?;
        Ok(sample(&outcome))
    }
}

fn sample(outcome: &Outcome<Times>) -> Sample {
    let all = 0..outcome.pairs.len();
    let mut sample = Sample::of_roles(outcome, all, &[]);
    let window = outcome.window.as_secs_f64();
    let owner = outcome.window_pairs[OWNER];
    let sections: u64 = outcome.window_pairs.iter().sum();
    // An owner that never ran has no result.
    if owner > 0 {
        let visits = (sections - owner) as f64 / sections as f64;
        sample.values.splice(1..1, [(OWNER_PAIR, window * 1e9 / owner as f64), (VISITS, visits)]);
    }
    if let Some(waits) = outcome.results.get(1).filter(|waits| !waits.is_empty()) {
        sample.values.splice(2..2, [(VISIT_P50, waits.at(0.5)), (VISIT_P99, waits.at(0.99))]);
    }
    sample
}

/// Runs a section. Returns when the thread acquired the lock, in ticks, if requested. Inlined into the loops of
/// both threads, as a fast path is in a program.
#[inline(always)]
fn pair<M: Machine, L: RawLock<M>>(
    guarded: &Guarded<L>,
    context: &L::Context,
    section: Work,
    asks: bool,
) -> u64 {
    let Guarded { lock, count } = guarded;
    // SAFETY: the context stays where it is until the unlock and serves this acquisition alone.
    unsafe { lock.lock(context) };
    let has_it = if asks { M::ticks() } else { 0 };
    M::touch(count, true);
    count.store(count.load(Relaxed) + 1, Relaxed);
    M::perform(section);
    // SAFETY: locked above with this context.
    unsafe { lock.unlock(context) };
    has_it
}
