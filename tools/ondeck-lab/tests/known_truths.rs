//! Known facts about locks that the workloads must reproduce, in counts: of switches, of runnable
//! threads, of trials. No test here reads a clock; margins are wide, because a test machine is
//! busy.
//!
//! The findings come from docs/data/findings.md and its sources.

#[path = "known_truths/collision.rs"]
mod collision;

use std::sync::Arc;
use std::time::Duration;

use ondeck::platform::{Linux, Platform};
use ondeck_lab::environment::{Placement, realtime_refused};
use ondeck_lab::sample::{BURSTS, INVERTED, RESCUED, RUNNABLE, Sample, VOLUNTARY};
use ondeck_lab::team::{self, TeamSetting, Until};
use ondeck_lab::usage::Usage;
use ondeck_lab::work::Work;
use ondeck_lab::workload::{Own, Round, Subject};
use ondeck_zoo::{RawLock, Visitor, registry};

/// Waiters poll and never leave their CPU voluntarily.
const PURE_SPINNERS: [&str; 2] = ["spinlock_amd", "terrible_spinlock"];

/// Waiters sleep after some hundred nanoseconds, and the first thread to come acquires. Locks that
/// yield before they sleep, such as parking_lot's, are omitted: on a busy machine each yield is a
/// slice.
const SLEEPING: [&str; 3] = ["std", "three_state_futex", "ondeck"];

fn given(threads: usize, length: u64) -> Round {
    Round {
        team: TeamSetting {
            threads,
            placement: Placement::default(),
            // A busy machine makes strict queues of spinners very slow.
            stall_limit: Duration::from_mins(2),
            cancel: Arc::default(),
        },
        length: Duration::from_millis(length),
        section: Work::of_nanos(0),
        outside: Work::of_nanos(0),
        pairs: 0,
        longest_run: Duration::MAX,
    }
}

fn measure(lock: &str, workload: &str, given: &Round) -> Sample {
    let subject = Subject::all().into_iter().find(|subject| subject.info.name == lock);
    let subject = subject.unwrap_or_else(|| panic!("no lock is named {lock}"));
    subject
        .round(workload, given, &Own::default())
        .unwrap_or_else(|error| panic!("{lock}: {error}"))
}

/// Whether the kernel reports how long a thread waited in a run queue.
fn runnable_is_told() -> bool {
    let before = Usage::of_this_thread();
    std::thread::yield_now();
    Usage::of_this_thread().since(before).runnable().is_some()
}

/// Threads at the lock beside the bystander.
const HAMMERS: usize = 8;

/// Threads that want a CPU slow a bystander down. All waiters that spin do, all the time. Hardly
/// any waiter that sleeps does beside the owner, if the section is longer than they spin.
#[test]
fn waiters_that_spin_want_a_cpu_and_waiters_that_sleep_leave_theirs_to_a_bystander() {
    if !runnable_is_told() {
        eprintln!("not tried: the kernel has no /proc/thread-self/schedstat");
        return;
    }
    let given = Round { section: Work::of_nanos(200_000), ..given(HAMMERS + 1, 100) };
    for lock in PURE_SPINNERS {
        let sample = measure(lock, "bystander", &given);
        let runnable = sample.value(RUNNABLE).expect("it is told");
        eprintln!("{lock}: {runnable:.2} runnable, {:?} sleeps", sample.value(VOLUNTARY));
        assert!(runnable > 0.9 * HAMMERS as f64, "{lock}: {runnable}");
    }
    for lock in SLEEPING {
        // The best of three windows: in one of ten, woken waiters of ondeck queue for a CPU, and
        // other programs take one.
        let runnable = |_| measure(lock, "bystander", &given).value(RUNNABLE).expect("it is told");
        let runnable = least((0..3).map(runnable));
        eprintln!("{lock}: {runnable:.2} runnable");
        assert!(runnable < 0.6 * HAMMERS as f64, "{lock}: {runnable}");
    }
}

/// Context switches and CPU time for each acquisition, while every thread wants the lock.
#[derive(Clone, Copy, Debug)]
struct Price {
    voluntary: f64,
    involuntary: f64,
    cpu_nanos: f64,
}

/// Measures threads that do nothing but lock, work, and unlock.
///
/// The workloads count all acquisitions, also those of the first thread before the others have run,
/// which on a busy machine are most. This counts only acquisitions after all threads have run.
fn contended(lock: &'static str, threads: usize, section: u64, round: u64) -> Price {
    struct Run {
        lock: &'static str,
        given: Round,
        found: Option<Price>,
    }
    impl Visitor<Linux> for Run {
        fn visit<L: RawLock<Linux>>(&mut self) {
            if L::INFO.name == self.lock {
                self.found = Some(price::<L>(&self.given));
            }
        }
    }
    let given = Round { section: Work::of_nanos(section), ..given(threads, round) };
    let mut run = Run { lock, given, found: None };
    registry::for_each(&mut run);
    let price = run.found.unwrap_or_else(|| panic!("no lock is named {lock}"));
    eprintln!("{lock}: {price:?}");
    price
}

fn price<L: RawLock<Linux>>(given: &Round) -> Price {
    let (lock, section) = (Arc::new(L::new()), given.section);
    let outcome = team::run::<Linux, _>(&given.team, Until::Elapsed(given.length), move |member| {
        let context = L::Context::default();
        member.start()?;
        let mut pairs = 0;
        while !member.stopped() {
            // SAFETY: the context stays here until the unlock and serves this acquisition alone.
            unsafe { lock.lock(&context) };
            section.perform();
            // SAFETY: locked above with this context.
            unsafe { lock.unlock(&context) };
            pairs += 1;
            member.done(pairs);
        }
        Some(())
    })
    .unwrap_or_else(|error| panic!("{}: {error}", L::INFO.name));
    // At least one, because the count is a divisor.
    let pairs = outcome.window_pairs.iter().sum::<u64>().max(1) as f64;
    Price {
        voluntary: outcome.usage.voluntary.expect("Linux tells") as f64 / pairs,
        involuntary: outcome.usage.involuntary.expect("Linux tells") as f64 / pairs,
        cpu_nanos: outcome.usage.cpu.expect("Linux tells").as_nanos() as f64 / pairs,
    }
}

/// The least of three windows: beside other programs an owner may be off its CPU for nearly all of
/// one.
fn best(of: impl Fn(&'static str) -> f64) -> impl Fn(&'static str) -> f64 {
    move |lock| least((0..3).map(|_| of(lock)))
}

fn least(of: impl IntoIterator<Item = f64>) -> f64 {
    of.into_iter().fold(f64::INFINITY, f64::min)
}

fn most(of: impl IntoIterator<Item = f64>) -> f64 {
    of.into_iter().fold(0.0, f64::max)
}

/// A pure spinner burns its slices while the owner is off its CPU, and the lock stands still.
/// Sleeping waiters have nothing to burn: the owner gets the CPU back. The section is long, so that
/// the owner loses its CPU there.
#[test]
fn pure_spinners_burn_whole_slices_for_an_acquisition_where_sleepers_burn_none() {
    // CPU time, not switches: other programs also preempt woken threads, and woken waiters of
    // ondeck preempt running threads.
    let burnt = |lock| contended(lock, 8 * Linux::cpus(), 50_000, 150).cpu_nanos;
    let (least, most) = (least(PURE_SPINNERS.map(burnt)), most(SLEEPING.map(best(burnt))));
    assert!(least > 4.0 * most, "{least} and {most}");
}

/// Strict queues of spinners hand off to threads that are off their CPU. Sleeping waiters make
/// thousands of acquisitions in a slice.
#[test]
fn ticket_and_queue_spinlocks_collapse_with_more_threads_than_cpus() {
    let slices = |lock| contended(lock, 4 * Linux::cpus(), 0, 60).involuntary;
    // Of two rounds, because in one the threads may happen to arrive one after the other, and never
    // queue.
    let strict = ["ticket_spinlock", "mcs"].map(|lock| slices(lock).max(slices(lock)));
    let (least, most) = (least(strict), most(SLEEPING.map(best(slices))));
    assert!(least > 100.0 * most, "{least} and {most}");
}

/// A lock that is handed off to a sleeping thread is free again only after that thread has run:
/// about one switch for each acquisition. With other locks a thread first reacquires the lock many
/// times.
#[test]
#[cfg(target_env = "gnu")]
fn strict_handoff_convoys() {
    let sleeps = |lock| contended(lock, 8, 0, 60).voluntary;
    // One for each switch on a quiet machine. Beside other programs one thread may have the lock to
    // itself for most of a window, and then the other windows show the convoy.
    let strict = most((0..3).map(|_| sleeps("glibc_pi")));
    let most = most(SLEEPING.map(best(sleeps)));
    assert!(strict > 20.0 * most, "{strict} and {most}");
}

/// On one CPU under a realtime policy chance does not decide which thread runs. With any lock that
/// sleeps the hog runs between owner and waiter, in every trial. A waiter that spins never lets the
/// owner run. Only a lock that lends the waiter's priority to the owner does neither.
#[test]
#[cfg(target_env = "gnu")]
fn only_priority_inheritance_bounds_the_inversion() {
    if let Some(refusal) = realtime_refused() {
        eprintln!("not tried: {}; {}", refusal.reason, refusal.fix);
        return;
    }
    let given = given(3, 60);
    let trials = |lock: &str| {
        let sample = measure(lock, "mixed_priority", &given);
        let [inverted, bursts, rescued] =
            [INVERTED, BURSTS, RESCUED].map(|quantity| sample.value(quantity).expect("promised"));
        eprintln!("{lock}: {inverted} inverted, {bursts} bursts, {rescued} rescued");
        (inverted, rescued)
    };
    for lock in ["glibc_pi", "ondeck_pi"] {
        let (inverted, rescued) = trials(lock);
        assert!(inverted < 0.1 && rescued < 0.1, "{lock}: {inverted} {rescued}");
    }
    for lock in SLEEPING.into_iter().chain(["glibc", "parking_lot"]) {
        let (inverted, _) = trials(lock);
        assert!(inverted > 0.9, "{lock}: {inverted}");
    }
    for lock in PURE_SPINNERS {
        let (_, rescued) = trials(lock);
        assert!(rescued > 0.9, "{lock}: {rescued}");
    }
}
