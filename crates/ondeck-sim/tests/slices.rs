//! Time slices that are longer for a thread that asked, as the engine has them, and what a lock gains by them.
//!
//! Threads share one CPU, so that each slice ends while another thread waits for it. How often a thread lost its CPU
//! inside its section is told by the engine's account of the thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ondeck::platform::{Fences, Platform, Threads, Timestamp};
use ondeck_sim::engine::time::of_nanos;
use ondeck_sim::engine::{Costs, End, Job, Set, Sim, Simulation};
use ondeck_sim::machine::MachineFile;
use ondeck_zoo::RawLock;
use ondeck_zoo::locks::{OndeckMutex, OndeckSliced};

const SECTION: f64 = 2_000.0;
const OUTSIDE: f64 = 1_000.0;
const ROUNDS: usize = 1_000;
/// Some 200 slices end in such a run.
const SLICE: f64 = 20_000.0;

/// A machine on which slices end every 20 µs, and are extended by so much.
fn machine(extension: f64) -> Costs {
    let file = MachineFile::find("epyc-9454p").expect("a bundled machine");
    let mut costs = Costs::from(file.spec());
    costs.scheduler.slice = of_nanos(SLICE);
    costs.scheduler.tick = of_nanos(SLICE / 4.0);
    costs.scheduler.slice_extension = of_nanos(extension);
    costs
}

/// Lets each body run on these CPUs to its end.
fn run(costs: &Costs, cpus: usize, bodies: Vec<Box<dyn FnOnce()>>) {
    let allowed: Set = (0..cpus).collect();
    let jobs = bodies.into_iter().map(|body| Job { allowed: Some(allowed), body }).collect();
    let ran = Simulation::new(costs, 1).run(jobs, Vec::new(), &|| false);
    assert_eq!(ran.end, End::Done);
}

/// How often threads lost their CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lost {
    inside: u64,
    outside: u64,
}

/// Two threads with sections on one CPU.
fn sections(costs: &Costs, section: fn()) -> Lost {
    sections_after(costs, || (), section)
}

/// The same, where a thread that has asked does something else before the section is counted.
fn sections_after(costs: &Costs, first: fn(), section: fn()) -> Lost {
    let lost = Rc::new(Cell::new(Lost::default()));
    let body = |_| -> Box<dyn FnOnce()> {
        let lost = Rc::clone(&lost);
        Box::new(move || {
            let mut latest = 0;
            for round in 0..ROUNDS {
                // Of many lengths, so that slices do not end at the same step for ever.
                Sim::work(OUTSIDE * (1.0 + (round % 7) as f64 / 7.0));
                let asks = Sim::extend_slice();
                first();
                let before = Sim::usage().involuntary;
                section();
                let after = Sim::usage().involuntary;
                if asks {
                    Sim::give_back_slice();
                }
                let Lost { inside, outside } = lost.get();
                lost.set(Lost {
                    inside: inside + after - before,
                    outside: outside + before - latest,
                });
                latest = after;
            }
        })
    };
    run(costs, 1, (0..2).map(body).collect());
    lost.get()
}

fn work() {
    Sim::work(SECTION);
}

fn work_and_wake() {
    work();
    Sim::futex_wake(std::ptr::null(), 1);
}

#[test]
fn a_section_that_fits_keeps_its_cpu() {
    let without = sections(&machine(0.0), work);
    assert!(without.inside > 100, "{without:?}");
    let with = sections(&machine(3.0 * SECTION), work);
    assert_eq!(with.inside, 0, "{with:?}");
    // Each of those slices has ended at the end of the section instead.
    assert!(with.outside > without.outside, "{with:?} {without:?}");
}

#[test]
fn a_section_that_does_not_fit_loses_its_cpu_later() {
    let lost = sections(&machine(SECTION / 4.0), work);
    assert!(lost.inside > 100, "{lost:?}");
}

#[test]
fn a_system_call_ends_the_extension() {
    // Neither takes the caller's CPU by itself.
    let work_and_fence = || {
        work();
        Sim::heavy_fence();
    };
    for section in [work_and_wake, work_and_fence] {
        let lost = sections(&machine(100.0 * SECTION), section);
        assert!(lost.inside > 100, "{lost:?}");
    }
}

#[test]
fn a_thread_that_has_slept_asks_no_more() {
    // A thread that still asked would lose its CPU in no section: the extension is far longer.
    let long_work = || (0..30).for_each(|_| work());
    let lost = sections_after(&machine(100.0 * SECTION), || Sim::sleep(1), long_work);
    assert_ne!(lost.inside, 0, "{lost:?}");
}

#[test]
fn a_section_within_a_section_does_not_ask() {
    let told = Rc::new(RefCell::new(Vec::new()));
    let tell = Rc::clone(&told);
    let body = move || {
        let asks = || tell.borrow_mut().push(Sim::extend_slice());
        asks();
        asks();
        Sim::give_back_slice();
        asks();
        Sim::give_back_slice();
    };
    run(&machine(SECTION), 1, vec![Box::new(body.clone())]);
    run(&machine(0.0), 1, vec![Box::new(body)]);
    assert_eq!(*told.borrow(), [true, false, true, false, false, false]);
}

#[test]
fn an_extension_is_not_extended_by_a_section_within() {
    let work_and_ask = || {
        for _ in 0..8 {
            Sim::work(SECTION / 8.0);
            Sim::extend_slice();
        }
    };
    let lost = sections(&machine(SECTION / 4.0), work_and_ask);
    assert!(lost.inside > 100, "{lost:?}");
}

#[test]
fn a_woken_thread_does_not_take_the_cpu_from_a_section() {
    let inside = |extension: f64| {
        let mut costs = machine(extension);
        costs.scheduler.wakeup_granularity = 0;
        costs.scheduler.sleeper_credit = of_nanos(1e6);
        // No slice ends.
        costs.scheduler.slice = of_nanos(1e9);
        let lost = Rc::new(Cell::new(0));
        let ended = Rc::new(Cell::new(false));
        let (tell, end) = (Rc::clone(&lost), Rc::clone(&ended));
        let owner = move || {
            // The other thread begins.
            Sim::sleep(1);
            for _ in 0..ROUNDS {
                let asks = Sim::extend_slice();
                let before = Sim::usage().involuntary;
                Sim::work(SECTION);
                tell.set(tell.get() + Sim::usage().involuntary - before);
                if asks {
                    Sim::give_back_slice();
                }
            }
            end.set(true);
        };
        let sleeper = move || {
            while !ended.get() {
                Sim::sleep(30_000);
            }
        };
        run(&costs, 1, vec![Box::new(owner), Box::new(sleeper)]);
        lost.get()
    };
    assert!(inside(0.0) > 10);
    assert_eq!(inside(3.0 * SECTION), 0);
}

/// How often owners of the lock lost their CPU inside their sections, and how long the run took, with four threads
/// for each CPU.
fn crowd<L: RawLock<Sim>>(costs: &Costs) -> (u64, Timestamp) {
    const CPUS: usize = 4;
    let lock = Rc::new(L::new());
    let lost = Rc::new(Cell::new(0));
    let latest = Rc::new(Cell::new(Timestamp::from_nanos(0)));
    let body = |_| -> Box<dyn FnOnce()> {
        let (lock, lost, latest) = (Rc::clone(&lock), Rc::clone(&lost), Rc::clone(&latest));
        Box::new(move || {
            let context = L::Context::default();
            for _ in 0..ROUNDS / 4 {
                Sim::work(3.0 * OUTSIDE);
                // SAFETY: the context stays here and serves this acquisition alone.
                unsafe { lock.lock(&context) };
                let before = Sim::usage().involuntary;
                Sim::work(SECTION / 4.0);
                lost.set(lost.get() + Sim::usage().involuntary - before);
                // SAFETY: acquired above with this context.
                unsafe { lock.unlock(&context) };
            }
            latest.set(latest.get().max(Sim::now()));
        })
    };
    run(costs, CPUS, (0..4 * CPUS).map(body).collect());
    (lost.get(), latest.get())
}

#[test]
fn owners_of_the_sliced_mutex_keep_their_cpus() {
    let costs = machine(3.0 * SECTION);
    let (lost, time) = crowd::<OndeckMutex<Sim>>(&costs);
    let (lost_less, less_time) = crowd::<OndeckSliced<Sim>>(&costs);
    assert!(lost_less * 4 < lost, "{lost_less} instead of {lost}");
    assert!(less_time < time, "{less_time:?} instead of {time:?}");
    // Without the extension the lock is the other one, but for the question.
    let (lost, _) = crowd::<OndeckSliced<Sim>>(&machine(0.0));
    assert!(lost > lost_less * 4, "{lost} and {lost_less}");
}
