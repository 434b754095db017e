//! The asymmetric fences under Dekker's pattern, on real store buffers.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::platform::{Fences, Linux, Platform};

use crate::again::{is_child, passes};
use crate::refuse::refuse;

#[repr(align(128))]
#[derive(Default)]
struct Line(AtomicU32);

/// Two threads each store their flag, fence, and load the other's flag, `rounds` times or until `limit`.
/// Returns in how many rounds both read 0, which correct fences forbid.
fn both_missed(
    rounds: u32,
    limit: Duration,
    one: impl Fn() + Sync,
    other: impl Fn() + Sync,
) -> u32 {
    let flags = [Line::default(), Line::default()];
    let seen = [Line::default(), Line::default()];
    let arrived = [Line::default(), Line::default()];
    let over = AtomicU32::new(0);
    let mut missed = 0;
    // Both threads meet before every round; the first one also judges the previous round.
    let meet = |me: usize, round: u32| {
        arrived[me].0.store(round, Ordering::SeqCst);
        while arrived[1 - me].0.load(Ordering::SeqCst) < round {
            std::hint::spin_loop();
        }
    };
    let side = |me: usize, fence: &(dyn Fn() + Sync)| {
        flags[me].0.store(1, Ordering::Relaxed);
        fence();
        seen[me].0.store(flags[1 - me].0.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..rounds {
                meet(1, 3 * round + 1);
                if over.load(Ordering::SeqCst) == 1 {
                    return;
                }
                side(1, &other);
                meet(1, 3 * round + 2);
                meet(1, 3 * round + 3);
            }
        });
        let start = Instant::now();
        for round in 0..rounds {
            if start.elapsed() > limit || missed > 100 {
                over.store(1, Ordering::SeqCst);
            }
            meet(0, 3 * round + 1);
            if over.load(Ordering::SeqCst) == 1 {
                return;
            }
            side(0, &one);
            meet(0, 3 * round + 2);
            if seen.iter().all(|seen| seen.0.load(Ordering::SeqCst) == 0) {
                missed += 1;
            }
            for flag in &flags {
                flag.0.store(0, Ordering::SeqCst);
            }
            meet(0, 3 * round + 3);
        }
    });
    missed
}

#[test]
fn a_light_and_a_heavy_fence_order_like_two_full_ones() {
    Linux::fences_are_asymmetric();
    let missed =
        both_missed(20_000, Duration::from_secs(5), Linux::light_fence, Linux::heavy_fence);
    assert_eq!(missed, 0);
}

/// Whether the machine can show that a fence is missing: two threads have to run at the same time.
fn can_show() -> bool {
    let can = Linux::fences_are_asymmetric() && Linux::parallelism() >= 2;
    if !can {
        println!("skipped: needs membarrier and two CPUs");
    }
    can
}

const UNTIL_SEEN: u32 = u32::MAX / 4;

#[test]
fn two_light_fences_order_nothing_where_membarrier_carries_the_cost() {
    if can_show() {
        let limit = Duration::from_secs(20);
        let missed = both_missed(UNTIL_SEEN, limit, Linux::light_fence, Linux::light_fence);
        assert!(missed > 0, "the first test would not notice a missing fence");
    }
}

#[test]
fn a_full_fence_does_not_replace_the_heavy_one() {
    if can_show() {
        let limit = Duration::from_secs(20);
        let full = || Linux::fence(Ordering::SeqCst);
        let missed = both_missed(UNTIL_SEEN, limit, Linux::light_fence, full);
        assert!(missed > 0, "the first test would pass with a full fence in place of membarrier");
    }
}

#[test]
fn light_fences_are_full_once_a_heavy_one_was_refused() {
    if !can_show() {
        return;
    }
    if is_child() {
        refuse(libc::SYS_membarrier, libc::EPERM);
        Linux::heavy_fence();
        let limit = Duration::from_secs(2);
        let missed = both_missed(UNTIL_SEEN, limit, Linux::light_fence, Linux::light_fence);
        assert_eq!(missed, 0);
    } else {
        passes(|_| ());
    }
}

/// Counted in ticks, so that a busy machine does no harm: no permission comes too early.
#[test]
fn permissions_to_relax_are_as_far_apart_as_heavy_fences_cost() {
    if !Linux::fences_are_asymmetric() {
        println!("skipped: needs membarrier");
        return;
    }
    if !is_child() {
        passes(|_| ());
        return;
    }
    assert_eq!(Linux::heavy_cost_ticks(), 0, "no heavy fence has been made");
    // The ticks before permission was asked for, and after it was given.
    let permission = || loop {
        let asked = Linux::ticks() as usize;
        if Linux::may_relax() {
            return (asked, Linux::ticks() as usize);
        }
    };
    // At least the time between two permissions.
    let interval = || {
        let (first, _) = permission();
        permission().1 - first
    };
    // Reading the ticks does not wait for the instructions around it.
    let slack = Linux::ticks_in(100);
    assert!(interval() + slack >= Linux::ticks_in(20_000));
    // A running sibling thread makes heavy fences expensive.
    let (runs, over) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            runs.store(1, Ordering::Relaxed);
            while over.load(Ordering::Relaxed) == 0 {
                std::hint::spin_loop();
            }
        });
        while runs.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        (0..1_000).for_each(|_| Linux::heavy_fence());
        over.store(1, Ordering::Relaxed);
    });
    let cost = Linux::heavy_cost_ticks();
    assert!(cost > 0);
    for _ in 0..10 {
        assert!(interval() + slack >= 32 * cost, "in intervals of {cost} ticks");
    }
}
