//! The barrier: rounds are separate, with one leader each; deadlines; and the end of its memory.

use ondeck::Barrier;
use ondeck::platform::Platform;

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explored};

/// A barrier, and a cell that the threads write in turn, one in each round.
type Shared = Guarded<Barrier<Loom>>;

impl Shared {
    fn new(total: u32) -> &'static Self {
        Self::of(Barrier::on_platform(total))
    }

    fn leads(&self) -> bool {
        self.raw().wait().is_leader()
    }

    /// Runs two rounds, and writes in the round of this number. Returns the number of times that it
    /// was the leader.
    fn rounds(&self, own: u32) -> u32 {
        let leader = (0..2).map(|round| {
            if round == own {
                self.count();
            }
            u32::from(self.leads())
        });
        leader.sum()
    }
}

fn two_rounds() {
    let shared = Shared::new(2);
    let other = spawn(|| shared.rounds(0));
    let leads = shared.rounds(1);
    assert_eq!(leads + join(other), 2, "each round has one leader");
    shared.count();
    shared.free();
}

fn three_threads() {
    let shared = Shared::new(3);
    let [first, second] = [0; 2].map(|_| spawn(|| shared.leads()));
    let leads = [shared.leads(), join(first), join(second)];
    assert_eq!(leads.iter().filter(|leads| **leads).count(), 1);
    shared.free();
}

/// Loom cannot run a thread that is not joined, so one thread always frees it, and the other is
/// still in its wait in some executions.
fn freed() {
    let shared = Shared::new(2);
    let other = spawn(|| shared.leads());
    shared.leads();
    shared.free();
    join(other);
}

fn deadline() {
    let shared = Shared::new(2);
    let clock = spawn(|| pass_time(1));
    let hurried = spawn(|| shared.raw().wait_by(SOON).is_some());
    while ondeck::parking::waiting::<Loom>(shared.address()) == 0 && Loom::now() < SOON {
        Loom::yield_now();
    }
    let met = shared.raw().wait_by(SOON).is_some();
    assert_eq!(join(hurried), met, "both have met, or none");
    join(clock);
    shared.free();
}

/// One thread arrives and works on before it waits; in the next round both wait at once.
fn ahead() {
    let shared = Shared::new(2);
    let other = spawn(|| {
        shared.count();
        let (round, is_last) = shared.raw().arrive_ahead(1);
        if is_last {
            shared.raw().end();
        }
        shared.raw().wait_for_end(round);
        shared.leads()
    });
    shared.leads();
    shared.count();
    let leads = shared.leads();
    assert_ne!(leads, join(other), "the next round has one leader");
    shared.free();
}

/// One thread leaves, and the other one goes on alone.
fn leaving() {
    let shared = Shared::new(2);
    let other = spawn(|| {
        shared.count();
        if shared.raw().leave() {
            shared.raw().end();
        }
    });
    shared.leads();
    shared.count();
    assert!(shared.leads(), "it is alone");
    join(other);
    shared.free();
}

/// The leader works while the other one still waits.
fn leader_first() {
    let shared = Shared::new(2);
    let meets = || {
        let is_leader = shared.raw().meet().is_leader();
        shared.count();
        if is_leader {
            shared.raw().end();
        }
    };
    let other = spawn(meets);
    meets();
    join(other);
    shared.free();
}

explored! {
    fn a_thread_arrives_before_it_waits on SLEEPS, 3 => ahead;
    fn a_thread_leaves_and_its_work_is_seen on SLEEPS, 3 => leaving;
    fn the_leader_works_before_the_round_ends on SLEEPS, 3 => leader_first;
    fn two_rounds_of_two_threads on SLEEPS, 5 => two_rounds;
    fn a_thread_reads_its_node_before_it_sleeps on POLLS, 4 => two_rounds;
    fn a_round_of_three_threads on SLEEPS, 2 => three_threads;
    fn a_thread_offers_its_cpu_before_it_sleeps on POLLS, 4 => three_threads;
    /// The thread whose wait returns first frees it.
    fn the_first_that_returns_frees_it on SLEEPS, 5 => freed;
    fn a_deadline_passes_at_any_time on SLEEPS, 2 => deadline;
}
