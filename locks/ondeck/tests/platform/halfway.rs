//! A process continues if membarrier(2) is refused after it was granted. Light fences that cost
//! nothing cannot be made full afterwards, so parked threads try their lock again from time to
//! time.
//!
//! Each refusal is in a separate child process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::platform::{Fences, Linux};
use ondeck::{Condvar, Mutex};

use crate::again::{is_child, passes};
use crate::seccomp::{Filter, Scope};
use crate::watchdog::Watchdog;

/// The output of a child to which membarrier was never granted.
const NOT_GRANTED: &str = "membarrier was never granted";

/// The output of a child at its end.
const TO_THE_END: &str = "went on to the end";

/// The time for which a child runs. It creates new locks some thousand times a second.
const LONG_ENOUGH: Duration = Duration::from_millis(1_500);

/// The time limit within which a thread must have issued a heavy fence.
const LONGEST: Duration = Duration::from_secs(40);

/// Threads wait for each other at mutexes and condition variables that are new in every turn, so
/// that their buckets pass through every pairing of fences.
fn turns(over: &AtomicBool) {
    let mut block: Vec<Mutex<u32>> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        // Other addresses than in the previous turn.
        block.extend((0..7).map(|_| Mutex::new(0)));
        if block.len() > 10_000 {
            block.clear();
            continue;
        }
        let mutex = &block[block.len() - 1];
        let reached = Condvar::new();
        // The first unlock checks for parked threads, and there never was one.
        *mutex.lock() += 1;
        thread::scope(|scope| {
            let mut count = mutex.lock();
            for _ in 0..2 {
                scope.spawn(|| {
                    *mutex.lock() += 1;
                    reached.notify_all();
                });
            }
            reached.wait_while(&mut count, |count| *count < 3);
        });
    }
}

/// When membarrier is refused, and for which threads.
#[derive(Clone, Copy, PartialEq)]
enum Refused {
    AllThreads,
    OneThread,
}

/// The body of a child.
fn child(refused: Refused) {
    let _watchdog = Watchdog::start("a refusal halfway", Duration::from_mins(1));
    let filter = Filter::no_membarrier(libc::EPERM);
    if !Linux::fences_are_asymmetric() {
        println!("\n{NOT_GRANTED}");
        return;
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..3 {
            let (over, filter) = (&over, &filter);
            scope.spawn(move || {
                if refused == Refused::OneThread && number == 1 {
                    thread::sleep(Duration::from_millis(100));
                    filter.install(Scope::Thread).expect("filters are allowed");
                }
                turns(over);
            });
        }
        if refused == Refused::AllThreads {
            thread::sleep(Duration::from_millis(100));
            filter.install(Scope::Process).expect("filters are allowed");
        }
        let start = Instant::now();
        // An heir makes a heavy fence only if it sleeps for a second time, which may take longer on
        // a busy machine.
        let is_over = || start.elapsed() > LONGEST || Linux::heavy_fences_are_refused();
        while start.elapsed() < LONG_ENOUGH || !is_over() {
            thread::sleep(Duration::from_millis(20));
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(Linux::heavy_fences_are_refused(), "a thread asked for a heavy fence");
    println!("\n{TO_THE_END}");
}

/// Runs the calling test in a child, and checks that it runs to its end although membarrier is
/// refused.
fn goes_on(refused: Refused) {
    if is_child() {
        return child(refused);
    }
    let told = passes(|_| ());
    if told.contains(NOT_GRANTED) {
        println!("refused: {NOT_GRANTED} on this machine");
    } else {
        assert!(told.contains(TO_THE_END), "{told}");
    }
}

#[test]
fn a_process_whose_threads_are_refused_halfway_goes_on() {
    goes_on(Refused::AllThreads);
}

#[test]
fn a_process_one_of_whose_threads_is_refused_halfway_goes_on() {
    goes_on(Refused::OneThread);
}
