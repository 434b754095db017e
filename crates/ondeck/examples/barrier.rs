//! `Barrier`: no thread begins the second phase before all have ended the first. One of them is the leader.

use std::thread;

use ondeck::Barrier;

static PHASE: Barrier = Barrier::new(3);

fn main() {
    thread::scope(|scope| {
        for number in 0..3 {
            scope.spawn(move || {
                println!("{number}: first phase");
                if PHASE.wait().is_leader() {
                    println!("{number} came last");
                }
                println!("{number}: second phase");
            });
        }
    });
}
