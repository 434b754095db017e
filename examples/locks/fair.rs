//! `FairMutex`: threads acquire it in the order in which they began to wait.

use std::thread;
use std::time::Duration;

use ondeck::FairMutex;

fn main() {
    let order = FairMutex::new(Vec::new());
    thread::scope(|scope| {
        // All other threads arrive while it is locked, one after the other.
        let mut first = order.lock();
        for name in ["second", "third", "fourth"] {
            let order = &order;
            scope.spawn(move || order.lock().push(name));
            thread::sleep(Duration::from_millis(10));
        }
        first.push("first");
    });
    println!("{:?}", order.lock());
}
