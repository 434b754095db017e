//! `CombiningMutex`: a section is a closure, which the thread that has the lock may run for another.

use std::thread;

use ondeck::CombiningMutex;

static TOTAL: CombiningMutex<u64> = CombiningMutex::new(0);

fn main() {
    thread::scope(|scope| {
        for number in 1..=4 {
            scope.spawn(move || {
                let after = TOTAL.with(|total| {
                    *total += number;
                    *total
                });
                println!("{after} after {number} was added");
            });
        }
    });
    println!("{} at the end", TOTAL.with(|total| *total));
}
