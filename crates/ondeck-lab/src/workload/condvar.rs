//! `condvar`: a job server that signals its workers, again and again.
//!
//! After glibc's test `tst-cond18`, whose loop the source counts the wakeups of: the server draws a
//! number of jobs and signals as many workers, or once in thirty times all of them, while it holds
//! the mutex; a worker takes one job at a time. Nobody does anything else, so what is counted is who
//! gets the mutex back as much as what a signal costs: the server's own loops are reported beside
//! the wakeups.

use std::cell::UnsafeCell;
use std::sync::Arc;

use fastrand::Rng;
use ondeck::platform::Linux;
use ondeck_zoo::{RawCondvar, RawLock};

use super::{Apart, Situation, Workload, WorkloadInfo};
use crate::sample::{SERVER_LOOPS, Sample};
use crate::team::{self, Member, TeamError, Until};

pub(super) struct Condvar;

impl Workload for Condvar {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "condvar",
        about: "Wakeups a second of workers that a job server signals",
        source: "Lockless Inc., Mutexes and Condition Variables using Futexes; glibc's tst-cond18",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let server = Arc::new(Server::<L> {
            lock: Apart(L::new()),
            jobs: Apart(<L::Condvar as RawCondvar<Linux, L>>::new()),
            state: UnsafeCell::new(State::default()),
        });
        let workers = situation.team.threads - 1;
        let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
            if !member.start() {
                return;
            }
            if member.index == 0 {
                server.serve(member, workers);
            } else {
                server.work(member);
            }
        })?;
        let mut sample = Sample::of_members(&outcome, |thread| thread != 0);
        let loops = outcome.window_pairs[0] as f64 / outcome.window.as_secs_f64();
        sample.values.insert(1, (SERVER_LOOPS, loops));
        Ok(sample)
    }
}

struct Server<L: RawLock<Linux>> {
    lock: Apart<L>,
    jobs: Apart<L::Condvar>,
    state: UnsafeCell<State>,
}

// SAFETY: the state is only touched by the owner of the lock.
unsafe impl<L: RawLock<Linux>> Sync for Server<L> {}
// SAFETY: two numbers, and a lock and a condition variable, which are `Send`.
unsafe impl<L: RawLock<Linux>> Send for Server<L> {}

#[derive(Default)]
struct State {
    jobs: usize,
    exiting: bool,
}

impl<L: RawLock<Linux>> Server<L> {
    fn serve(&self, member: &Member, workers: usize) {
        /// One signal in so many goes to all.
        const BROADCAST: usize = 30;
        let context = L::Context::default();
        let mut rng = Rng::with_seed(1);
        let mut loops = 0;
        while !member.stopped() {
            let jobs = rng.usize(0..=workers);
            // SAFETY: the context stays here until the unlock and serves this acquisition alone;
            // the state is touched between lock and unlock only.
            unsafe {
                self.lock.0.lock(&context);
                (*self.state.get()).jobs = jobs;
                if rng.usize(0..BROADCAST) == 0 {
                    self.jobs.0.notify_all();
                } else {
                    for _ in 0..jobs {
                        self.jobs.0.notify_one();
                    }
                }
                self.lock.0.unlock(&context);
            }
            loops += 1;
            member.done(loops);
        }
        // SAFETY: as above.
        unsafe {
            self.lock.0.lock(&context);
            (*self.state.get()).exiting = true;
            self.jobs.0.notify_all();
            self.lock.0.unlock(&context);
        }
    }

    fn work(&self, member: &Member) {
        let context = L::Context::default();
        let mut wakeups = 0;
        loop {
            // SAFETY: as in `serve`; no reference to the state lives across a wait.
            unsafe {
                self.lock.0.lock(&context);
                while (*self.state.get()).jobs == 0 && !(*self.state.get()).exiting {
                    self.jobs.0.wait(&self.lock.0, &context);
                }
                let state = &mut *self.state.get();
                let exiting = state.exiting;
                state.jobs = state.jobs.saturating_sub(1);
                self.lock.0.unlock(&context);
                if exiting {
                    return;
                }
            }
            wakeups += 1;
            member.done(wakeups);
        }
    }
}
