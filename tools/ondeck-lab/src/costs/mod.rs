//! `costs`: the costs on this machine of the operations that locks consist of.
//!
//! The rows follow the sources: PAUSE 1, 10, 30 and 100 times and yielding (Go's issue 68578),
//! read-modify-writes and the clock (Skarupke), system calls, sleeping and waking (Lockless), and
//! the two fences and the cache line that asymmetric designs depend on.

pub mod hardware;
mod two_threads;

use std::hint::black_box;

use ondeck::platform::{Fences, Native, Ordering, Platform, Timestamp};

use crate::clock::{TickScale, opaque};
use crate::results::Cost;
use crate::summary::Spread;
use crate::system;

/// One operation: a function that times it once and returns nanoseconds per operation.
struct Operation {
    group: &'static str,
    name: &'static str,
    time: Box<dyn FnMut() -> Timing>,
}

/// Nanoseconds for one operation, or why there are none.
type Timing = Result<f64, String>;

/// Measures every operation `rounds` times; operations take turns. `progress` receives each
/// operation's name and the share of the work that is done.
///
/// Not generic, as all that measures: a generic function is compiled in the caller's crate, which
/// may be unoptimized.
pub fn measure(
    rounds: usize,
    progress: &mut dyn FnMut(&str, f64),
    cancelled: &dyn Fn() -> bool,
) -> Vec<Cost> {
    // Until this has been called, the light fence is a full one.
    Native::fences_are_asymmetric();
    let mut operations = operations();
    let mut timings: Vec<Vec<f64>> = vec![Vec::new(); operations.len()];
    let mut refused: Vec<Option<String>> = vec![None; operations.len()];
    let total = (rounds * operations.len()).max(1);
    for round in 0..rounds {
        for index in 0..operations.len() {
            if cancelled() {
                break;
            }
            let operation = &mut operations[index];
            progress(operation.name, (round * timings.len() + index) as f64 / total as f64);
            if refused[index].is_some() {
                continue;
            }
            match (operation.time)() {
                Ok(nanos) => timings[index].push(nanos),
                Err(reason) => refused[index] = Some(reason),
            }
        }
    }
    operations
        .iter()
        .zip(timings)
        .zip(refused)
        .filter(|((_, timings), refused)| !timings.is_empty() || refused.is_some())
        .map(|((operation, timings), refused)| {
            let spread = Spread::of(&timings);
            Cost {
                group: operation.group.to_string(),
                operation: operation.name.to_owned(),
                median: spread.median,
                p25: spread.p25,
                p75: spread.p75,
                n: timings.len(),
                refused,
            }
        })
        .collect()
}

/// A name in recorded documents, which is older than the list of retired words.
const YIELD_ALONE: &str = concat!("sched_yield, ", "nobody", " else to run");

fn operations() -> Vec<Operation> {
    let mut list = Vec::new();
    let mut add =
        |group, name, time: Box<dyn FnMut() -> Timing>| list.push(Operation { group, name, time });

    add("waiting", "PAUSE", alone(Native::pause));
    add("waiting", "PAUSE x10", alone(|| Native::pause_times(10)));
    add("waiting", "PAUSE x30", alone(|| Native::pause_times(30)));
    add("waiting", "PAUSE x100", alone(|| Native::pause_times(100)));
    add("waiting", YIELD_ALONE, alone(Native::yield_now));
    add("waiting", "sched_yield, a busy thread on the CPU", Box::new(two_threads::yield_to_hog));

    let atomics = "atomics";
    add(atomics, "load", on_word(|word| _ = black_box(word.load(Ordering::Acquire))));
    add(atomics, "store, release", on_word(|word| black_box(word).store(1, Ordering::Release)));
    add(atomics, "exchange", on_word(|word| _ = black_box(word.swap(1, Ordering::AcqRel))));
    let exchange = |word: &Word| word.compare_exchange(0, 0, Ordering::AcqRel, Ordering::Relaxed);
    add(atomics, "compare-exchange", on_word(move |word| _ = black_box(exchange(word))));
    add(atomics, "fetch-add", on_word(|word| _ = black_box(word.fetch_add(1, Ordering::AcqRel))));

    add("fences", "full fence", alone(|| Native::fence(Ordering::SeqCst)));
    add("fences", "light fence", alone(Native::light_fence));
    add(
        "fences",
        "heavy fence, siblings asleep",
        Box::new(|| heavy_fence_supported().map(|()| per_operation(Native::heavy_fence))),
    );
    add(
        "fences",
        "heavy fence, a sibling running",
        Box::new(|| {
            heavy_fence_supported()?;
            two_threads::beside_running(|| per_operation(Native::heavy_fence))
        }),
    );

    add("clocks", "ticks", alone(|| _ = black_box(Native::ticks())));
    add("clocks", "clock_gettime, monotonic", alone(|| _ = black_box(Native::now())));

    add("futex", "bare system call", alone(system::system_call));
    let wake = |word: &Word| Native::futex_wake(word, 1);
    add("futex", "wake without a waiter", on_word(move |word| _ = black_box(wake(word))));
    let differs = |word: &Word| Native::futex_wait(word, 1, None);
    add("futex", "wait, value differs", on_word(move |word| _ = black_box(differs(word))));
    let late = |word: &Word| Native::futex_wait(word, 0, Some(Timestamp::from_nanos(0)));
    add("futex", "wait, deadline has passed", on_word(move |word| _ = black_box(late(word))));
    add("futex", "wake to run, same CPU", Box::new(|| two_threads::futex_wake_to_run(false)));
    add("futex", "wake to run, other CPU", Box::new(|| two_threads::futex_wake_to_run(true)));

    add("cache", "line to another CPU and back", Box::new(two_threads::line_round_trip));
    list
}

type Word = <Native as Platform>::AtomicU32;

/// An operation on a word that nothing else uses.
fn on_word(operation: impl Fn(&Word) + 'static) -> Box<dyn FnMut() -> Timing> {
    let word = Word::new(0);
    alone(move || operation(&word))
}

/// An operation that one thread repeats.
fn alone(mut operation: impl FnMut() + 'static) -> Box<dyn FnMut() -> Timing> {
    Box::new(move || Ok(per_operation(&mut operation)))
}

/// Repeats the operation for long enough for the clock, and returns the time of one.
fn per_operation(mut operation: impl FnMut()) -> f64 {
    /// Ten thousand times what reading the clock costs.
    const LONG_ENOUGH_NANOS: f64 = 200_000.0;
    let scale = TickScale::get();
    let mut repeats = 1_u32;
    loop {
        let start = Native::ticks();
        for _ in 0..repeats {
            operation();
            opaque();
        }
        let nanos = scale.between(start, Native::ticks());
        if nanos >= LONG_ENOUGH_NANOS || repeats >= 1 << 24 {
            return nanos / f64::from(repeats);
        }
        repeats *= 2;
    }
}

fn heavy_fence_supported() -> Result<(), String> {
    if Native::fences_are_asymmetric() {
        Ok(())
    } else {
        Err("membarrier(2) is missing or refused: light and heavy fences are both full".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_costs_something_or_says_why_not() {
        let mut names = Vec::new();
        let costs = measure(1, &mut |name, _| names.push(name.to_owned()), &|| false);
        assert_eq!(names.len(), costs.len());
        for cost in &costs {
            assert!(cost.refused.is_some() || cost.median > 0.0, "{cost:?}");
        }
    }

    #[test]
    fn a_cancelled_measurement_measures_nothing_more() {
        assert!(measure(5, &mut |_, _| (), &|| true).is_empty());
    }
}
