//! `collision`: the cost of a pair for a thread whose lock no other thread wants, while other
//! threads are parked at another lock of the same kind.
//!
//! A lock that contains its queue is not affected. Locks whose waiters are parked in one table can
//! be: two of them may share a bucket, and then an unlock of the one meets the traces of the
//! other's waiters. So the two locks here are two elements of an array that share a bucket of
//! `ondeck`'s parking table. Other locks use the same two elements, whether or not their place has
//! any effect.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, Ordering};

use super::prelude::*;
use super::uncontended::time_pairs_of;
use super::waiters_sleep;

pub(super) struct Collision;

/// Locks of the array: more than the table has buckets, so that two of them must share one.
const LOCKS: usize = 4_096;

/// The thread that times pairs.
const TIMER: usize = 0;

/// Threads that are parked while one times its pairs.
const PARKED: [usize; 5] = [0, 1, 100, 1_000, 4_000];

/// How long the threads may take to be parked: a thousand times the usual time here.
fn time_to_park(parked: usize) -> Duration {
    Duration::from_secs(5) + Duration::from_millis(10) * parked as u32
}

/// The interval of checks whether all threads are parked.
const ASKING: Duration = Duration::from_millis(1);

impl Workload for Collision {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "collision",
        title: "Beside a crowded lock",
        about: "Cost of a pair while threads are parked at another lock",
        needs: Needs::SleepingWaiters,
        quantities: &[PAIR],
        judged: Judged::By(PAIR),
        table: Table::Threads(Threads {
            heading: "ns for lock + unlock by threads parked at another lock",
            quantity: (PAIR, 1.0),
            others: 1,
            role: "parked",
            most: 6,
            extras: &[
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "CPU time per pair, CPUs that the one thread kept busy",
        }),
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        // One thread times its pairs, so there are no shares, however long a round is.
        let rounds = Rounds::of(asked, Shares::Never, [(2, 2), (4, 2), (50, 11)]);
        let with_timer =
            |parked: &[usize]| -> Vec<usize> { parked.iter().map(|one| one + 1).collect() };
        let counts =
            counts(asked, &with_timer(&PARKED[..3]), &with_timer(&PARKED), &with_timer(&PARKED));
        (rounds, counts.into_iter().map(Situation::plain).collect())
    }

    fn round<M: Machine, L: RawLock<M>>(given: &Round, (): &()) -> Sampled {
        let parked = given.team.threads - 1;
        if parked > 0 && !waiters_sleep(&L::INFO) {
            let name = L::INFO.name;
            return Err(TeamError::Refused(format!(
                "a thread that waits for {name} is never parked; choose locks of the group `sleeping`"
            )));
        }
        let locks: Arc<[Apart<L>]> = (0..LOCKS).map(|_| Apart(L::new())).collect();
        let (quiet, crowded) = colliding::<M, _>(&locks).ok_or_else(|| {
            TeamError::Refused("no two locks of the array share a bucket".to_owned())
        })?;
        let ids: Arc<[AtomicI32]> = (0..parked).map(|_| AtomicI32::new(0)).collect();
        let round = given.length;
        let outcome =
            team::run::<M, _>(&given.team, Until::Finished(Duration::MAX), move |member| {
                let context = L::Context::default();
                if member.index != TIMER {
                    member.start()?;
                    // Published after the start, at which threads also sleep.
                    ids[member.index - 1].store(M::thread_number(), Ordering::Release);
                    pair::<M, L>(&locks[crowded].0, &context);
                    member.done(1);
                    return Some(None);
                }
                // SAFETY: the context stays here until the unlock and serves this acquisition
                // alone.
                unsafe { locks[crowded].0.lock(&context) };
                let timed = (member.start().is_some() && await_parked(member, &ids)).then(|| {
                    time_pairs_of::<M, L>(&locks[quiet].0, round, |pairs| {
                        member.done(pairs);
                        !member.stopped()
                    })
                });
                // SAFETY: locked above with this context.
                unsafe { locks[crowded].0.unlock(&context) };
                Some(timed)
            })?;
        let timed: Option<&Pairs> = outcome.results[TIMER].as_ref();
        timed.map(Sample::of_pairs).ok_or_else(|| {
            TeamError::Refused(format!(
                "not all of {parked} threads were parked within {:?}",
                time_to_park(parked)
            ))
        })
    }
}

fn pair<M: Machine, L: RawLock<M>>(lock: &L, context: &L::Context) {
    // SAFETY: the context serves this acquisition alone, and stays until the unlock.
    unsafe {
        lock.lock(context);
        lock.unlock(context);
    }
}

/// Two elements of the array that the parking table keeps in the same bucket.
fn colliding<M: Machine, T>(locks: &[T]) -> Option<(usize, usize)> {
    let mut places = HashMap::new();
    locks.iter().enumerate().find_map(|(place, lock)| {
        let bucket: *const _ = M::bucket(&raw const *lock as usize);
        let earlier = places.insert(bucket, place)?;
        Some((earlier, place))
    })
}

/// Waits until all of these threads are parked; returns false if they take too long, or the team
/// stops.
fn await_parked<M: Machine>(member: &Member<M>, ids: &[AtomicI32]) -> bool {
    let begin = M::now();
    // Checking a thread costs several microseconds, so a thread that was seen parked is checked
    // again only after all have been; the check starts with the last one found awake.
    let parked = |from: usize| {
        ids[from..].iter().take_while(|id| M::is_parked(id.load(Ordering::Acquire))).count()
    };
    let mut seen = 0;
    loop {
        seen += parked(seen);
        // A thread that was seen parked may have been woken since: all must be parked at the same
        // time.
        if seen == ids.len() {
            seen = parked(0);
        }
        if seen == ids.len() {
            return true;
        }
        if member.stopped() || M::now().since(begin) > time_to_park(ids.len()) {
            return false;
        }
        // Until then, parked threads count as the team's progress.
        member.done(seen as u64);
        M::sleep(ASKING);
    }
}

#[cfg(test)]
mod tests {
    use ondeck::parking::bucket_of;
    use ondeck::platform::Native;

    use super::*;

    #[test]
    fn two_locks_of_the_array_share_a_bucket() {
        let locks: Vec<Apart<u8>> = (0..LOCKS).map(|_| Apart(0)).collect();
        let (one, other) =
            colliding::<Native, _>(&locks).expect("there are more locks than buckets");
        assert_ne!(one, other);
        let bucket = |place: usize| bucket_of(&raw const locks[place] as usize);
        assert_eq!(bucket(one), bucket(other));
        assert_eq!(colliding::<Native, _>(&locks[..1]), None);
    }
}
