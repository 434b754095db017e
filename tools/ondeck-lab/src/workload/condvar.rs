//! `condvar`: a server that hands out jobs and wakes workers as fast as it can.
//!
//! This is glibc's test tst-cond18, with which Lockless measure their condition variables. In every
//! loop the server replaces the number of pending jobs by a random one, and signals that many
//! times; once in thirty loops, at random, it broadcasts instead. A worker waits until a job is
//! pending and takes it. The next loop withdraws the jobs that no worker took, so the server never
//! waits.
//!
//! The source's server signals inside the critical section. The other variant signals after the
//! unlock.

use fastrand::Rng;

use super::prelude::*;

pub(super) struct Condvar;

/// What the server and its workers share.
#[derive(Default)]
struct Jobs {
    pending: usize,
    exiting: bool,
    /// The jobs ever given, and the jobs that no worker took.
    given: u64,
    withdrawn: u64,
}

/// The only condition: jobs are pending, or all threads have to leave.
const NEWS: usize = 0;

/// The source broadcasts once in this number of loops.
const BROADCAST_ODDS: u32 = 30;

impl Called for Condvar {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "condvar",
        title: "Condition variable",
        about: "Wakeups a second of workers that a server signals",
        empty: EmptyLock::OF_TWO_ROLES,
        shares_data: true,
        notifies: true,
        quantities: &[SERVER_LOOPS],
        table: Table::Threads(Threads {
            heading: "thousand wakeups/s by workers; tst-cond18",
            quantity: (THROUGHPUT, 1e-3),
            others: 1,
            role: "workers",
            most: 5,
            extras: &[
                Column("server", SERVER_LOOPS, Shown::Thousands),
                Column("share", SHARE, Shown::Ratio),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "server (thousand loops/s), share, CPU time per wakeup, CPUs busy",
        }),
        ..WorkloadInfo::USUAL
    };

    type Own = Notify;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Notify>>) {
        let rounds = Rounds::of(asked, Shares::FromSuite, [(50, 1), (40, 3), (2_000, 11)]);
        // One of them is the server.
        let counts = counts_of_two(asked, &[3, 9], &[2, 9], &[2, 3, 5, 9, 17, 33, 65]);
        let of = |threads, notify: Notify| Situation::plain(threads).with(notify, notify.param());
        (rounds, product(&counts, &moments(asked), of))
    }

    fn round<M: Machine>(given: &Round, own: &Notify, lock: AnyMutex<M>) -> Sampled {
        let workers = given.team.threads - 1;
        let after = *own == Notify::After;
        let jobs = Guarded::<M, Jobs, 1>::new(lock, Jobs::default());
        let (shared, outcome) = given.timed::<M, _, _>(jobs, move |member, jobs| {
            member.start()?;
            if member.index == 0 {
                serve(member, jobs, workers, after);
            } else {
                work(member, jobs);
            }
            Some(())
        })?;
        let taken: u64 = outcome.pairs[1..].iter().sum();
        let (given, left) = shared
            .with(&mut shared.context(), |jobs| (jobs.given, jobs.withdrawn + jobs.pending as u64));
        audit::balance("jobs", given, taken + left)?;
        Ok(sample(&outcome))
    }
}

fn serve<M: Machine>(member: &Member<M>, jobs: &Guarded<M, Jobs, 1>, workers: usize, after: bool) {
    let mut context = jobs.context();
    // The same numbers for every lock.
    let mut rng = Rng::with_seed(18);
    let hand_out = || {
        let (count, broadcast) = jobs.with(&mut context, |jobs| {
            let count = rng.usize(0..=workers);
            jobs.withdrawn += jobs.pending as u64;
            jobs.given += count as u64;
            jobs.pending = count;
            let broadcast = rng.u32(0..BROADCAST_ODDS) == 0;
            if !after {
                tell(jobs.guarded(), count, broadcast);
            }
            (count, broadcast)
        });
        if after {
            tell(jobs, count, broadcast);
        }
    };
    member.repeat(hand_out, |()| ());
    jobs.with(&mut context, |jobs| {
        jobs.exiting = true;
        jobs.notify_all(NEWS);
    });
}

/// Wakes as many workers as there are jobs, or all of them.
fn tell<M: Machine>(jobs: &Guarded<M, Jobs, 1>, count: usize, broadcast: bool) {
    if broadcast {
        jobs.notify_all(NEWS);
    } else {
        for _ in 0..count {
            jobs.notify_one(NEWS);
        }
    }
}

fn work<M: Machine>(member: &Member<M>, jobs: &Guarded<M, Jobs, 1>) {
    let mut context = jobs.context();
    let mut wakeups = 0;
    loop {
        let job = jobs.with(&mut context, |jobs| {
            while jobs.pending == 0 && !jobs.exiting {
                jobs.wait(NEWS);
            }
            let job = !jobs.exiting;
            jobs.pending -= usize::from(job);
            job
        });
        if !job {
            return;
        }
        wakeups += 1;
        member.done(wakeups);
    }
}

fn sample(outcome: &Outcome<()>) -> Sample {
    let workers = 1..outcome.pairs.len();
    let mut sample = Sample::of_roles(outcome, workers.clone(), &[workers]);
    let loops = outcome.window_pairs[0] as f64 / outcome.window.as_secs_f64();
    sample.values.insert(1, (SERVER_LOOPS, loops));
    sample
}
