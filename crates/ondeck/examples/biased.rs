//! `BiasedMutex`: a counter of one thread, which locks it without a read-modify-write. Another thread reads it
//! once in a while.

use std::thread;
use std::time::Duration;

use ondeck::BiasedMutex;

static DONE: BiasedMutex<u64> = BiasedMutex::new(0);

fn main() {
    let worker = thread::spawn(|| {
        for _ in 0..1_000_000 {
            *DONE.lock() += 1;
        }
    });
    while !worker.is_finished() {
        println!("{} so far", DONE.lock());
        thread::sleep(Duration::from_millis(1));
    }
    println!("{} at the end", DONE.lock());
}
