//! `Latch`: `main` waits until each of three jobs is done, without joining their threads.

use std::thread;

use ondeck::Latch;

static LEFT: Latch = Latch::new(3);

fn main() {
    for number in 0..3 {
        thread::spawn(move || {
            println!("job {number} is done");
            LEFT.count_down();
        });
    }
    LEFT.wait();
    println!("all are done");
}
