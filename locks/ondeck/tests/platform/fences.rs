//! The asymmetric fences of Linux, beyond the guarantees of every system (`systems/fences.rs`).

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::{Fences, Linux, Platform};

use crate::again::alone;
use crate::alone_with_membarrier;
use crate::dekker::both_missed;
use crate::seccomp::refuse;

/// Returns whether the machine can show that a fence is missing: two threads have to run at the
/// same time.
fn can_show() -> bool {
    let can = Linux::fences_are_asymmetric() && Linux::parallelism() >= 2;
    if !can {
        println!("skipped: needs membarrier and two CPUs");
    }
    can
}

const UNTIL_SEEN: u32 = u32::MAX / 4;

#[test]
fn light_fences_are_full_once_a_heavy_one_was_refused() {
    if !can_show() {
        return;
    }
    alone(|| {
        refuse(libc::SYS_membarrier, libc::EPERM);
        Linux::heavy_fence();
        let limit = Duration::from_secs(2);
        let missed = both_missed(UNTIL_SEEN, limit, Linux::light_fence, Linux::light_fence);
        assert_eq!(missed, 0);
    });
}

/// Counted in ticks, so that it also holds on a busy machine: no permission comes too early.
#[test]
fn permissions_to_relax_are_as_far_apart_as_heavy_fences_cost() {
    alone_with_membarrier(&[], || {
        assert!(Linux::fences_are_asymmetric());
        assert_eq!(Linux::heavy_cost_ticks(), 0, "no heavy fence has been made");
        // The ticks before the request for permission, and after the permission.
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
    });
}
