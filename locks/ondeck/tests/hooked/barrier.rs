//! When the threads of a barrier offer their CPUs to each other.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use ondeck::Barrier;
use ondeck::parking::waiting;
use ondeck::platform::Timestamp;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks, unpolled, until};
use super::watched;

static TICKS: AtomicU64 = AtomicU64::new(0);
static YIELDS: AtomicU32 = AtomicU32::new(0);
/// How long a yield takes, in ticks.
static LONG: AtomicU64 = AtomicU64::new(0);
static PRIORITY: AtomicU32 = AtomicU32::new(0);

hooks! {
    OneCpu {
        fn cpus() -> usize {
            1
        }
        fn ticks() -> u64 {
            TICKS.fetch_add(1, Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn polling() -> Polling {
            let mut polling = unpolled(0);
            polling.budget = 1;
            polling
        }
        fn yield_now() {
            TICKS.fetch_add(LONG.load(Ordering::SeqCst), Ordering::SeqCst);
            YIELDS.fetch_add(1, Ordering::SeqCst);
        }
        fn priority() -> u32 {
            PRIORITY.load(Ordering::SeqCst)
        }
    }
}

type Machine = Hooked<OneCpu>;

/// Two threads meet, the second one when `has_come` returns true. Returns the number of yields.
fn meet(barrier: &Barrier<Machine>, has_come: impl Fn(u32) -> bool) -> u32 {
    let before = YIELDS.load(Ordering::SeqCst);
    let yields = || YIELDS.load(Ordering::SeqCst) - before;
    thread::scope(|scope| {
        scope.spawn(|| barrier.wait());
        until(|| has_come(yields()));
        barrier.wait();
    });
    yields()
}

#[test]
fn a_thread_offers_its_cpu_a_few_times_until_it_loses_it_for_a_time_slice() {
    const SLICE: u64 = 2_000_000;
    let _watchdog = watched();
    let barrier = &Barrier::<Machine>::on_platform(2);
    let waits = || waiting::<Machine>(std::ptr::from_ref(barrier).addr()) == 1;
    assert_eq!(meet(barrier, |yields| yields == 4), 4);
    assert!(barrier.wait_by(Timestamp::from_nanos(0)).is_none());
    assert_eq!(YIELDS.load(Ordering::SeqCst), 4, "a wait with a deadline may lose no time slice");
    LONG.store(SLICE, Ordering::SeqCst);
    assert_eq!(meet(barrier, |yields| yields == 1), 1, "the slice was lost");
    for _ in 0..2 {
        assert_eq!(meet(barrier, |_| waits()), 0, "it rests for 256 times as long");
        TICKS.fetch_add(200 * SLICE, Ordering::SeqCst);
    }
    assert_eq!(meet(barrier, |yields| yields == 1), 1, "it has rested");
    TICKS.fetch_add(257 * SLICE, Ordering::SeqCst);
    LONG.store(300_000, Ordering::SeqCst);
    assert_eq!(meet(barrier, |yields| yields == 2), 2, "two yields lost a slice");
    assert_eq!(meet(barrier, |_| waits()), 0, "it rests");
    TICKS.fetch_add(257 * SLICE, Ordering::SeqCst);
    LONG.store(0_u64.wrapping_sub(100), Ordering::SeqCst);
    assert_eq!(meet(barrier, |yields| yields == 1), 1, "the counter went back");
    LONG.store(0, Ordering::SeqCst);
    assert_eq!(meet(barrier, |yields| yields == 4), 4, "which is no loss");
    PRIORITY.store(1, Ordering::SeqCst);
    assert_eq!(meet(barrier, |_| waits()), 0, "a real-time thread keeps its CPU");
    Machine::until_at_rest();
}
