//! `Semaphore`: at most two of six threads are in the section at a time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use ondeck::Semaphore;

static CONNECTIONS: Semaphore = Semaphore::new(2);
static OPEN: AtomicU32 = AtomicU32::new(0);

fn main() {
    thread::scope(|scope| {
        for number in 0..6 {
            scope.spawn(move || {
                CONNECTIONS.acquire();
                let open = OPEN.fetch_add(1, Ordering::Relaxed) + 1;
                println!("job {number} has one of {open} connections");
                OPEN.fetch_sub(1, Ordering::Relaxed);
                CONNECTIONS.release(1);
            });
        }
    });
}
