//! Dekker's pattern on real store buffers.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[repr(align(128))]
#[derive(Default)]
struct Line(AtomicU32);

/// Two threads each store their flag, fence, and load the other's flag, `rounds` times or until
/// `limit`. Returns the number of rounds in which both read 0, which correct fences forbid.
pub fn both_missed(
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
